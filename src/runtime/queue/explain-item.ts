import type { ControllerExplanation } from "../adapter.ts";
import type { QueueLane } from "./queue-worker.ts";

/** What a queue controller does with one key; `lane` is undefined when the resource is none of its inputs. */
export function explainItem(
  controller: string,
  lane: QueueLane | undefined,
  id: string,
  nowMs: number,
): ControllerExplanation {
  const outcomes = lane?.job.outcomes.of(id) ?? [];
  const item = lane?.find(id);
  if (item === undefined) return { controller, form: "queue", state: "idle", outcomes };
  const lastError = item.trouble?.failure;
  const ownWakeUps = item.ownPuts;
  if (item.hands !== "nobody") {
    const changedMeanwhile = item.hands === "held";
    return { controller, form: "queue", state: "running", changedMeanwhile, outcomes, lastError, ownWakeUps };
  }
  const dueInMs = Math.max(0, item.releaseAtMs - nowMs);
  const state = lastError !== undefined && dueInMs > 0 ? "backoff" : "waiting";
  return { controller, form: "queue", state, dueInMs, outcomes, lastError, ownWakeUps };
}
