import type { Clock, SleepOptions, Timer } from "./clock.ts";
import { macrotask } from "./macrotask.ts";
import { sleepOn } from "./sleep.ts";

/** `setTimeout` fires at once above this delay, so longer ones are waited for in pieces. Unit: milliseconds. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

class SystemTimer implements Timer {
  #handle: ReturnType<typeof setTimeout> | undefined;
  readonly #dueMs: number;
  readonly #fn: () => void;

  constructor(delayMs: number, fn: () => void) {
    this.#dueMs = performance.now() + delayMs;
    this.#fn = fn;
    this.#arm(delayMs);
  }

  cancel(): void {
    clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  [Symbol.dispose](): void {
    this.cancel();
  }

  #arm(delayMs: number): void {
    this.#handle =
      delayMs <= MAX_TIMEOUT_MS
        ? setTimeout(this.#fn, delayMs)
        : setTimeout(() => this.#arm(Math.max(0, this.#dueMs - performance.now())), MAX_TIMEOUT_MS);
  }
}

/** The real clock of the machine. Stateless: any number of them may be used side by side. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return performance.now();
  }

  schedule(delayMs: number, fn: () => void): Timer {
    if (!Number.isFinite(delayMs))
      throw new RangeError(`delayMs must be a finite number of milliseconds, got ${delayMs}`);
    return new SystemTimer(Math.max(0, delayMs), fn);
  }

  defer(fn: () => void): void {
    macrotask(fn);
  }

  keepAlive(): Disposable {
    const handle = setInterval(() => undefined, MAX_TIMEOUT_MS);
    return { [Symbol.dispose]: () => clearInterval(handle) };
  }

  sleep(delayMs: number, options?: SleepOptions): Promise<void> {
    return sleepOn(this, delayMs, options);
  }
}
