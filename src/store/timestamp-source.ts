import type { Clock } from "../clock/index.ts";

/** RFC 3339 text of the present moment, made once for each millisecond. */
export class TimestampSource {
  readonly #clock: Clock;
  #ms = Number.NaN;
  #text = "";

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What {@link now} said last, in whole milliseconds since the epoch. */
  get ms(): number {
    return this.#ms;
  }

  now(): string {
    const ms = Math.floor(this.#clock.now());
    if (ms !== this.#ms) {
      this.#text = new Date(ms).toISOString();
      this.#ms = ms;
    }
    return this.#text;
  }
}
