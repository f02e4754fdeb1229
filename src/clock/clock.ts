/** A pending call made by {@link Clock.schedule}. Cancelling twice, or after it ran, does nothing. */
export interface Timer extends Disposable {
  cancel(): void;
}

/** Options of {@link Clock.sleep}. */
export interface SleepOptions {
  /** Ends the sleep early: the promise then rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Where time and scheduling come from. Everything in Homeostat that waits, stamps or measures takes one, so that
 * tests run under a manual clock with no real waiting.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. May jump; use it for stamps only. */
  now(): number;
  /** Monotonic time in milliseconds from an arbitrary start. Use it for durations and deadlines. */
  monotonic(): number;
  /**
   * Calls `fn` once, in a task of its own, when `delayMs` have passed. Any finite delay is allowed, months included;
   * negative ones count as 0. The pending call keeps the process alive.
   */
  schedule(delayMs: number, fn: () => void): Timer;
  /** Calls `fn` in a later macrotask, after timers and I/O that are due have had their turn. */
  defer(fn: () => void): void;
  /**
   * Keeps the process alive until it is disposed of: promises alone do not. For an owner of something that waits for
   * others. It takes no time, and nothing is ever called.
   */
  keepAlive(): Disposable;
  /** Resolves after `delayMs`. */
  sleep(delayMs: number, options?: SleepOptions): Promise<void>;
}
