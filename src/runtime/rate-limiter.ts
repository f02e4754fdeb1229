import { TokenBucket, type Clock } from "../clock/index.ts";

/** A token bucket for the writes of a controller. */
export interface RateLimit {
  /** Writes per second, on average. */
  readonly perSecond: number;
  /** Writes that may come at once. With less than 1 no write ever succeeds. */
  readonly burst: number;
}

/** Lets the writes of a controller pass at a limited rate. Who finds no token waits in line. */
export class RateLimiter {
  readonly #burst: number;
  readonly #clock: Clock;
  readonly #bucket: TokenBucket;

  /** @throws {RangeError} when the rate is not a positive number, or the burst no number of at least 0. */
  constructor(limit: RateLimit, clock: Clock) {
    checkRateLimit(limit);
    this.#burst = limit.burst;
    this.#clock = clock;
    this.#bucket = new TokenBucket(limit.perSecond, limit.burst, clock);
  }

  /**
   * Takes a token: undefined when there is one, else a promise of one. A wait that is aborted gives its token back and
   * rejects with the signal's reason.
   *
   * @throws {Error} when the burst is less than 1.
   */
  take(signal?: AbortSignal): Promise<void> | undefined {
    const burst = this.#burst;
    if (burst < 1) throw new Error(`a rate limit with a burst of ${burst} lets nothing pass; it must be at least 1`);
    const waitMs = this.#bucket.reserve();
    if (waitMs === 0) return undefined;
    return this.#clock.sleep(waitMs, { signal }).catch((reason: unknown) => {
      this.#bucket.giveBack();
      throw reason;
    });
  }
}

/** @throws {RangeError} */
export function checkRateLimit({ perSecond, burst }: RateLimit): void {
  if (!(perSecond > 0)) throw new RangeError(`changeRateLimit.perSecond must be a number above 0, got ${perSecond}`);
  if (!(burst >= 0)) throw new RangeError(`changeRateLimit.burst must be a number of at least 0, got ${burst}`);
}
