import type { Clock } from "../clock/index.ts";

/** RFC 3339 text of the present moment, made once for each millisecond. */
export class TimestampSource {
  readonly #clock: Clock;
  #ms = Number.NaN;
  #text = "";

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): string {
    const ms = this.#clock.now();
    if (ms !== this.#ms) {
      this.#ms = ms;
      this.#text = new Date(ms).toISOString();
    }
    return this.#text;
  }
}
