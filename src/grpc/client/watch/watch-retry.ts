/** How broken watches are opened again. Every field has a default. */
export interface WatchRetryOptions {
  /** Watches that break fail at once. Default: false. */
  readonly disabled?: boolean | undefined;
  /** First wait, before it is spread. Unit: milliseconds. Default: 500. */
  readonly initialMs?: number | undefined;
  /** Factor from one wait to the next. Default: 1.5. */
  readonly multiplier?: number | undefined;
  /** Part of itself by which a wait is spread to either side. Default: 0.5. */
  readonly jitter?: number | undefined;
  /** Longest wait, before it is spread. Unit: milliseconds. Default: 60 s. */
  readonly maxMs?: number | undefined;
  /** A watch fails when this would pass between its break and the next attempt. Default: 15 min; `Infinity` for never. */
  readonly giveUpAfterMs?: number | undefined;
}

export type ResolvedWatchRetry = { readonly [Name in keyof WatchRetryOptions]-?: NonNullable<WatchRetryOptions[Name]> };

/** @throws {RangeError} When a number is out of its range, with its name. */
export function resolveWatchRetry(options: WatchRetryOptions = {}): ResolvedWatchRetry {
  return {
    disabled: options.disabled ?? false,
    initialMs: within("initialMs", options.initialMs ?? 500, 0, 2 ** 31),
    multiplier: within("multiplier", options.multiplier ?? 1.5, 1, 100),
    jitter: within("jitter", options.jitter ?? 0.5, 0, 1),
    maxMs: within("maxMs", options.maxMs ?? 60_000, 0, 2 ** 31),
    giveUpAfterMs: within("giveUpAfterMs", options.giveUpAfterMs ?? 15 * 60_000, 0, Infinity),
  };
}

function within(name: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return value;
  throw new RangeError(`watchRetry.${name} must be from ${least} to ${most}, got ${value}`);
}

/**
 * When one watch is opened again: *up*, until it {@link broke}; *down*, with ever longer waits, until it is opened;
 * *doubtful*, until it has delivered something or has held for as long as the last wait. One that breaks while it is
 * doubtful goes on with the outage that it had.
 */
export class WatchRetry {
  readonly #options: ResolvedWatchRetry;
  readonly #random: () => number;
  #nextMs: number;
  #lastWaitMs = 0;
  #brokeAt: number | undefined;
  #openedAt: number | undefined;

  /** @param random - Gives numbers from 0 up to, but not including, 1. */
  constructor(options: ResolvedWatchRetry, random: () => number) {
    this.#options = options;
    this.#random = random;
    this.#nextMs = options.initialMs;
  }

  /** Milliseconds to wait before the next attempt; undefined when there is to be none. */
  next(nowMs: number): number | undefined {
    const { disabled, jitter, multiplier, maxMs, giveUpAfterMs } = this.#options;
    const baseMs = Math.min(this.#nextMs, maxMs);
    const waitMs = baseMs * (1 - jitter + 2 * jitter * this.#random());
    this.#brokeAt ??= nowMs;
    if (disabled || nowMs - this.#brokeAt + waitMs > giveUpAfterMs) return undefined;
    this.#nextMs = baseMs * multiplier;
    this.#lastWaitMs = waitMs;
    return waitMs;
  }

  /** The watch broke. */
  broke(nowMs: number): void {
    if (this.#openedAt !== undefined && nowMs - this.#openedAt >= this.#lastWaitMs) this.delivered();
    this.#openedAt = undefined;
    this.#brokeAt ??= nowMs;
  }

  /** The watch was opened again. */
  opened(nowMs: number): void {
    this.#openedAt = nowMs;
  }

  /** The watch has delivered something: what was before is over. */
  delivered(): void {
    if (this.#brokeAt === undefined) return;
    this.#brokeAt = undefined;
    this.#openedAt = undefined;
    this.#nextMs = this.#options.initialMs;
  }
}
