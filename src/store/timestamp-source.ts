import type { Clock } from "../clock/index.ts";

/** RFC 3339 text of the present moment, made once for each millisecond: with the digits that it has on the wire. */
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
      const text = new Date(ms).toISOString();
      this.#text = ms % 1_000 === 0 ? text.replace(".000Z", "Z") : text;
      this.#ms = ms;
    }
    return this.#text;
  }
}
