import { GrpcError } from "../../grpc-error.ts";
import type { ServerStream } from "../../http2/http2.ts";
import { MessageReader } from "../../message-frame.ts";
import { Status } from "../../status.ts";
import type { CallHost } from "../call-host.ts";

/** From here on the client is made to wait until the messages are read. Unit: bytes. */
const HIGH_WATER_BYTES = 64 * 1024;

/**
 * The messages of a request that goes on while it is handled. What was not read yet counts towards the connection's
 * bound, and makes the client wait: no more than the window of the stream and one message gather here.
 */
export class RequestMessages {
  readonly #stream: ServerStream;
  readonly #host: CallHost;
  readonly #reader: MessageReader;
  #queue: Uint8Array[] = [];
  /** Bytes that have come and were not read by the handler. */
  #heldBytes = 0;
  #isPaused = false;
  #isOver = false;
  #failure: { readonly reason: unknown } | undefined;
  #waiter: PromiseWithResolvers<readonly Uint8Array[] | undefined> | undefined;

  /** @throws {GrpcError} UNIMPLEMENTED for compressed messages. */
  constructor(stream: ServerStream, encoding: string | undefined, host: CallHost) {
    if (encoding !== undefined && encoding !== "identity") {
      throw new GrpcError(Status.unimplemented, "the messages of this method cannot be compressed");
    }
    this.#stream = stream;
    this.#host = host;
    this.#reader = new MessageReader(host.limits.maxReceivedMessageBytes);
  }

  /** See `DuplexCall.read`. */
  read(): Promise<readonly Uint8Array[] | undefined> {
    if (this.#waiter !== undefined) return Promise.reject(new Error("the request is being read already"));
    if (this.#failure !== undefined) return Promise.reject(this.#failure.reason);
    if (this.#queue.length > 0) return Promise.resolve(this.#take());
    if (this.#isOver) return Promise.resolve(undefined);
    this.#waiter = Promise.withResolvers();
    return this.#waiter.promise;
  }

  /** Adds a piece of the body. @throws {GrpcError} as `RequestMessage.push`. */
  push(piece: Uint8Array): void {
    if (this.#isOver) return;
    this.#heldBytes += piece.length;
    this.#host.receive(piece.length);
    this.#reader.push(piece, this.#queue);
    if (this.#queue.length > 0 && this.#waiter !== undefined) {
      const waiter = this.#waiter;
      this.#waiter = undefined;
      waiter.resolve(this.#take());
    } else if (this.#queue.length > 0 && this.#heldBytes > HIGH_WATER_BYTES && !this.#isPaused) {
      // Not before there is something to read: the rest of a large message must be able to come.
      this.#isPaused = true;
      this.#stream.pause();
    }
  }

  /** The body is over. @throws {GrpcError} INTERNAL when it ends in the middle of a message. */
  end(): void {
    if (this.#reader.heldBytes > 0 && !this.#isOver) {
      throw new GrpcError(Status.internal, "the request ends in the middle of a message");
    }
    this.stop();
  }

  /** Nothing more is read: what comes is dropped, what has come can still be read. */
  stop(): void {
    this.#isOver = true;
    if (this.#isPaused) this.#stream.resume();
    this.#isPaused = false;
    if (this.#queue.length > 0) return;
    this.#waiter?.resolve(undefined);
    this.#waiter = undefined;
  }

  /** The call is over: reads fail. */
  fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#waiter?.reject(reason);
    this.#waiter = undefined;
    this.release();
  }

  handOver(): void {
    // What was read is handed over message by message.
  }

  /** Nothing of it counts any longer. */
  release(): void {
    this.#isOver = true;
    this.#queue = [];
    this.#host.receive(-this.#heldBytes);
    this.#heldBytes = 0;
  }

  #take(): readonly Uint8Array[] {
    const messages = this.#queue;
    this.#queue = [];
    const readBytes = this.#heldBytes - this.#reader.heldBytes;
    this.#heldBytes -= readBytes;
    this.#host.receive(-readBytes);
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#stream.resume();
    }
    return messages;
  }
}
