/** One wait: asked after each change, and ended from outside. */
interface Wait {
  check(): void;
  fail(error: unknown): void;
}

/** Those who wait until something holds for a cache. */
export class CacheWaits {
  readonly #waits = new Set<Wait>();
  #failure: { readonly error: unknown } | undefined;

  /** Resolves when `holds` does, which is asked at each {@link check}. Rejects with the signal's reason. */
  until(holds: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waits.delete(wait);
        signal?.removeEventListener("abort", onAbort);
      };
      const wait: Wait = {
        check: () => {
          if (!holds()) return;
          end();
          resolve();
        },
        fail: (error) => {
          end();
          reject(error);
        },
      };
      const onAbort = (): void => wait.fail(signal?.reason);
      this.#waits.add(wait);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** The cache has changed. */
  check(): void {
    if (this.#waits.size > 0) for (const wait of this.#waits) wait.check();
  }

  /** Ends all waits, now and from now on. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    for (const wait of this.#waits) wait.fail(error);
  }
}
