import type { Clock } from "../clock/index.ts";
import { momentOf } from "../resource/index.ts";

/** Length of `2023-03-01T08:00:00.123`. */
const MS_LENGTH = 23;
/** Nanoseconds of a microsecond, and microseconds of a millisecond. */
const STEPS = 1000;

/**
 * The times of creation that one kind gives out. Each is later than all before it, whatever the clock does: within a
 * millisecond, and while the clock is behind, they are a nanosecond apart. So id and time of creation name one life of a
 * resource. It must live as long as the kind; what outlives the process gives its last time to {@link continueAfter}.
 *
 * All have nine digits behind the point, of which the last three are never 0: so their order is that of their texts, no
 * peer writes them shorter, and none is a whole second, which names no life.
 */
export class CreationTimes {
  readonly #clock: Pick<Clock, "now">;
  /** What the clock said last. */
  #reading = Number.NaN;
  /** The last time: milliseconds since the epoch, microseconds and nanoseconds from there. */
  #ms = 0;
  #micros = 0;
  #nanos = 0;
  /** The last time as text but for its nanoseconds. */
  #stem = stemOf(0, 0);
  /** Nanoseconds and zone, each text made once. */
  readonly #endings: string[] = Array.from({ length: STEPS }, () => "");

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  next(): string {
    const reading = this.#clock.now();
    if (reading !== this.#reading) this.#read(reading);
    if (++this.#nanos === STEPS) this.#carry();
    return this.last;
  }

  /** What {@link next} gave out last. */
  get last(): string {
    // Joining two texts is cheaper than writing one, which most of them never need.
    return this.#stem + (this.#endings[this.#nanos] || this.#makeEnding());
  }

  /** True when `ms`, since the epoch, is later than everything given out. */
  isBefore(ms: number): boolean {
    return this.#ms < ms;
  }

  /** Everything given out from now on is later than `created`, which an earlier process gave out. */
  continueAfter(created: string): void {
    const { ms, nanos } = momentOf(created);
    const micros = Math.floor(nanos / STEPS);
    const isLater = this.#ms - ms || this.#micros - micros || this.#nanos - (nanos % STEPS);
    if (isLater < 0) this.#set(ms, micros, nanos % STEPS);
  }

  #read(reading: number): void {
    this.#reading = reading;
    const ms = Math.floor(reading);
    if (ms > this.#ms) this.#set(ms, 0, 0);
  }

  #carry(): void {
    if (this.#micros + 1 < STEPS) this.#set(this.#ms, this.#micros + 1, 1);
    else this.#set(this.#ms + 1, 0, 1);
  }

  #set(ms: number, micros: number, nanos: number): void {
    this.#ms = ms;
    this.#micros = micros;
    this.#nanos = nanos;
    this.#stem = stemOf(ms, micros);
  }

  #makeEnding(): string {
    return (this.#endings[this.#nanos] = `${threeDigits(this.#nanos)}Z`);
  }
}

const stemOf = (ms: number, micros: number): string =>
  new Date(ms).toISOString().slice(0, MS_LENGTH) + threeDigits(micros);

const threeDigits = (value: number): string => String(value).padStart(3, "0");
