import type { Clock } from "../clock/index.ts";

/** Time that all work of one turn may take together. Unit: milliseconds. */
const TURN_MS = 2;

/**
 * Keeps the event loop alive. In-memory work never leaves the microtask queue by itself, so the engine starts no more
 * than a share of runs in one turn of the event loop; then timers, sockets and signals come first.
 *
 * A caller that finds the share used up waits in line for the next turns, so that no one with much to do starves the others.
 */
export class TurnBudget {
  readonly #clock: Pick<Clock, "defer">;
  readonly #mostRuns: number;
  #open = false;
  #spent = false;
  #startedAtMs = 0;
  #runs = 0;
  readonly #line: (() => void)[] = [];

  /** @param mostRuns - Runs that may start in one turn. */
  constructor(clock: Pick<Clock, "defer">, mostRuns: number) {
    this.#clock = clock;
    this.#mostRuns = mostRuns;
  }

  /** Asks for one run. False when this turn has had its share: then stand in line with {@link resume}. */
  take(nowMs: number): boolean {
    if (!this.#open) {
      this.#open = true;
      this.#spent = false;
      this.#startedAtMs = nowMs;
      this.#runs = 0;
      this.#clock.defer(this.#nextTurn);
    }
    if (this.#runs >= this.#mostRuns || nowMs - this.#startedAtMs >= TURN_MS) this.#spent = true;
    else this.#runs++;
    return !this.#spent;
  }

  /** Calls `fn` in a later turn, behind those that stand in line already. */
  resume(fn: () => void): void {
    this.#line.push(fn);
  }

  readonly #nextTurn = (): void => {
    this.#open = false;
    this.#spent = false;
    // Those who come back in line within this turn come after those who have not had theirs.
    for (let left = this.#line.length; left > 0 && !this.#spent; left--) this.#line.shift()?.();
  };
}
