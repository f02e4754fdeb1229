import { Backoff, resolveBackoff, type BackoffOptions, type ResolvedBackoff } from "../../../clock/index.ts";

/** How broken watches are opened again. Every field has a default. */
export interface WatchRetryOptions extends BackoffOptions {
  /** Watches that break fail at once. Default: false. */
  readonly disabled?: boolean | undefined;
  /** A watch fails when this would pass between its break and the next attempt. Default: 15 min; `Infinity` for never. */
  readonly giveUpAfterMs?: number | undefined;
}

export interface ResolvedWatchRetry extends ResolvedBackoff {
  readonly disabled: boolean;
  readonly giveUpAfterMs: number;
}

/** @throws {RangeError} When a number is out of its range, with its name. */
export function resolveWatchRetry(options: WatchRetryOptions = {}): ResolvedWatchRetry {
  const { disabled = false, giveUpAfterMs = 15 * 60_000 } = options;
  if (!(giveUpAfterMs >= 0)) throw new RangeError(`watchRetry.giveUpAfterMs must be at least 0, got ${giveUpAfterMs}`);
  return { ...resolveBackoff("watchRetry", options), disabled, giveUpAfterMs };
}

/**
 * When one watch is opened again: *up*, until it {@link broke}; *down*, with ever longer waits, until it is opened;
 * *doubtful*, until it has delivered something or has held for as long as the last wait. One that breaks while it is
 * doubtful goes on with the outage that it had.
 */
export class WatchRetry {
  readonly #options: ResolvedWatchRetry;
  readonly #backoff: Backoff;
  #lastWaitMs = 0;
  #brokeAt: number | undefined;
  #openedAt: number | undefined;

  /** @param random - Gives numbers from 0 up to, but not including, 1. */
  constructor(options: ResolvedWatchRetry, random: () => number) {
    this.#options = options;
    this.#backoff = new Backoff(random, options);
  }

  /** Milliseconds to wait before the next attempt; undefined when there is to be none. */
  next(nowMs: number): number | undefined {
    const { disabled, giveUpAfterMs } = this.#options;
    const waitMs = this.#backoff.next();
    this.#brokeAt ??= nowMs;
    if (disabled || nowMs - this.#brokeAt + waitMs > giveUpAfterMs) return undefined;
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
    this.#backoff.reset();
  }
}
