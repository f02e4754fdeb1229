import type { Clock } from "../clock/index.ts";
import type { Adapter } from "./adapter.ts";

/** A runtime, or one of its controllers, was stopped and did not end in time: what is named here goes on by itself. */
export class StopTimeoutError extends Error {
  override readonly name: string = "StopTimeoutError";
  /** What has not ended: controllers, each with what it does and which calls of the State it waits for; watches. */
  readonly blockers: readonly string[];

  /** @param what - What was stopped: the runtime, or one controller. */
  constructor(what: string, blockers: readonly string[], graceMs: number) {
    super(`${what} did not stop within ${graceMs} ms: ${blockers.join("; ")}`);
    this.blockers = blockers;
  }
}

/** A controller that has not ended, and what it does. */
export function describeBlocker(adapter: Adapter): string {
  const doing = [...adapter.activities(), ...adapter.unanswered()];
  return `controller ${JSON.stringify(adapter.name)} (${doing.join(", ")})`;
}

/** False when the time, which may be endless, passes first. */
export async function endsWithin(clock: Clock, ms: number, ended: Promise<void>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  using _timer = ms === Infinity ? undefined : clock.schedule(ms, () => resolve(false));
  return await Promise.race([ended.then(() => true), late]);
}
