import type { ControllerMetrics, ControllerStatus, Explanation, ExplanationStep } from "../../runtime/index.ts";
import type { EngineControllerSpec, EngineExplanationSpec } from "./engine-types.ts";

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** In whole seconds: what is counted down would be another text at each look. */
const dueAt = (nowMs: number, dueInMs: number): string => isoOf(Math.ceil((nowMs + dueInMs) / 1000) * 1000);

/** What a controller's resource says. */
export function controllerSpec(
  { form, state, queueLength, processing, dueInMs, lastFailure, inputs, outputs }: ControllerStatus,
  metrics: ControllerMetrics,
  nowMs: number,
): EngineControllerSpec {
  return {
    form,
    state,
    queueLength,
    processing,
    runs: form === "queue" ? metrics.itemsProcessed : metrics.wakeups,
    failures: metrics.crashes + metrics.itemCrashes,
    skips: metrics.skips + metrics.itemSkips,
    requeues: metrics.requeues + metrics.itemRequeues,
    ownWakeups: metrics.ownWakeUps,
    reads: metrics.reads,
    writes: metrics.writes,
    ...(dueInMs !== undefined && { retryAt: dueAt(nowMs, dueInMs) }),
    ...(lastFailure && {
      lastFailure: {
        message: lastFailure.message,
        at: isoOf(lastFailure.atMs),
        ...(lastFailure.id !== undefined && { id: lastFailure.id }),
      },
    }),
    inputs: inputs.map(({ kind, namespace, type, id }) => ({ kind, namespace, type, ...(id !== undefined && { id }) })),
    outputs: outputs.map(({ kind, type }) => ({ kind, type })),
  };
}

/** What an explanation's resource says. */
export function explanationSpec(explanation: Explanation, nowMs: number): EngineExplanationSpec {
  const { pointer, metadata, reasons, steps, actions } = explanation;
  return {
    resource: { ...pointer },
    exists: metadata !== undefined,
    phase: metadata?.phase ?? "",
    reasons: [...reasons],
    steps: steps.map((step) => stepSpec(step, nowMs)),
    actions: [...actions],
  };
}

function stepSpec(
  { what, pointer, controller, finalizer, sinceMs, dueInMs }: ExplanationStep,
  nowMs: number,
): EngineExplanationSpec["steps"][number] {
  return {
    what,
    resource: { namespace: pointer.namespace, type: pointer.type, id: pointer.id },
    ...(controller !== undefined && { controller }),
    ...(finalizer !== undefined && { finalizer }),
    ...(sinceMs !== undefined && !Number.isNaN(sinceMs) && { since: isoOf(sinceMs) }),
    ...(dueInMs !== undefined && { retryAt: dueAt(nowMs, dueInMs) }),
  };
}
