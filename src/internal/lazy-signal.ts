/** A signal that costs nothing until someone asks for it: most calls end without being cancelled, or watched for it. */
export class LazySignal {
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  get aborted(): boolean {
    return this.#aborted !== undefined;
  }

  /** Why it was aborted; undefined when it was not. */
  get reason(): unknown {
    return this.#aborted?.reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /** The signal, if it was ever asked for. */
  get asked(): AbortSignal | undefined {
    return this.#controller?.signal;
  }

  /** Aborts it. The first reason counts. @returns false when it was aborted before. */
  abort(reason: unknown): boolean {
    if (this.#aborted !== undefined) return false;
    this.#aborted = { reason };
    this.#controller?.abort(reason);
    return true;
  }
}
