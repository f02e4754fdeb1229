import type { Clock, SleepOptions, Timer } from "./clock.ts";
import { macrotask } from "./macrotask.ts";
import { sleepOn } from "./sleep.ts";

interface Entry {
  readonly dueMs: number;
  readonly order: number;
  readonly fn: () => void;
}

/**
 * A clock that stands still until told to move. Timers run in order of their due time, ties in order of creation; after
 * each one the microtasks and deferred calls that it caused run before the next.
 */
export class ManualClock implements Clock {
  #nowMs: number;
  readonly #startMs: number;
  #order = 0;
  readonly #entries = new Set<Entry>();
  readonly #holds = new Set<object>();

  /** @param startMs - Wall-clock time to start at, in milliseconds since the epoch. Default: 2000-01-01T00:00:00Z. */
  constructor(startMs: number = Date.UTC(2000, 0, 1)) {
    this.#startMs = startMs;
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs - this.#startMs;
  }

  /** Number of timers that wait. A test can assert that nothing is left behind. */
  get pending(): number {
    return this.#entries.size;
  }

  /** Number of {@link keepAlive}s that are not disposed of. A test can assert that nothing is left behind. */
  get keptAlive(): number {
    return this.#holds.size;
  }

  /** Milliseconds until the next timer is due, or undefined when none waits. */
  get nextInMs(): number | undefined {
    const next = this.#next();
    return next && Math.max(0, next.dueMs - this.#nowMs);
  }

  schedule(delayMs: number, fn: () => void): Timer {
    if (!Number.isFinite(delayMs))
      throw new RangeError(`delayMs must be a finite number of milliseconds, got ${delayMs}`);
    const entry: Entry = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, fn };
    this.#entries.add(entry);
    const cancel = () => void this.#entries.delete(entry);
    return { cancel, [Symbol.dispose]: cancel };
  }

  defer(fn: () => void): void {
    macrotask(fn);
  }

  /** Who moves the time keeps the process alive; see {@link keptAlive}. */
  keepAlive(): Disposable {
    const hold = {};
    this.#holds.add(hold);
    return { [Symbol.dispose]: () => void this.#holds.delete(hold) };
  }

  sleep(delayMs: number, options?: SleepOptions): Promise<void> {
    return sleepOn(this, delayMs, options);
  }

  /** Moves time forward by `ms`, running every timer that falls due on the way. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await this.settle();
    for (let next = this.#next(); next && next.dueMs <= untilMs; next = this.#next()) {
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      this.#entries.delete(next);
      next.fn();
      await this.settle();
    }
    this.#nowMs = untilMs;
  }

  /** Lets everything that needs no time run: a few rounds of macrotasks with their microtasks. */
  async settle(): Promise<void> {
    for (let round = 0; round < 8; round++) await new Promise<void>(macrotask);
  }

  #next(): Entry | undefined {
    let first: Entry | undefined;
    for (const entry of this.#entries) {
      if (!first || entry.dueMs < first.dueMs || (entry.dueMs === first.dueMs && entry.order < first.order))
        first = entry;
    }
    return first;
  }
}
