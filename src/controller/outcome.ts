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

/** The first {@link RequeueError} in the `cause` chain. */
export const findRequeue = (error: unknown): RequeueError | undefined =>
  find(error, REQUEUE) as RequeueError | undefined;

/** The first {@link SkipError} in the `cause` chain. */
export const findSkip = (error: unknown): SkipError | undefined => find(error, SKIP) as SkipError | undefined;

/** Causes deeper than this are not looked at: a chain that long is a loop. */
const DEEPEST_CAUSE = 100;

function find(error: unknown, tag: symbol): unknown {
  let candidate = error;
  for (let depth = 0; candidate instanceof Error && depth < DEEPEST_CAUSE; depth++) {
    if ("tag" in candidate && candidate.tag === tag) return candidate;
    candidate = candidate.cause;
  }
  return undefined;
}

function checkDelay(afterMs: number): void {
  if (!(afterMs >= 0 && Number.isFinite(afterMs))) {
    throw new RangeError(`afterMs must be a finite number of milliseconds, at least 0, got ${afterMs}`);
  }
}
