import { GrpcError } from "./grpc-error.ts";
import { Status } from "./status.ts";

const NOTHING = Buffer.alloc(0);

/** Each message on the wire is preceded by a flag for compression and its length, four bytes, largest first. */
export const PREFIX_BYTES = 5;

/** The flag of a compressed message. */
export const COMPRESSED = 1;

/** Bytes that go over the wire as they are: frames, or a part of one. */
export interface WireBytes {
  readonly bytes: Uint8Array;
}

/**
 * Messages that are framed for the wire already, for a receiver among many: framed once, the same bytes go out on every
 * stream without a copy. They must not change afterwards.
 */
export class FramedMessages implements WireBytes {
  readonly bytes: Uint8Array;

  /** @param messages - Encoded messages, at least one. */
  constructor(messages: readonly Uint8Array[]) {
    if (messages.length === 0) throw new RangeError("framed messages must be at least one");
    // Kept for long: not in the pool that small buffers share.
    this.bytes = new Uint8Array(frameMessages(messages));
  }
}

/** The messages with their prefixes, in one buffer. */
export function frameMessages(messages: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const message of messages) length += PREFIX_BYTES + message.length;
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const message of messages) at = writeFrame(bytes, at, message);
  return bytes;
}

/** The prefix of a message and its first `length` bytes. */
export function frameBeginning(message: Uint8Array, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message.subarray(0, length), PREFIX_BYTES);
  return bytes;
}

/** Writes one message with its prefix and returns the position behind it. */
export function writeFrame(bytes: Buffer, at: number, message: Uint8Array): number {
  bytes[at] = 0;
  bytes.writeUInt32BE(message.length, at + 1);
  bytes.set(message, at + PREFIX_BYTES);
  return at + PREFIX_BYTES + message.length;
}

/**
 * Takes the messages out of what arrives, in pieces of any size. A message that came in one piece is a view of it, so
 * that a small one may keep a large buffer alive: copy what is kept.
 */
export class MessageReader {
  readonly #limitBytes: number;
  readonly #acceptsCompressed: boolean;
  #isCompressed = false;
  /** Start of a frame that is not complete yet; as long as what has come of it, or up to twice that. */
  #held: Buffer = NOTHING;
  #heldBytes = 0;
  /** Length of the whole frame, or of its prefix as long as that is not complete. */
  #frameBytes = PREFIX_BYTES;

  /**
   * @param limitBytes - Longer messages are refused as soon as their prefix is there.
   * @param acceptsCompressed - Takes compressed messages as they are, for the caller to inflate. Default: false.
   */
  constructor(limitBytes: number, acceptsCompressed = false) {
    this.#limitBytes = limitBytes;
    this.#acceptsCompressed = acceptsCompressed;
  }

  /** True when the last prefix was that of a compressed message. */
  get isCompressed(): boolean {
    return this.#isCompressed;
  }

  /** Bytes of an incomplete message that wait here for the rest of it. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Adds what arrived, and the messages that it completes to `messages`.
   *
   * @throws {GrpcError} RESOURCE_EXHAUSTED for a message above the limit, UNIMPLEMENTED for a compressed one, INTERNAL
   *   for what is no frame at all. Nothing more can be read afterwards.
   */
  push(piece: Uint8Array, messages: Uint8Array[]): void {
    let at = this.#heldBytes === 0 ? 0 : this.#fillHeld(piece, messages);
    while (piece.length - at >= PREFIX_BYTES) {
      const end = at + PREFIX_BYTES + this.#readPrefix(piece, at);
      if (end > piece.length) {
        this.#frameBytes = end - at;
        break;
      }
      messages.push(piece.subarray(at + PREFIX_BYTES, end));
      at = end;
    }
    if (at < piece.length) this.#hold(piece, at, piece.length);
  }

  /** Completes the frame that is held, as far as `piece` goes. Returns the position behind what it took. */
  #fillHeld(piece: Uint8Array, messages: Uint8Array[]): number {
    let at = 0;
    if (this.#heldBytes < PREFIX_BYTES) {
      at = this.#hold(piece, 0, PREFIX_BYTES - this.#heldBytes);
      if (this.#heldBytes < PREFIX_BYTES) return at;
      this.#frameBytes = PREFIX_BYTES + this.#readPrefix(this.#held, 0);
    }
    at = this.#hold(piece, at, at + this.#frameBytes - this.#heldBytes);
    if (this.#heldBytes < this.#frameBytes) return at;
    messages.push(this.#held.subarray(PREFIX_BYTES, this.#frameBytes));
    this.#held = NOTHING;
    this.#heldBytes = 0;
    this.#frameBytes = PREFIX_BYTES;
    return at;
  }

  #readPrefix(bytes: Uint8Array, at: number): number {
    this.#isCompressed = bytes[at] === COMPRESSED;
    if (this.#isCompressed && !this.#acceptsCompressed) {
      throw new GrpcError(Status.unimplemented, "compressed messages are not supported");
    }
    return readPrefix(bytes, at, this.#limitBytes);
  }

  /** Copies bytes of `piece`, up to its end, behind what is held. Returns the position behind them. */
  #hold(piece: Uint8Array, from: number, to: number): number {
    const end = Math.min(to, piece.length);
    const length = this.#heldBytes + end - from;
    if (length > this.#held.length) {
      // The length in a prefix is only a claim: memory grows with what has really come.
      const grown = Buffer.allocUnsafe(Math.min(this.#frameBytes, 2 * length));
      grown.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = grown;
    }
    this.#held.set(piece.subarray(from, end), this.#heldBytes);
    this.#heldBytes = length;
    return end;
  }
}

/**
 * Length of the message, compressed or not, whose prefix is at `at`.
 *
 * @throws {GrpcError} RESOURCE_EXHAUSTED for a message above the limit, INTERNAL for what is no prefix.
 */
export function readPrefix(bytes: Uint8Array, at: number, limitBytes: number): number {
  const flag = bytes[at];
  if (flag !== 0 && flag !== COMPRESSED)
    throw new GrpcError(Status.internal, `a message starts with flag ${flag}, which does not exist`);
  const low = (byte(bytes, at + 2) << 16) | (byte(bytes, at + 3) << 8) | byte(bytes, at + 4);
  const length = byte(bytes, at + 1) * 0x1000000 + low;
  if (length > limitBytes) {
    throw new GrpcError(
      Status.resourceExhausted,
      `a message of ${length} bytes is larger than the ${limitBytes} that are accepted`,
    );
  }
  return length;
}

const byte = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0;
