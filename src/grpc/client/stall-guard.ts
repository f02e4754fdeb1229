import type { Clock, Timer } from "../../clock/index.ts";
import { GrpcError, type MessageStream, Status } from "../../rpc/index.ts";

/** Reads a stream, and cancels it when nothing comes for too long. One timer, however much comes. Dispose it. */
export class StallGuard implements Disposable {
  readonly #stream: MessageStream;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  #heardAt: number;
  #timer: Timer | undefined;
  #stalled = false;

  /** @param timeoutMs - Longest silence; `Infinity` for no limit. */
  constructor(stream: MessageStream, clock: Clock, timeoutMs: number) {
    this.#stream = stream;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#heardAt = clock.monotonic();
    if (timeoutMs !== Infinity) this.#timer = clock.schedule(timeoutMs, this.#check);
  }

  /**
   * The next messages, at least one; undefined after the last.
   *
   * @throws {GrpcError} The status of the stream; DEADLINE_EXCEEDED when nothing came in time.
   */
  async read(): Promise<readonly Uint8Array[] | undefined> {
    const messages = await this.#stream.read();
    if (this.#stalled) throw new GrpcError(Status.deadlineExceeded, `nothing came for ${this.#timeoutMs} ms`);
    this.#heardAt = this.#clock.monotonic();
    return messages;
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
  }

  readonly #check = (): void => {
    const leftMs = this.#heardAt + this.#timeoutMs - this.#clock.monotonic();
    if (leftMs > 0) {
      this.#timer = this.#clock.schedule(leftMs, this.#check);
      return;
    }
    this.#stalled = true;
    this.#stream.cancel();
  };
}
