import type { Watch } from "../../state/index.ts";

/**
 * How a watch goes wrong that opens well. `silent`: it delivers nothing, not even its end. `ends`: it ends without a
 * word. `stuck`: its disposal never resolves.
 */
export const WATCH_FAULTS = ["silent", "ends", "stuck"] as const;
/** What is wrong with a watch that has opened: see the constants. */
export type WatchFault = (typeof WATCH_FAULTS)[number];

const DONE = { done: true, value: undefined } as const;

/** A watch that can only be iterated, and goes wrong as it is told; without a fault it goes well. */
export class DeafWatch<T> implements Watch<T> {
  readonly #watch: Watch<T>;
  readonly #fault: WatchFault | undefined;
  readonly #recovered: Promise<void>;

  /** @param recovered - Resolves when what hangs is to end. Default: at once. */
  constructor(watch: Watch<T>, fault?: WatchFault, recovered: Promise<void> = Promise.resolve()) {
    this.#watch = watch;
    this.#fault = fault;
    this.#recovered = recovered;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    if (this.#fault === "ends") return DONE;
    if (this.#fault === "silent") await this.#recovered;
    return this.#watch.next();
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    await this[Symbol.asyncDispose]();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#fault === "stuck") await this.#recovered;
    await this.#watch[Symbol.asyncDispose]();
  }
}
