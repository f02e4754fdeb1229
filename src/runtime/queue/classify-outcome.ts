import { findRequeue, findSkip, type ReconcileResult } from "../../controller/index.ts";
import { isCancellation } from "../../internal/cancellation.ts";
import { toError } from "../../internal/to-error.ts";

/** What follows from how a run of a queue item ended. */
export interface Verdict {
  readonly kind: "done" | "skipped" | "requeued" | "failed";
  /** Due again after this many milliseconds. Absent: released, unless it failed; then the item's own backoff decides. */
  readonly afterMs: number | undefined;
  /** True when the item's sequence of retry intervals is over. */
  readonly clearsBackoff: boolean;
  /** Why it was skipped. */
  readonly reason?: string | undefined;
  /** What it failed with. */
  readonly error?: Error | undefined;
}

const DONE: Verdict = { kind: "done", afterMs: undefined, clearsBackoff: true };

/** Judges what a handler returned. Whatever is neither a request to run again nor a skip is success. */
export function judgeResult(result: ReconcileResult): Verdict {
  if (typeof result !== "object" || result === null) return DONE;
  if (result.kind === "requeue") return requeued(result.afterMs);
  if (result.kind === "skip")
    return { kind: "skipped", afterMs: undefined, clearsBackoff: true, reason: result.reason };
  return DONE;
}

/** Judges what a handler threw. What asks it to stop is no failure, even while the runtime goes on. */
export function judgeThrown(thrown: unknown, thrower: string, signal: AbortSignal): Verdict {
  if (isCancellation(thrown, signal)) return DONE;
  const requeue = findRequeue(thrown);
  const afterMs = requeue !== undefined && requeue.afterMs > 0 ? requeue.afterMs : undefined;
  const skip = findSkip(thrown);
  if (skip !== undefined) return { kind: "skipped", afterMs, clearsBackoff: true, reason: skip.message };
  if (requeue === undefined) return { kind: "failed", afterMs, clearsBackoff: false, error: toError(thrown, thrower) };
  if (requeue.cause === undefined) return requeued(requeue.afterMs);
  return { kind: "failed", afterMs, clearsBackoff: false, error: toError(requeue.cause, thrower) };
}

function requeued(afterMs: number): Verdict {
  return afterMs > 0 && Number.isFinite(afterMs) ? { kind: "requeued", afterMs, clearsBackoff: true } : DONE;
}
