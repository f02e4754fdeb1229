import type { ControllerExplanation } from "../adapter.ts";
import type { JobQueue } from "./queue-worker.ts";

/** What a queue controller does with one key; `kindQueue` is undefined when the resource is none of its inputs. */
export function explainItem(
  controller: string,
  kindQueue: JobQueue | undefined,
  id: string,
  nowMs: number,
): ControllerExplanation {
  const outcomes = kindQueue?.job.outcomes.of(id) ?? [];
  const item = kindQueue?.find(id);
  if (item === undefined) return { controller, form: "queue", state: "idle", outcomes };
  const lastError = item.failures?.failure;
  const ownWakeUps = item.ownPuts;
  if (item.processing !== "no") {
    const changedMeanwhile = item.processing === "dirty";
    return { controller, form: "queue", state: "running", changedMeanwhile, outcomes, lastError, ownWakeUps };
  }
  const dueInMs = Math.max(0, item.releaseAtMs - nowMs);
  const state = lastError !== undefined && dueInMs > 0 ? "backoff" : "waiting";
  return { controller, form: "queue", state, dueInMs, outcomes, lastError, ownWakeUps };
}
