/** A repetition within this time is the same wish: npm passes on the Ctrl-C that the terminal has sent already. Unit: milliseconds. */
const SAME_WISH_MS = 500;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Wishes to stop, by signals. Disposing leaves signals to their default again. */
export class StopSignals implements Disposable {
  readonly first: Promise<void>;
  readonly second: Promise<void>;
  readonly #resolve: (() => void)[] = [];
  #count = 0;
  #since = new Date(8.64e15);
  #lastMs = Number.NEGATIVE_INFINITY;
  readonly #listener = () => {
    const nowMs = performance.now();
    if (nowMs - this.#lastMs < SAME_WISH_MS) return;
    this.#lastMs = nowMs;
    if (this.#count === 0) this.#since = new Date();
    this.#count += 1;
    this.#resolve[Math.min(this.#count, 2) - 1]?.();
  };

  constructor() {
    this.first = new Promise((resolve) => this.#resolve.push(resolve));
    this.second = new Promise((resolve) => this.#resolve.push(resolve));
    for (const signal of SIGNALS) process.on(signal, this.#listener);
  }

  get count(): number {
    return this.#count;
  }

  /** When the first one came; the end of time before. */
  get since(): Date {
    return this.#since;
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#listener);
  }
}
