import type { Clock, SleepOptions } from "./clock.ts";

/** Builds {@link Clock.sleep} from {@link Clock.schedule}; the abort listener is removed as soon as either ends. */
export function sleepOn(clock: Pick<Clock, "schedule">, delayMs: number, options: SleepOptions = {}): Promise<void> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.schedule(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
