import type { HeaderFields } from "../../metadata.ts";
import { type FramedMessages, frameBeginning, PREFIX_BYTES, type WireBytes, writeFrame } from "../../message-frame.ts";
import type { ServerStream } from "../../http2/http2.ts";
import type { OutgoingBudget, RoomWaiter } from "./outgoing-budget.ts";

/** Messages are put together into pieces of about this size, and large ones are cut into them. Unit: bytes. */
export const PIECE_BYTES = 60_000;

/**
 * The messages of a stream on their way out. One piece is under way at a time, the next is put together from all that
 * has gathered meanwhile. What waits is counted here, in one place, and in the budget of the connection until it has
 * left: a waiter is woken whenever a piece has left and there is room, so no wake-up depends on when someone began to
 * wait.
 */
export class OutgoingMessages implements RoomWaiter {
  readonly #stream: ServerStream;
  readonly #headers: HeaderFields;
  readonly #budget: OutgoingBudget;
  /** Messages that are not framed yet, and bytes that are. */
  #queue: (Uint8Array | WireBytes)[] = [];
  /** Index of the first message in the queue that has not left yet. */
  #next = 0;
  #queuedBytes = 0;
  /** Size of the piece that is under way. */
  #sendingBytes = 0;
  /** True when a piece has left, or nothing waited, since this was last asked. */
  #moved = true;
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

  /** A stream of which nothing waits may send while the budget has any room; one that is behind, while it has ample. */
  get hasRoom(): boolean {
    if (this.#queuedBytes === 0 && !this.#writing) return this.#budget.hasRoom;
    return this.#queuedBytes < PIECE_BYTES && this.#budget.hasAmpleRoom;
  }

  /** Whether bytes wait here of which none has left since this was last asked. */
  isStuck(): boolean {
    const isStuck = this.#queuedBytes + this.#sendingBytes > 0 && !this.#moved;
    this.#moved = this.#queuedBytes + this.#sendingBytes === 0;
    return isStuck;
  }

  /** Sends the headers, unless they have left. */
  begin(): void {
    if (this.#responded) return;
    this.#responded = true;
    this.#stream.respond(this.#headers);
  }

  /** Adds a message; it leaves at the end of this turn of the event loop, or after the piece that is under way. */
  push(message: Uint8Array | FramedMessages): void {
    const bytes = frameBytes(message);
    if (bytes <= 2 * PIECE_BYTES) this.#queue.push(message);
    else this.#queue.push(...cut(message));
    this.#queuedBytes += bytes;
    this.#budget.add(bytes);
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
    this.#wakeWaiter();
    return this.#waiter.promise;
  }

  onRoom(): void {
    this.#wakeWaiter();
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
    this.#budget.add(-this.#queuedBytes);
    this.#queuedBytes = 0;
    this.#budget.forget(this);
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter === undefined) return;
    // Who has given up waiting meanwhile hears nothing.
    waiter.promise.catch(() => {});
    waiter.reject(reason);
  }

  #writePiece(): void {
    const piece = this.#takePiece();
    const isLast = this.#trailers !== undefined && this.#queuedBytes === 0;
    if (piece !== undefined) this.begin();
    if (isLast && this.#trailers !== undefined) {
      if (this.#responded) this.#stream.finish(piece, this.#trailers, this.#onWritten);
      else this.#stream.refuse({ ...this.#headers, ...this.#trailers });
    } else if (piece !== undefined) {
      this.#writing = true;
      this.#stream.write(piece, this.#onWritten);
    }
    this.#wakeWaiter();
  }

  /** A waiter whose own stream has caught up waits for the rest of the connection. */
  #wakeWaiter(): void {
    const waiter = this.#waiter;
    if (waiter === undefined) return;
    if (this.hasRoom) {
      this.#waiter = undefined;
      waiter.resolve();
    } else if (this.#queuedBytes === 0 && !this.#writing) {
      this.#budget.wait(this);
    }
  }

  readonly #onWritten = (): void => {
    const bytes = this.#sendingBytes;
    this.#sendingBytes = 0;
    this.#moved = true;
    this.#budget.add(-bytes);
    if (!this.#writing) return;
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
      end === this.#next + 1 && !(first instanceof Uint8Array) ? first.bytes : this.#join(this.#next, end, length);
    if (end === this.#queue.length) {
      this.#queue = [];
      this.#next = 0;
    } else {
      this.#next = end;
    }
    this.#queuedBytes -= length;
    this.#sendingBytes += length;
    return piece;
  }

  #join(from: number, to: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let at = 0;
    for (let index = from; index < to; index++) {
      const message = this.#queue[index];
      if (message === undefined) continue;
      if (message instanceof Uint8Array) {
        at = writeFrame(bytes, at, message);
      } else {
        bytes.set(message.bytes, at);
        at += message.bytes.length;
      }
    }
    return bytes;
  }
}

function frameBytes(message: Uint8Array | WireBytes): number {
  return message instanceof Uint8Array ? PREFIX_BYTES + message.length : message.bytes.length;
}

/** The pieces of a large message; only the first, with its prefix, is a copy. */
function cut(message: Uint8Array | FramedMessages): WireBytes[] {
  const pieces: WireBytes[] = [];
  let at = 0;
  const rest = message instanceof Uint8Array ? message : message.bytes;
  if (message instanceof Uint8Array) {
    at = PIECE_BYTES - PREFIX_BYTES;
    pieces.push({ bytes: frameBeginning(message, at) });
  }
  for (; at < rest.length; at += PIECE_BYTES) pieces.push({ bytes: rest.subarray(at, at + PIECE_BYTES) });
  return pieces;
}
