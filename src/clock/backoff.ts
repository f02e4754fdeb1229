/** How the waits between attempts grow. Every field has a default. */
export interface BackoffOptions {
  /** First wait, before it is spread. Unit: milliseconds. Default: 500. */
  readonly initialMs?: number | undefined;
  /** Factor from one wait to the next. Default: 1.5. */
  readonly multiplier?: number | undefined;
  /** Part of itself by which a wait is spread evenly to either side. Default: 0.5. */
  readonly jitter?: number | undefined;
  /** Longest wait, before it is spread. Unit: milliseconds. Default: 60 s. */
  readonly maxMs?: number | undefined;
}

/** All options of a backoff, checked and filled in. */
export type ResolvedBackoff = { readonly [Name in keyof BackoffOptions]-?: number };

const DEFAULTS: ResolvedBackoff = { initialMs: 500, multiplier: 1.5, jitter: 0.5, maxMs: 60_000 };

/**
 * Checks the options and fills them in.
 *
 * @param name - Names the options in the error.
 * @param defaults - In place of those that the options document.
 * @throws {RangeError} When a number is out of its range, with its name.
 */
export function resolveBackoff(
  name: string,
  options: BackoffOptions,
  defaults: ResolvedBackoff = DEFAULTS,
): ResolvedBackoff {
  const within = (field: keyof BackoffOptions, min: number, max: number): number => {
    const value = options[field] ?? defaults[field];
    if (value >= min && value <= max) return value;
    throw new RangeError(`${name}.${field} must be from ${min} to ${max}, got ${value}`);
  };
  return {
    initialMs: within("initialMs", 0, 2 ** 31),
    multiplier: within("multiplier", 1, 100),
    jitter: within("jitter", 0, 1),
    maxMs: within("maxMs", 0, 2 ** 31),
  };
}

/**
 * The waits between attempts of something that keeps failing: each longer than the one before, up to a bound. It never
 * gives up.
 */
export class Backoff {
  readonly #random: () => number;
  readonly #options: ResolvedBackoff;
  #baseMs: number;

  /**
   * @param random - Gives numbers from 0 up to, but not including, 1.
   * @param options - From {@link resolveBackoff}. Default: the defaults of {@link BackoffOptions}.
   */
  constructor(random: () => number, options: ResolvedBackoff = DEFAULTS) {
    this.#random = random;
    this.#options = options;
    this.#baseMs = options.initialMs;
  }

  /** Milliseconds to wait after the failure that just happened. */
  next(): number {
    const { multiplier, jitter, maxMs } = this.#options;
    const baseMs = Math.min(this.#baseMs, maxMs);
    this.#baseMs = baseMs * multiplier;
    return baseMs * (1 - jitter + 2 * jitter * this.#random());
  }

  /** The next wait is a first one again. */
  reset(): void {
    this.#baseMs = this.#options.initialMs;
  }
}
