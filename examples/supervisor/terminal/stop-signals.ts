/** A repetition within this time is the same request: npm passes on the Ctrl-C that the terminal has sent already. Unit: milliseconds. */
const REPEAT_MS = 500;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Requests to stop, by signals. Disposing leaves signals to their default again. */
export class StopSignals implements Disposable {
  readonly #stop = new AbortController();
  readonly #force = new AbortController();
  #since = new Date(8.64e15);
  #lastMs = Number.NEGATIVE_INFINITY;
  readonly #listener = () => {
    const nowMs = performance.now();
    if (nowMs - this.#lastMs < REPEAT_MS) return;
    this.#lastMs = nowMs;
    if (this.stop.aborted) return this.#force.abort();
    this.#since = new Date();
    this.#stop.abort();
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#listener);
  }

  /** Aborts at the first request. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborts at the second request: everything ends now. */
  get force(): AbortSignal {
    return this.#force.signal;
  }

  /** When the first one came; the end of time before. */
  get since(): Date {
    return this.#since;
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#listener);
  }
}
