import type { Clock } from "../clock/index.ts";

/** A token bucket for the writes of a controller. */
export interface RateLimit {
  /** Writes per second, on average. */
  readonly perSecond: number;
  /** Writes that may come at once. With less than 1 no write ever succeeds. */
  readonly burst: number;
}

/** A bucket of tokens that starts full and refills with time. Who finds none waits in line. */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  /** Below zero when there are waiters: how many tokens are promised. */
  #tokens: number;
  #refilledAtMs: number;

  /** @throws {RangeError} when the rate is not a positive number, or the burst no number of at least 0. */
  constructor(limit: RateLimit, clock: Clock) {
    checkRateLimit(limit);
    this.#limit = limit;
    this.#clock = clock;
    this.#tokens = limit.burst;
    this.#refilledAtMs = clock.monotonic();
  }

  /**
   * Takes a token: undefined when there is one, else a promise of one. A wait that is aborted gives its token back and
   * rejects with the signal's reason.
   *
   * @throws {Error} when the burst is less than 1.
   */
  take(signal?: AbortSignal): Promise<void> | undefined {
    const { burst, perSecond } = this.#limit;
    if (burst < 1) throw new Error(`a rate limit with a burst of ${burst} lets nothing pass; it must be at least 1`);
    this.#refill(burst, perSecond);
    this.#tokens--;
    if (this.#tokens >= 0) return undefined;
    const waitMs = (-this.#tokens / perSecond) * 1000;
    return this.#clock.sleep(waitMs, { signal }).catch((reason: unknown) => {
      this.#tokens++;
      throw reason;
    });
  }

  #refill(burst: number, perSecond: number): void {
    const nowMs = this.#clock.monotonic();
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#refilledAtMs) / 1000) * perSecond);
    this.#refilledAtMs = nowMs;
  }
}

/** @throws {RangeError} */
export function checkRateLimit({ perSecond, burst }: RateLimit): void {
  if (!(perSecond > 0)) throw new RangeError(`changeRateLimit.perSecond must be a number above 0, got ${perSecond}`);
  if (!(burst >= 0)) throw new RangeError(`changeRateLimit.burst must be a number of at least 0, got ${burst}`);
}
