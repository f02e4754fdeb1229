import type { Clock } from "../clock/index.ts";

/** Time that all work of one turn may take together. Unit: milliseconds. */
const TURN_MS = 2;

/**
 * Keeps the event loop alive. In-memory work never leaves the microtask queue by itself, so the engine starts no more
 * than a share of runs in one turn of the event loop; then timers, sockets and signals come first.
 */
export class TurnBudget {
  readonly #clock: Clock;
  readonly #mostRuns: number;
  #open = false;
  #startedAtMs = 0;
  #runs = 0;
  #starved: (() => void)[] = [];
  #served: (() => void)[] = [];

  /** @param mostRuns - Runs that may start in one turn. */
  constructor(clock: Clock, mostRuns: number) {
    this.#clock = clock;
    this.#mostRuns = mostRuns;
  }

  /** Asks for one run. False when this turn has had its share: then {@link resume} later. */
  take(nowMs: number): boolean {
    if (!this.#open) {
      this.#open = true;
      this.#startedAtMs = nowMs;
      this.#runs = 0;
      this.#clock.defer(this.#endTurn);
    }
    return this.#runs++ < this.#mostRuns && nowMs - this.#startedAtMs < TURN_MS;
  }

  /**
   * Calls `fn` in the next turn. Who was refused its very first run comes before those who had some: however much each
   * of them has to do, all get their share.
   */
  resume(fn: () => void, hadRuns: boolean): void {
    (hadRuns ? this.#served : this.#starved).push(fn);
  }

  readonly #endTurn = (): void => {
    this.#open = false;
    const waiting = [...this.#starved, ...this.#served];
    this.#starved = [];
    this.#served = [];
    for (const fn of waiting) fn();
  };
}
