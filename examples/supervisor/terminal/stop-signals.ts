/** A repetition within this time is the same request: npm passes on the Ctrl-C that the terminal has sent already. Unit: milliseconds. */
const REPEAT_MS = 500;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Requests to stop, by signals. Disposing leaves signals to their default again. */
export class StopSignals implements Disposable {
  readonly #stop = new AbortController();
  readonly #force = new AbortController();
  /** Aborts at the first request. */
  readonly stop = this.#stop.signal;
  /** Aborts at the second request: everything ends now. */
  readonly force = this.#force.signal;
  #lastMs = Number.NEGATIVE_INFINITY;
  readonly #listener = () => {
    const nowMs = performance.now();
    if (nowMs - this.#lastMs < REPEAT_MS) return;
    this.#lastMs = nowMs;
    (this.stop.aborted ? this.#force : this.#stop).abort();
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#listener);
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#listener);
  }
}
