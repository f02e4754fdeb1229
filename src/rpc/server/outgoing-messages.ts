import type { HeaderFields } from "../metadata.ts";
import { FramedMessages, PREFIX_BYTES, writeFrame } from "../message-frame.ts";
import type { ServerStream } from "../http2/http2.ts";

/** Messages are put together into pieces of about this size. Unit: bytes. */
const PIECE_BYTES = 60_000;

/** Bytes that wait on all streams of a connection together. */
export interface OutgoingBudget {
  queuedBytes: number;
}

/** From here on a stream of the connection must have sent all it has before it takes more. Unit: bytes. */
const BUDGET_BYTES = 16 * 1024 * 1024;

/**
 * The messages of a stream on their way out. One piece is under way at a time, the next is put together from all that
 * has gathered meanwhile. What waits is counted here, in one place: a waiter is woken whenever a piece has left and
 * there is room, so no wake-up depends on when someone began to wait.
 */
export class OutgoingMessages {
  readonly #stream: ServerStream;
  readonly #headers: HeaderFields;
  readonly #budget: OutgoingBudget;
  #queue: (Uint8Array | FramedMessages)[] = [];
  /** Index of the first message in the queue that has not left yet. */
  #next = 0;
  #queuedBytes = 0;
  #responded = false;
  #scheduled = false;
  #writing = false;
  #trailers: HeaderFields | undefined;
  #waiter: PromiseWithResolvers<void> | undefined;

  /** @param headers - Sent before the first piece. */
  constructor(stream: ServerStream, headers: HeaderFields, budget: OutgoingBudget) {
    this.#stream = stream;
    this.#headers = headers;
    this.#budget = budget;
  }

  /** Bytes that wait, without the piece that is under way. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** True while a piece is under way. */
  get isWriting(): boolean {
    return this.#writing;
  }

  get hasRoom(): boolean {
    if (this.#queuedBytes === 0) return true;
    return this.#queuedBytes < PIECE_BYTES && this.#budget.queuedBytes < BUDGET_BYTES;
  }

  /** Adds a message; it leaves at the end of this turn of the event loop, or after the piece that is under way. */
  push(message: Uint8Array | FramedMessages): void {
    this.#queue.push(message);
    this.#count(frameBytes(message));
    if (this.#scheduled || this.#writing) return;
    this.#scheduled = true;
    process.nextTick(() => {
      this.#scheduled = false;
      if (!this.#writing) this.#writePiece();
    });
  }

  /** Resolves as soon as {@link hasRoom}; rejects when {@link stop} comes first. */
  drained(): Promise<void> {
    if (this.hasRoom) return Promise.resolve();
    this.#waiter ??= Promise.withResolvers();
    return this.#waiter.promise;
  }

  /** Ends the stream with these trailers, behind all that was pushed. */
  finish(trailers: HeaderFields): void {
    this.#trailers = trailers;
    if (!this.#writing && !this.#scheduled) this.#writePiece();
  }

  /** Drops what waits and rejects who waits. */
  stop(reason: Error): void {
    this.#queue = [];
    this.#next = 0;
    this.#count(-this.#queuedBytes);
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter === undefined) return;
    // Who has given up waiting meanwhile hears nothing.
    waiter.promise.catch(() => {});
    waiter.reject(reason);
  }

  #count(bytes: number): void {
    this.#queuedBytes += bytes;
    this.#budget.queuedBytes += bytes;
  }

  #writePiece(): void {
    const piece = this.#takePiece();
    const isLast = this.#trailers !== undefined && this.#queuedBytes === 0;
    if (piece !== undefined && !this.#responded) {
      this.#responded = true;
      this.#stream.respond(this.#headers);
    }
    if (isLast && this.#trailers !== undefined) {
      if (this.#responded) this.#stream.finish(piece, this.#trailers);
      else this.#stream.refuse({ ...this.#headers, ...this.#trailers });
    } else if (piece !== undefined) {
      this.#writing = true;
      this.#stream.write(piece, this.#onWritten);
    }
    if (this.#waiter !== undefined && this.hasRoom) {
      this.#waiter.resolve();
      this.#waiter = undefined;
    }
  }

  readonly #onWritten = (): void => {
    this.#writing = false;
    this.#writePiece();
  };

  /** The first messages of the queue as one piece: up to {@link PIECE_BYTES} of them, but one at least. */
  #takePiece(): Uint8Array | undefined {
    const first = this.#queue[this.#next];
    if (first === undefined) return undefined;
    let length = frameBytes(first);
    let end = this.#next + 1;
    for (let message = this.#queue[end]; message !== undefined; message = this.#queue[++end]) {
      const more = frameBytes(message);
      if (length + more > PIECE_BYTES) break;
      length += more;
    }
    const piece =
      end === this.#next + 1 && first instanceof FramedMessages ? first.bytes : this.#join(this.#next, end, length);
    if (end === this.#queue.length) {
      this.#queue = [];
      this.#next = 0;
    } else {
      this.#next = end;
    }
    this.#count(-length);
    return piece;
  }

  #join(from: number, to: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let at = 0;
    for (let index = from; index < to; index++) {
      const message = this.#queue[index];
      if (message instanceof FramedMessages) {
        bytes.set(message.bytes, at);
        at += message.bytes.length;
      } else if (message !== undefined) {
        at = writeFrame(bytes, at, message);
      }
    }
    return bytes;
  }
}

function frameBytes(message: Uint8Array | FramedMessages): number {
  return message instanceof FramedMessages ? message.bytes.length : PREFIX_BYTES + message.length;
}
