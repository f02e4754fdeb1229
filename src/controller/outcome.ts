import {
  describeForeign,
  foreignList,
  isErrorValue,
  MAX_ERRORS,
  messageOf,
  readForeign,
} from "../internal/foreign-value.ts";

/** Return value of a reconcile that wants to run again. Make it with {@link requeueAfter}. */
export interface Requeue {
  readonly kind: "requeue";
  /** Milliseconds from the end of this run; 0 is at once. */
  readonly afterMs: number;
}

/** Return value of a reconcile that could not do anything yet. Make it with {@link skip}. */
export interface Skip {
  readonly kind: "skip";
  readonly reason: string;
}

/** What a reconcile returns: nothing when it is done. */
export type ReconcileResult = Requeue | Skip | void;

/**
 * Done for now; run again after `afterMs` milliseconds, or at the next change if that comes first. 0 is at once, behind
 * whatever is due already.
 *
 * @throws {RangeError} for a negative or endless time.
 */
export const requeueAfter = (afterMs: number): Requeue => {
  checkDelay(afterMs);
  return { kind: "requeue", afterMs };
};

/** Nothing to do until something changes; `reason` is what a person will read. No failure: it causes no backoff. */
export const skip = (reason: string): Skip => ({ kind: "skip", reason });

/** Shared by all copies of the package, so that tags are seen through package boundaries. */
const REQUEUE: symbol = Symbol.for("homeostat.requeue");
const SKIP: symbol = Symbol.for("homeostat.skip");

/**
 * Thrown by a reconcile: run again after a time of its own choice instead of the backoff; 0 is at once. With a cause it is
 * a failure, and then 0 leaves the time to the backoff.
 */
export class RequeueError extends Error {
  override readonly name: string = "RequeueError";
  /** Tells the class apart from look-alikes, also across copies of the package. */
  readonly tag: symbol = REQUEUE;
  readonly afterMs: number;

  /** @param cause - The failure behind it, if any; its text becomes this error's. */
  constructor(afterMs: number, cause?: unknown) {
    checkDelay(afterMs);
    super(
      cause === undefined ? `requeue in ${afterMs} ms` : messageOf(cause),
      cause === undefined ? undefined : { cause },
    );
    this.afterMs = afterMs;
  }
}

/** Thrown instead of returning {@link skip}, from wherever the reason is found out. */
export class SkipError extends Error {
  override readonly name: string = "SkipError";
  /** Tells the class apart from look-alikes, also across copies of the package. */
  readonly tag: symbol = SKIP;

  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
  }
}

/**
 * The first {@link RequeueError} in the `cause` chain. An error that stands for several, such as an `AggregateError`, holds
 * one when each of them does: what else went wrong must not be lost.
 */
export const findRequeue = (error: unknown): RequeueError | undefined =>
  findTagged(error, REQUEUE) as RequeueError | undefined;

/** The first {@link SkipError}, likewise. */
export const findSkip = (error: unknown): SkipError | undefined => findTagged(error, SKIP) as SkipError | undefined;

/** The first error with this tag, as {@link findRequeue} looks for its own. */
export const findTagged = (error: unknown, tag: symbol): unknown => find(error, tag, { left: MAX_ERRORS });

function find(error: unknown, tag: symbol, budget: { left: number }): unknown {
  if (!isErrorValue(error) || budget.left-- <= 0) return undefined;
  if (readForeign(error, "tag") === tag) return error;
  const parts = partsOf(error);
  if (parts === undefined) return find(readForeign(error, "cause"), tag, budget);
  const found = parts.map((part) => find(part, tag, budget));
  return found.every((one) => one !== undefined) ? found[0] : undefined;
}

/** The errors that an error stands for, if there are several. */
function partsOf(error: Error): readonly unknown[] | undefined {
  const errors = foreignList(readForeign(error, "errors"));
  if (errors !== undefined) return errors;
  if (readForeign(error, "name") !== "SuppressedError") return undefined;
  return [readForeign(error, "error"), readForeign(error, "suppressed")];
}

function checkDelay(afterMs: number): void {
  if (!(afterMs >= 0 && Number.isFinite(afterMs))) {
    throw new RangeError(
      `afterMs must be a finite number of milliseconds, at least 0, got ${describeForeign(afterMs)}`,
    );
  }
}
