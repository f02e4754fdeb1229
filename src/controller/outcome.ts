/** Return value of a reconcile that wants to run again. Make it with {@link requeueAfter}. */
export interface Requeue {
  readonly kind: "requeue";
  /** Milliseconds from the end of this run. */
  readonly afterMs: number;
}

/** Return value of a reconcile that could not do anything yet. Make it with {@link skip}. */
export interface Skip {
  readonly kind: "skip";
  readonly reason: string;
}

/** What a reconcile returns: nothing when it is done. */
export type ReconcileResult = Requeue | Skip | void;

/** Done for now; run again after `afterMs` milliseconds, or at the next change if that comes first. */
export const requeueAfter = (afterMs: number): Requeue => {
  checkDelay(afterMs);
  return { kind: "requeue", afterMs };
};

/** Nothing to do until something changes; `reason` is what a person will read. No failure: it causes no backoff. */
export const skip = (reason: string): Skip => ({ kind: "skip", reason });

/** Shared by all copies of the package, so that tags are seen through package boundaries. */
const REQUEUE: symbol = Symbol.for("homeostat.requeue");
const SKIP: symbol = Symbol.for("homeostat.skip");

/** Thrown by a reconcile: run again after a time of its own choice instead of the backoff. A failure when it has a cause. */
export class RequeueError extends Error {
  override readonly name: string = "RequeueError";
  /** Tells the class apart from look-alikes, also across copies of the package. */
  readonly tag: symbol = REQUEUE;
  readonly afterMs: number;

  /** @param cause - The failure behind it, if any; its text becomes this error's. */
  constructor(afterMs: number, cause?: unknown) {
    checkDelay(afterMs);
    const text = cause instanceof Error ? cause.message : typeof cause === "string" ? cause : undefined;
    super(text ?? `requeue in ${afterMs} ms`, cause === undefined ? undefined : { cause });
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
  find(error, REQUEUE, { left: MOST_ERRORS }) as RequeueError | undefined;

/** The first {@link SkipError}, likewise. */
export const findSkip = (error: unknown): SkipError | undefined =>
  find(error, SKIP, { left: MOST_ERRORS }) as SkipError | undefined;

/** Number of causes and parts that are looked at: more of them are a loop. */
const MOST_ERRORS = 1000;

function find(error: unknown, tag: symbol, budget: { left: number }): unknown {
  if (!(error instanceof Error) || budget.left-- <= 0) return undefined;
  if ("tag" in error && error.tag === tag) return error;
  const parts = partsOf(error);
  if (parts === undefined) return find(error.cause, tag, budget);
  const found = parts.map((part) => find(part, tag, budget));
  return found.every((one) => one !== undefined) ? found[0] : undefined;
}

/** The errors that an error stands for, if there are several. */
function partsOf(error: Error & { errors?: unknown; error?: unknown; suppressed?: unknown }): unknown[] | undefined {
  if (Array.isArray(error.errors)) return error.errors;
  return error.name === "SuppressedError" ? [error.error, error.suppressed] : undefined;
}

function checkDelay(afterMs: number): void {
  if (!(afterMs >= 0 && Number.isFinite(afterMs))) {
    throw new RangeError(`afterMs must be a finite number of milliseconds, at least 0, got ${afterMs}`);
  }
}
