import { findRequeue, findSkip } from "../../controller/index.ts";
import { isCancellation } from "../../internal/cancellation.ts";
import { describeForeign, messageOf, readForeign } from "../../internal/foreign-value.ts";
import { toError } from "../../internal/to-error.ts";

/** What follows from how a run ended. */
export interface Verdict {
  readonly kind: "done" | "skipped" | "requeued" | "failed";
  /** Due again after this many milliseconds. Absent: released, unless it failed; then the backoff decides. */
  readonly afterMs: number | undefined;
  /** True when the sequence of retry intervals is over. */
  readonly clearsBackoff: boolean;
  /** Why it was skipped. */
  readonly reason?: string | undefined;
  /** What it failed with. */
  readonly error?: Error | undefined;
}

export const DONE: Verdict = { kind: "done", afterMs: undefined, clearsBackoff: true };

/**
 * Classifies what a handler returned. Whatever is neither a request to run again nor a skip is success; a request that
 * cannot be kept is a failure.
 */
export function classifyResult(result: unknown, handler: string): Verdict {
  if (typeof result !== "object" || result === null) return DONE;
  const kind = readForeign(result, "kind");
  if (kind === "requeue") return requeued(readForeign(result, "afterMs"), handler);
  if (kind !== "skip") return DONE;
  const reason = readForeign(result, "reason");
  return { kind: "skipped", afterMs: undefined, clearsBackoff: true, reason: messageOf(reason) };
}

/** Classifies what a handler threw. What asks it to stop is no failure, even while the runtime goes on. */
export function classifyThrown(thrown: unknown, handler: string, signal: AbortSignal): Verdict {
  return isCancellation(thrown, signal) ? DONE : classifyFailure(thrown, handler);
}

/** {@link classifyThrown}, for what is no cancellation. */
export function classifyFailure(thrown: unknown, handler: string): Verdict {
  const requeue = findRequeue(thrown);
  const afterMs = delayOf(readForeign(requeue, "afterMs"));
  const skip = findSkip(thrown);
  if (skip !== undefined) return { kind: "skipped", afterMs, clearsBackoff: true, reason: messageOf(skip) };
  const cause = readForeign(requeue, "cause");
  if (requeue !== undefined && cause === undefined) return requeued(readForeign(requeue, "afterMs"), handler);
  const error = toError(cause ?? thrown, handler);
  // A failure that is to be tried again at once would be tried as fast as the CPU allows.
  return { kind: "failed", afterMs: afterMs === 0 ? undefined : afterMs, clearsBackoff: false, error };
}

function requeued(afterMs: unknown, handler: string): Verdict {
  const delay = delayOf(afterMs);
  if (delay !== undefined) return { kind: "requeued", afterMs: delay, clearsBackoff: true };
  const got = `a number of milliseconds, at least 0, got ${describeForeign(afterMs)}`;
  const error = new RangeError(`${handler} asked to run again, but afterMs has to be ${got}`);
  return { kind: "failed", afterMs: undefined, clearsBackoff: false, error };
}

const delayOf = (afterMs: unknown): number | undefined =>
  typeof afterMs === "number" && Number.isFinite(afterMs) && afterMs >= 0 ? afterMs : undefined;
