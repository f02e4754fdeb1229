import { SystemClock, type Clock } from "../../clock/index.ts";

/** How long the test utilities wait for what they were asked for. */
export interface WaitOptions {
  /** Ends the wait: it rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the wait: it rejects with an error that says what was still missing. Unit: milliseconds. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** What measures the timeout. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Runs `run` with a signal that aborts when the wait's own signal does, when time is up, or when `run` has ended.
 * Rejects at the first two without waiting for `run`.
 *
 * @param failure - What to reject with when time is up; it gets the limit, such as `within 10000 ms`.
 */
export async function withDeadline<T>(
  options: WaitOptions,
  failure: (limit: string) => Error,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal: outer, timeoutMs = DEFAULT_TIMEOUT_MS, clock = new SystemClock() } = options;
  outer?.throwIfAborted();
  const own = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown) => {
    reject(reason);
    own.abort(reason);
  };
  const onAbort = () => end(outer?.reason);
  outer?.addEventListener("abort", onAbort, { once: true });
  const timer = clock.schedule(timeoutMs, () => end(failure(`within ${timeoutMs} ms`)));
  try {
    return await Promise.race([run(own.signal), ended]);
  } finally {
    timer.cancel();
    outer?.removeEventListener("abort", onAbort);
    own.abort();
  }
}
