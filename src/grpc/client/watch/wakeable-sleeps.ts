import type { Clock } from "../../../clock/index.ts";

/** Waits that end early when there is no more reason to wait. */
export class WakeableSleeps {
  readonly #clock: Clock;
  readonly #sleepers = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves after `delayMs`, or at the next {@link wake}. Rejects with the signal's reason. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const end = (): void => {
        timer.cancel();
        this.#sleepers.delete(onWake);
        signal.removeEventListener("abort", onAbort);
      };
      const onWake = (): void => {
        end();
        resolve();
      };
      const onAbort = (): void => {
        end();
        reject(signal.reason);
      };
      const timer = this.#clock.schedule(delayMs, onWake);
      this.#sleepers.add(onWake);
      signal.addEventListener("abort", onAbort);
    });
  }

  /** Ends all waits. */
  wake(): void {
    for (const wake of this.#sleepers) wake();
  }
}
