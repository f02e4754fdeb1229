/** Runs one thing after the other. A failure is its caller's; the next one runs all the same. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(fn: () => Promise<T>): Promise<T> {
    const result = this.#last.then(fn);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
