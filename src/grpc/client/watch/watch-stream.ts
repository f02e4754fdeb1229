import type { Event } from "../../../state/index.ts";
import type { UnknownEvent } from "../../messages/event-decoder.ts";
import { GrpcError, type MessageStream, Status } from "../../../rpc/index.ts";

/** What a message of a watch says, or that it cannot be read. */
export type DecodeEvents = (message: Uint8Array) => readonly (Event | UnknownEvent)[];

const NO_MESSAGES: readonly Uint8Array[] = Object.freeze([]);

/** The stream of one Watch call, after its first message: that one only says that the watch is registered. */
export class WatchStream {
  readonly #stream: MessageStream;
  readonly #decode: DecodeEvents;
  #messages: readonly Uint8Array[];
  #next = 1;

  /** @param first - What the first read gave: the message that is passed over, and perhaps more. */
  constructor(stream: MessageStream, first: readonly Uint8Array[], decode: DecodeEvents) {
    this.#stream = stream;
    this.#messages = first;
    this.#decode = decode;
  }

  /**
   * The events of the next message that has come; there may be none in it. Undefined when no message is left.
   *
   * @throws When the message cannot be read.
   */
  take(): readonly (Event | UnknownEvent)[] | undefined {
    const message = this.#messages[this.#next++];
    // A quiet watch must not keep alive what its last messages came in.
    if (message === undefined) this.#messages = NO_MESSAGES;
    return message && this.#decode(message);
  }

  /** Waits for messages. @throws {GrpcError} When the stream ended, however it did. */
  async fill(): Promise<void> {
    const messages = await this.#stream.read();
    if (messages === undefined) throw new GrpcError(Status.unavailable, "the server ended the stream");
    this.#messages = messages;
    this.#next = 0;
  }

  /** Ends the call, if it is not over. */
  close(): void {
    this.#stream.cancel();
  }
}
