/** A repetition within this time is the same wish: npm passes on the Ctrl-C that the terminal has sent already. Unit: milliseconds. */
const SAME_WISH_MS = 500;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Wishes to stop, by signals. Disposing leaves signals to their default again. */
export class StopSignals implements Disposable {
  /** Resolves at the first wish. */
  readonly first: Promise<void>;
  readonly #force = new AbortController();
  readonly #onFirst: () => void;
  #count = 0;
  #since = new Date(8.64e15);
  #lastMs = Number.NEGATIVE_INFINITY;
  readonly #listener = () => {
    const nowMs = performance.now();
    if (nowMs - this.#lastMs < SAME_WISH_MS) return;
    this.#lastMs = nowMs;
    if (this.#count === 0) this.#since = new Date();
    this.#count += 1;
    if (this.#count === 1) this.#onFirst();
    else this.#force.abort();
  };

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.first = promise;
    this.#onFirst = resolve;
    for (const signal of SIGNALS) process.on(signal, this.#listener);
  }

  /** Aborts at the second wish: no more patience. */
  get force(): AbortSignal {
    return this.#force.signal;
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
