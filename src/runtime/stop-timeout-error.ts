/** A runtime was stopped and has given up waiting: what is named here goes on by itself. */
export class StopTimeoutError extends Error {
  override readonly name: string = "StopTimeoutError";
  /** What has not ended: controllers, each with what it does and which calls of the State it waits for; watches. */
  readonly blockers: readonly string[];

  constructor(blockers: readonly string[], graceMs: number) {
    super(`the runtime did not stop within ${graceMs} ms: ${blockers.join("; ")}`);
    this.blockers = blockers;
  }
}
