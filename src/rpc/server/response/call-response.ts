import { GrpcError } from "../../grpc-error.ts";
import type { ServerStream } from "../../http2/http2.ts";
import { FramedMessages, frameMessages } from "../../message-frame.ts";
import { checkMetadataSize, encodeMetadata, type HeaderFields, type MetadataInit } from "../../metadata.ts";
import { Status } from "../../status.ts";
import type { CallHost, CallLimits } from "../call-host.ts";
import type { OutgoingBudget } from "./outgoing-budget.ts";
import { OutgoingMessages, PIECE_BYTES } from "./outgoing-messages.ts";
import { okTrailers, statusTrailers } from "./status-trailers.ts";

/**
 * What a call sends back. What it has to send counts in the budget of its connection until it has left, and from the
 * start of its handler to the first of it something for what may come.
 */
export class CallResponse {
  readonly #path: string;
  readonly #stream: ServerStream;
  readonly #headers: HeaderFields;
  readonly #budget: OutgoingBudget;
  readonly #limits: CallLimits;
  #outgoing: OutgoingMessages | undefined;
  #trailers: HeaderFields | undefined;
  /** What the budget counts for this call beside its messages. */
  #reservedBytes = 0;
  #heldBytes = 0;
  /** True when the whole response has been given to the stream, without {@link OutgoingMessages}. */
  #finished = false;
  #asked = false;

  constructor(path: string, stream: ServerStream, budget: OutgoingBudget, host: CallHost) {
    this.#path = path;
    this.#stream = stream;
    this.#headers = host.responseHeaders;
    this.#budget = budget;
    this.#limits = host.limits;
  }

  /** True when messages may have been sent. */
  get isOpen(): boolean {
    return this.#outgoing !== undefined;
  }

  /** True while a piece is on its way. */
  get isWriting(): boolean {
    return this.#outgoing?.isWriting === true;
  }

  get hasRoom(): boolean {
    return this.#outgoing === undefined ? this.#budget.hasRoom : this.#outgoing.hasRoom;
  }

  /** Whether bytes wait of which none has left since this was last asked. */
  isStuck(): boolean {
    if (this.#outgoing !== undefined) return this.#outgoing.isStuck();
    const isStuck = this.#asked && this.#finished && this.#reservedBytes > 0;
    this.#asked = true;
    return isStuck;
  }

  /** Counts so much in the budget for what the handler keeps until it is sent, in place of what it kept before. */
  hold(bytes: number): void {
    if (bytes === this.#heldBytes) return;
    this.#budget.add(bytes - this.#heldBytes);
    this.#heldBytes = bytes;
  }

  /** Counts so much in the budget, in place of what was reserved before. */
  reserve(bytes: number): void {
    if (bytes === this.#reservedBytes) return;
    this.#budget.add(bytes - this.#reservedBytes);
    this.#reservedBytes = bytes;
  }

  setTrailers(metadata: MetadataInit): void {
    const headers = encodeMetadata(metadata);
    checkMetadataSize(headers);
    this.#trailers = headers;
  }

  /** @throws {GrpcError} RESOURCE_EXHAUSTED for a message that is too large. */
  check(message: Uint8Array | FramedMessages): void {
    const { length } = message instanceof FramedMessages ? message.bytes : message;
    const { maxSentMessageBytes } = this.#limits;
    if (length <= maxSentMessageBytes) return;
    throw new GrpcError(
      Status.resourceExhausted,
      `a message of ${length} bytes is larger than the ${maxSentMessageBytes} that are sent`,
    );
  }

  /** True when more may follow at once. @throws {GrpcError} RESOURCE_EXHAUSTED when too much waits already. */
  send(messages: readonly (Uint8Array | FramedMessages)[]): boolean {
    const outgoing = this.#open();
    if (outgoing.queuedBytes >= this.#limits.maxQueuedBytes) {
      throw new GrpcError(
        Status.resourceExhausted,
        `${outgoing.queuedBytes} bytes wait to be sent: the handler has to wait for drained()`,
      );
    }
    for (const message of messages) outgoing.push(message);
    this.reserve(0);
    return outgoing.hasRoom;
  }

  /** Sends the headers, ahead of any message. */
  begin(): void {
    this.#open().begin();
  }

  drained(): Promise<void> {
    return this.#open().drained();
  }

  /** Ends a unary call. @throws {TypeError | GrpcError} when the result is no message that can be sent. */
  finishUnary(result: unknown): void {
    if (!(result instanceof Uint8Array)) throw new TypeError(`the handler of ${this.#path} gave no bytes`);
    this.check(result);
    if (this.#outgoing === undefined && result.length < PIECE_BYTES) {
      const frame = frameMessages([result]);
      this.reserve(frame.length);
      this.#finished = true;
      this.#stream.respond(this.#headers);
      this.#stream.finish(frame, okTrailers(this.#trailers), () => this.reserve(0));
    } else {
      this.send([result]);
      this.finish();
    }
  }

  /** Ends the call with OK, behind all that was sent. */
  finish(): void {
    this.reserve(0);
    this.#open().finish(okTrailers(this.#trailers));
  }

  fail(error: GrpcError): void {
    this.reserve(0);
    const trailers = statusTrailers(error, this.#trailers);
    if (this.#outgoing === undefined) this.#stream.refuse({ ...this.#headers, ...trailers });
    else this.#outgoing.finish(trailers);
  }

  /** Drops what waits: it reaches the client no more. */
  stop(reason: GrpcError): void {
    this.#outgoing?.stop(reason);
  }

  #open(): OutgoingMessages {
    return (this.#outgoing ??= new OutgoingMessages(this.#stream, this.#headers, this.#budget));
  }
}
