import { Backoff, type Clock } from "../clock/index.ts";

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Called after each failed attempt, before the wait. */
  readonly onFailure: (thrown: unknown, intervalMs: number) => void;
  /** An attempt that lasted longer starts the intervals over. Unit: milliseconds. Default: never. */
  readonly resetAfterMs?: number | undefined;
  /** What counts as success although it was thrown. */
  readonly accepts?: ((thrown: unknown) => boolean) | undefined;
}

/** Calls `attempt` until it succeeds, with backoff in between. Returns, without an error, when the signal aborts. */
export async function retry(attempt: () => Promise<void>, options: RetryOptions): Promise<void> {
  const { clock, random, signal, onFailure, resetAfterMs = Infinity, accepts = () => false } = options;
  const backoff = new Backoff(random);
  while (!signal.aborted) {
    const startedAtMs = clock.monotonic();
    try {
      await attempt();
      return;
    } catch (thrown) {
      if (signal.aborted || accepts(thrown)) return;
      if (clock.monotonic() - startedAtMs > resetAfterMs) backoff.reset();
      const intervalMs = backoff.next();
      onFailure(thrown, intervalMs);
      await sleepUnlessAborted(clock, intervalMs, signal);
    }
  }
}

/** Resolves when the time has passed or the signal aborts. */
export async function sleepUnlessAborted(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
