import { SystemClock } from "../../clock/index.ts";
import { messageOf } from "../../internal/foreign-value.ts";
import { withDeadline, type WaitOptions } from "./deadline.ts";

/** Options of {@link eventually}. */
export interface EventuallyOptions extends WaitOptions {
  /** Pause between two attempts. Unit: milliseconds. Default: 10. */
  readonly intervalMs?: number | undefined;
}

/**
 * Calls `fn` until it does not throw, and resolves to what it returned. For what no watch can tell; resources are
 * better awaited with `assertResource`.
 *
 * @throws an error that carries the last failure when time is up, or the signal's reason.
 */
export async function eventually<T>(fn: () => T | Promise<T>, options: EventuallyOptions = {}): Promise<T> {
  const { intervalMs = 10, clock = new SystemClock() } = options;
  let last: unknown = new Error("the first attempt did not end");
  const failure = (limit: string) => new Error(`not met ${limit}: ${messageOf(last)}`, { cause: last });
  return withDeadline(options, failure, async (signal) => {
    for (;;) {
      try {
        return await fn();
      } catch (error) {
        last = error;
      }
      await clock.sleep(intervalMs, { signal });
    }
  });
}
