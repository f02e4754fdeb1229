import type { CallHost } from "../call-host.ts";
import { GrpcError } from "../../grpc-error.ts";
import { COMPRESSED, MessageReader, PREFIX_BYTES, readPrefix } from "../../message-frame.ts";
import { parseEncoding } from "./message-inflater.ts";
import { Status } from "../../status.ts";

const NO_MESSAGE = new Uint8Array(0);

/**
 * The one message of a request, from its first piece until it can be handed to a handler. What it holds counts towards
 * the connection's bound: the pieces until {@link handOver}, what inflation added until {@link release}, as a few
 * bytes of a compressed message may stand for megabytes.
 */
export class RequestMessage {
  /** The message, once it is complete. */
  bytes: Uint8Array = NO_MESSAGE;
  readonly #path: string;
  readonly #host: CallHost;
  readonly #encoding: string | undefined;
  #reader: MessageReader | undefined;
  #count = 0;
  #isCompressed = false;
  #receivedBytes = 0;
  #inflatedBytes = 0;
  #isReleased = false;

  /**
   * @param encoding - The call's `grpc-encoding`; undefined for none.
   * @throws {GrpcError} UNIMPLEMENTED for an encoding that is not supported.
   */
  constructor(path: string, encoding: string | undefined, host: CallHost) {
    this.#path = path;
    this.#host = host;
    this.#encoding = encoding === undefined ? undefined : parseEncoding(encoding);
  }

  /** True for a complete message that has to be inflated. */
  get isCompressed(): boolean {
    return this.#isCompressed;
  }

  /**
   * Adds a piece of the body.
   *
   * @throws {GrpcError} RESOURCE_EXHAUSTED for a message above its bound, or a connection above its own; UNIMPLEMENTED
   *   for a second message; INTERNAL for what is no frame.
   */
  push(piece: Uint8Array): void {
    this.#receivedBytes += piece.length;
    this.#host.receive(piece.length);
    const { maxReceivedMessageBytes } = this.#host.limits;
    if (this.#count === 0 && this.#reader === undefined && piece.length >= PREFIX_BYTES) {
      // Nearly always the message arrives whole, in one piece.
      const length = readPrefix(piece, 0, maxReceivedMessageBytes);
      if (piece.length === PREFIX_BYTES + length) {
        this.#take(piece.subarray(PREFIX_BYTES), piece[0] === COMPRESSED);
        return;
      }
    }
    this.#reader ??= new MessageReader(maxReceivedMessageBytes, true);
    const messages: Uint8Array[] = [];
    this.#reader.push(piece, messages);
    for (const message of messages) this.#take(message, this.#reader.isCompressed);
  }

  /** The body is over. @throws {GrpcError} INTERNAL or UNIMPLEMENTED when it holds no whole message. */
  end(): void {
    if (this.#reader !== undefined && this.#reader.heldBytes > 0) {
      throw new GrpcError(Status.internal, "the request ends in the middle of a message");
    }
    if (this.#count > 0) return;
    throw new GrpcError(Status.unimplemented, `${this.#path} takes one message, the request has none`);
  }

  /**
   * Inflates a compressed message; does nothing when the call is over by the time it is its turn.
   *
   * @throws {GrpcError} As the connection's inflater, and RESOURCE_EXHAUSTED as {@link push}.
   */
  async inflate(): Promise<void> {
    const inflated = await this.#host.inflater.inflate(
      () => (this.#isReleased ? undefined : this.bytes),
      this.#encoding,
    );
    if (inflated === undefined || this.#isReleased) return;
    this.#isCompressed = false;
    this.#inflatedBytes = inflated.length;
    this.#host.receive(inflated.length);
    this.bytes = inflated;
  }

  /**
   * The handler has the message now: the pieces that it came in count no longer.
   *
   * @param staysLong - Whether the call may last: then it must not keep alive what else came with its message.
   */
  handOver(staysLong: boolean): void {
    if (staysLong) this.bytes = new Uint8Array(this.bytes);
    this.#stopCounting();
  }

  #stopCounting(): void {
    this.#host.receive(-this.#receivedBytes);
    this.#receivedBytes = 0;
  }

  /** The call is over: nothing of it counts any longer. */
  release(): void {
    this.#stopCounting();
    this.#host.receive(-this.#inflatedBytes);
    this.#inflatedBytes = 0;
    this.#isReleased = true;
    // It may wait for its turn to be inflated; what has been handed over is the handler's.
    if (this.#isCompressed) this.bytes = NO_MESSAGE;
  }

  #take(message: Uint8Array, isCompressed: boolean): void {
    if (++this.#count > 1) {
      throw new GrpcError(Status.unimplemented, `${this.#path} takes one message, the request has more`);
    }
    this.bytes = message;
    this.#isCompressed = isCompressed;
  }
}
