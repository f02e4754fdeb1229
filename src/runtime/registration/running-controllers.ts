import { endsWithin, type Clock } from "../../clock/index.ts";
import { toError } from "../../internal/to-error.ts";
import type { Adapter } from "../adapter.ts";
import { StopTimeoutError } from "../../internal/stop-timeout-error.ts";

/** The adapters that were started, until they have ended. */
export class RunningControllers {
  readonly #ends = new Map<Adapter, Promise<void>>();
  readonly #onFailure: (error: Error, thrown: unknown) => void;

  /** @param onFailure - Takes what is no controller's: what a controller throws is its adapter's business. */
  constructor(onFailure: (error: Error, thrown: unknown) => void) {
    this.#onFailure = onFailure;
  }

  start(adapter: Adapter): void {
    const ended = adapter
      .start()
      .catch((error: unknown) =>
        this.#onFailure(toError(error, `the adapter of controller ${JSON.stringify(adapter.name)}`), error),
      )
      .finally(() => this.#ends.delete(adapter));
    this.#ends.set(adapter, ended);
  }

  /** Stops all. Resolves when they have ended. */
  async stop(reason: unknown): Promise<void> {
    for (const adapter of this.#ends.keys()) adapter.stop(reason);
    await Promise.all(this.#ends.values());
  }

  /** Stops one. @throws {StopTimeoutError} when it has not ended within the time. */
  async stopOne(adapter: Adapter, reason: unknown, clock: Clock, graceMs: number): Promise<void> {
    const ended = this.#ends.get(adapter);
    if (ended === undefined) return;
    adapter.stop(reason);
    if (await endsWithin(clock, graceMs, ended)) return;
    throw new StopTimeoutError(`controller ${JSON.stringify(adapter.name)}`, [describe(adapter)], graceMs);
  }

  /** Those that have not ended, each with what it does. */
  blockers(): readonly string[] {
    return [...this.#ends.keys()].map(describe);
  }
}

function describe(adapter: Adapter): string {
  const doing = [...adapter.activities(), ...adapter.unanswered()];
  return `controller ${JSON.stringify(adapter.name)} (${doing.join(", ")})`;
}
