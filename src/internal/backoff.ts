/** First interval, before it is spread. Unit: milliseconds. */
const INITIAL_MS = 500;
const MULTIPLIER = 1.5;
/** Largest interval, before it is spread. Unit: milliseconds. */
const MAX_MS = 60_000;
/** Each interval is spread evenly over this part of itself, to either side. */
const SPREAD = 0.5;

/**
 * The waits between attempts of something that keeps failing: 500 ms at first, half as much again each time, 60 s at
 * most, each spread by half to either side. It never gives up.
 */
export class Backoff {
  readonly #random: () => number;
  #baseMs = INITIAL_MS;

  /** @param random - Gives numbers from 0 up to, but not including, 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Milliseconds to wait after the failure that just happened. */
  next(): number {
    const baseMs = this.#baseMs;
    this.#baseMs = Math.min(baseMs * MULTIPLIER, MAX_MS);
    return baseMs * (1 - SPREAD + 2 * SPREAD * this.#random());
  }

  /** The next wait is a first one again. */
  reset(): void {
    this.#baseMs = INITIAL_MS;
  }
}
