/** Runs tasks one after another, in the order of the calls. A task that fails does not keep the next from running. */
export class SerialQueue {
  /** Settles, never with an error, when the last task has ended. */
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as the task does. It starts in a later microtask, also when nothing runs. */
  run<Result>(task: () => Result | Promise<Result>): Promise<Result> {
    const result = this.#last.then(task);
    // The caller gets the failure; the next task only waits for the end.
    this.#last = result.catch(() => undefined);
    return result;
  }
}
