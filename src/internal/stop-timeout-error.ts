/** Something was stopped and did not end in time: what is named here goes on by itself. */
export class StopTimeoutError extends Error {
  override readonly name: string = "StopTimeoutError";
  /** What has not ended: controllers, each with what it does and which calls of the State it waits for; watches; tasks. */
  readonly blockers: readonly string[];

  /** @param what - What was stopped: the runtime, one controller, a task or its runner. */
  constructor(what: string, blockers: readonly string[], graceMs: number) {
    super(`${what} did not stop within ${graceMs} ms: ${blockers.join("; ")}`);
    this.blockers = blockers;
  }
}
