import { Phase, type Metadata, type Pointer } from "../../resource/index.ts";
import type { ControllerExplanation } from "../adapter.ts";
import type { Explanation, ExplanationStep } from "./explanation.ts";

export function explain(
  pointer: Pointer,
  metadata: Metadata | undefined,
  writers: readonly string[],
  controllers: readonly ControllerExplanation[],
  phase: "new" | "running" | "stopped",
  chain: { readonly steps: readonly ExplanationStep[]; readonly actions: Iterable<string> },
): Explanation {
  const reasons = [
    ...reasonsOfRuntime(phase),
    ...reasonsOfResource(metadata, writers),
    ...controllers.flatMap(reasonsOf),
  ];
  const actions = [...(phase === "running" ? [] : ["start the runtime"]), ...chain.actions];
  return { pointer, metadata, writers, controllers, reasons, steps: chain.steps, actions };
}

function reasonsOfRuntime(phase: "new" | "running" | "stopped"): readonly string[] {
  if (phase === "running") return [];
  return [phase === "new" ? "the runtime has not been started" : "the runtime has stopped"];
}

function reasonsOfResource(metadata: Metadata | undefined, writers: readonly string[]): readonly string[] {
  if (metadata === undefined) {
    const by = writers.length === 0 ? "no controller writes its type" : `its type is written by ${writers.join(", ")}`;
    return [`the resource does not exist; ${by}`];
  }
  if (metadata.phase !== Phase.tearingDown) return [];
  const { finalizers, owner } = metadata;
  if (finalizers.length > 0) return [`it is tearing down and waits for its finalizers: ${finalizers.join(", ")}`];
  return [`it is torn down and waits to be destroyed by ${owner === "" ? "the caller that tore it down" : owner}`];
}

/** Wake-ups in a row by its own writes that are nothing unusual: a finalizer that it added, a status that settles. */
const USUAL_OWN_WAKE_UPS = 3;

function reasonsOf(explanation: ControllerExplanation): readonly string[] {
  const { controller, ownWakeUps = 0 } = explanation;
  const reasons = reasonsOfRuns(explanation);
  if (ownWakeUps <= USUAL_OWN_WAKE_UPS) return reasons;
  return [...reasons, `${controller} wakes itself: its own writes caused its last ${ownWakeUps} wake-ups`];
}

function reasonsOfRuns({ controller, state, dueInMs, outcomes, lastError }: ControllerExplanation): readonly string[] {
  const again = dueInMs === undefined ? "" : `; next attempt in ${Math.ceil(dueInMs)} ms`;
  if (lastError !== undefined) return [`${controller} failed: ${lastError.message}${again}`];
  switch (state) {
    case "ended":
      return [`${controller} has ended for good`];
    case "running":
      return [`${controller} is at work`];
    case "waiting":
      return [
        dueInMs === undefined || dueInMs === 0
          ? `${controller} has yet to look`
          : `${controller} looks again in ${Math.ceil(dueInMs)} ms`,
      ];
    case "backoff":
      return [`${controller} waits before it tries again${again}`];
    case "idle": {
      const last = outcomes.at(-1);
      return last?.kind === "skipped" ? [`${controller} skipped it: ${last.reason ?? "for no reason given"}`] : [];
    }
  }
}
