import type { Clock, Timer } from "../../clock/index.ts";

/** Wakes a classic controller at the time that it asked for. The last request counts. */
export class WakeTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #timer: Timer | undefined;
  #dueAtMs = 0;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Milliseconds until it wakes; undefined when it does not. */
  get dueInMs(): number | undefined {
    return this.#timer && Math.max(0, this.#dueAtMs - this.#clock.monotonic());
  }

  /** 0 wakes at once. */
  start(ms: number): void {
    this.cancel();
    if (ms === 0) {
      this.#wake();
      return;
    }
    this.#dueAtMs = this.#clock.monotonic() + ms;
    this.#timer = this.#clock.schedule(ms, () => {
      this.#timer = undefined;
      this.#wake();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
