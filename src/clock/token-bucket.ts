import type { Clock } from "./clock.ts";

/** A bucket of tokens that starts full and refills with time. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #clock: Pick<Clock, "monotonic">;
  /** Below zero when more are reserved than there are. */
  #tokens: number;
  #refilledAtMs: number;

  /**
   * @param perSecond - Tokens that come in a second; `Infinity` for a bucket that is always full.
   * @param burst - Tokens that it holds at most.
   */
  constructor(perSecond: number, burst: number, clock: Pick<Clock, "monotonic">) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#refilledAtMs = clock.monotonic();
  }

  /** Takes a token if there is one. */
  tryTake(): boolean {
    if (this.#perSecond === Infinity) return true;
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Takes a token that may be still to come, and gives the milliseconds until then; 0 when it is there. */
  reserve(): number {
    this.#refill();
    this.#tokens--;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1000;
  }

  /** Returns a reserved token that is not needed after all. */
  giveBack(): void {
    this.#tokens++;
  }

  #refill(): void {
    const nowMs = this.#clock.monotonic();
    const gained = ((nowMs - this.#refilledAtMs) / 1000) * this.#perSecond;
    this.#refilledAtMs = nowMs;
    // Without time gone by there is nothing to gain; of an endless rate that would be no number.
    if (gained > 0) this.#tokens = Math.min(this.#burst, this.#tokens + gained);
  }
}
