import type { ControllerExplanation } from "./adapter.ts";
import type { QueueLane } from "./queue-worker.ts";

/** What a queue controller does with one key; `lane` is undefined when the resource is none of its inputs. */
export function explainItem(
  controller: string,
  lane: QueueLane | undefined,
  id: string,
  nowMs: number,
): ControllerExplanation {
  const outcomes = lane?.job.outcomes.of(id) ?? [];
  const item = lane?.items.get(id);
  if (item === undefined) return { controller, form: "queue", state: "idle", outcomes };
  if (item.inFlight) {
    const { held, failure } = item;
    return { controller, form: "queue", state: "running", changedMeanwhile: held, outcomes, lastError: failure };
  }
  const dueInMs = Math.max(0, item.releaseAtMs - nowMs);
  const state = item.failure !== undefined && dueInMs > 0 ? "backoff" : "waiting";
  return { controller, form: "queue", state, dueInMs, outcomes, lastError: item.failure };
}
