import type { Clock, Timer } from "../../clock/index.ts";
import { GrpcError } from "../grpc-error.ts";
import { parseTimeout } from "../grpc-timeout.ts";
import { Status } from "../status.ts";

/** The time that a client gives its call, if it gives one. */
export class CallDeadline {
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #at: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds that are left; undefined without a deadline. */
  get remainingMs(): number | undefined {
    return this.#at === undefined ? undefined : Math.max(0, this.#at - this.#clock.monotonic());
  }

  /**
   * @param timeout - The call's `grpc-timeout`.
   * @param onExpired - Called once, at once when there is no time at all.
   * @returns false when there is no time at all.
   * @throws {GrpcError} INTERNAL for a malformed header.
   */
  start(timeout: string, onExpired: () => void): boolean {
    const ms = parseTimeout(timeout);
    if (ms === undefined) {
      throw new GrpcError(Status.internal, `malformed grpc-timeout ${JSON.stringify(timeout.slice(0, 20))}`);
    }
    if (ms === 0) {
      onExpired();
      return false;
    }
    this.#at = this.#clock.monotonic() + ms;
    this.#timer = this.#clock.schedule(ms, onExpired);
    return true;
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
