import type { RunContext } from "../controller.ts";

/** Lets something outside the state wake a loop: one value, one cycle. */
export class Wakers implements Disposable {
  readonly #stop = new AbortController();
  #begun: PromiseWithResolvers<void> = Promise.withResolvers();
  #failure: { readonly error: unknown } | undefined;

  constructor(
    source: ((signal: AbortSignal) => AsyncIterable<unknown>) | undefined,
    { queueReconcile }: Pick<RunContext, "queueReconcile">,
  ) {
    if (source !== undefined) void this.#pump(source, queueReconcile);
  }

  /** @throws what the source threw. */
  cycleBegins(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    const begun = this.#begun;
    this.#begun = Promise.withResolvers();
    begun.resolve();
  }

  /** Never rejects: its failure is the next cycle's. */
  async #pump(source: (signal: AbortSignal) => AsyncIterable<unknown>, wake: () => void): Promise<void> {
    const { signal } = this.#stop;
    try {
      for await (const _ of source(signal)) {
        if (signal.aborted) return;
        const { promise } = this.#begun;
        wake();
        await promise;
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#failure = { error };
      wake();
    }
  }

  /** Does not wait for the source: one that ignores its signal must not hold up the loop's end. */
  [Symbol.dispose](): void {
    this.#stop.abort();
    this.#begun.resolve();
  }
}
