/** Waits between attempts to connect. Every field has a default. */
export interface ReconnectBackoffOptions {
  /** First wait. Unit: milliseconds. Default: 100. */
  readonly initialMs?: number | undefined;
  /** Factor from one wait to the next. Default: 1.6. */
  readonly multiplier?: number | undefined;
  /** Longest wait, before it is spread. Unit: milliseconds. Default: 5 s. */
  readonly longestMs?: number | undefined;
  /** Part of itself by which a wait is spread to either side, so that clients do not come all at once. Default: 0.2. */
  readonly spread?: number | undefined;
  /** Gives numbers from 0 up to, but not including, 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** How long to wait until the next attempt to connect. */
export class ReconnectBackoff {
  readonly #initialMs: number;
  readonly #multiplier: number;
  readonly #longestMs: number;
  readonly #spread: number;
  readonly #random: () => number;
  #baseMs: number;

  /** @throws {RangeError} When an option is out of its range. */
  constructor(options: ReconnectBackoffOptions) {
    this.#initialMs = within("backoff.initialMs", options.initialMs ?? 100, 0, 2 ** 31);
    this.#multiplier = within("backoff.multiplier", options.multiplier ?? 1.6, 1, 100);
    this.#longestMs = within("backoff.longestMs", options.longestMs ?? 5_000, 0, 2 ** 31);
    this.#spread = within("backoff.spread", options.spread ?? 0.2, 0, 1);
    this.#random = options.random ?? Math.random;
    this.#baseMs = this.#initialMs;
  }

  /** Milliseconds to wait after the attempt that just failed. */
  next(): number {
    const baseMs = Math.min(this.#baseMs, this.#longestMs);
    this.#baseMs = baseMs * this.#multiplier;
    return baseMs * (1 - this.#spread + 2 * this.#spread * this.#random());
  }

  /** The next wait is a first one again. */
  reset(): void {
    this.#baseMs = this.#initialMs;
  }
}

function within(name: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return value;
  throw new RangeError(`${name} must be from ${least} to ${most}, got ${value}`);
}
