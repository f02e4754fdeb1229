const UTF8 = new TextEncoder();

/** Up to this length a loop over the characters is quicker than the platform's encoder. Unit: UTF-16 units. */
const SHORT_TEXT = 24;

/** A text cannot be sent: it has half a surrogate pair, which UTF-8 cannot express. */
export class UnencodableTextError extends TypeError {
  override readonly name: string = "UnencodableTextError";

  constructor() {
    super("a text with half a surrogate pair has no UTF-8 form");
  }
}

/**
 * Writes protobuf's wire format into one buffer that grows and is used again. It is for hot paths and for codecs that
 * must load nothing; all other messages are the protobuf library's.
 */
export class WireWriter {
  #bytes: Uint8Array;
  #at = 0;

  /** @param start - Bytes to begin in, or how many; the writer goes on elsewhere when they are full. */
  constructor(start: Uint8Array | number = 256) {
    this.#bytes = typeof start === "number" ? new Uint8Array(start) : start;
  }

  /** Bytes written since the last {@link finish}. */
  get length(): number {
    return this.#at;
  }

  /** A copy of what was written; the writer is empty afterwards. */
  finish(): Uint8Array {
    const bytes = this.#bytes.slice(0, this.#at);
    this.#at = 0;
    return bytes;
  }

  /** What was written, without a copy: true until something else is written. */
  take(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Forgets what was written: for a writer whose user failed half-way. */
  reset(): void {
    this.#at = 0;
  }

  /** A varint of at most 32 bits. Tags are such: number of the field times 8, plus the wire type. */
  uint32(value: number): void {
    this.#reserve(5);
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#at++] = rest;
  }

  /** A varint of a whole number within ±2^53; negative ones take ten bytes, as in two's complement of 64 bits. */
  int64(value: number): void {
    if (value < 0) return this.uint64(BigInt.asUintN(64, BigInt(value)));
    this.#reserve(8);
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#at++] = rest;
  }

  /** A varint of 64 bits, which must not be negative. */
  uint64(value: bigint): void {
    this.#reserve(10);
    let rest = value;
    while (rest > 0x7fn) {
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#at++] = Number(rest);
  }

  /** A text without tag and length. @throws {UnencodableTextError} */
  utf8(text: string): void {
    const { length } = text;
    this.#reserve(length * 3);
    let at = this.#at;
    if (length <= SHORT_TEXT) {
      let i = 0;
      for (; i < length; i++) {
        const unit = text.charCodeAt(i);
        if (unit > 0x7f) break;
        this.#bytes[at++] = unit;
      }
      if (i === length) {
        this.#at = at;
        return;
      }
    }
    at = this.#at;
    const { written } = UTF8.encodeInto(text, this.#bytes.subarray(at));
    // Only what is not ASCII can be ill-formed.
    if (written !== length && !text.isWellFormed()) throw new UnencodableTextError();
    this.#at = at + written;
  }

  /** Bytes without tag and length. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** A field that holds a text, also an empty one. @throws {UnencodableTextError} */
  stringField(tag: number, text: string): void {
    const mark = this.open(tag);
    this.utf8(text);
    this.close(mark);
  }

  /** A field that holds bytes, also none. */
  bytesField(tag: number, bytes: Uint8Array): void {
    this.uint32(tag);
    this.uint32(bytes.length);
    this.raw(bytes);
  }

  /** A field that holds a number of at most 32 bits, also 0. */
  uint32Field(tag: number, value: number): void {
    this.uint32(tag);
    this.uint32(value);
  }

  /** Begins a field whose length is known only at its end; give the result to {@link close}. */
  open(tag: number): number {
    this.uint32(tag);
    this.#reserve(1);
    return ++this.#at;
  }

  /** Ends the field that {@link open} began. */
  close(mark: number): void {
    const length = this.#at - mark;
    if (length <= 0x7f) {
      this.#bytes[mark - 1] = length;
      return;
    }
    // The length needs more than the byte that was left for it.
    const extra = sizeOfVarint(length) - 1;
    this.#reserve(extra);
    this.#bytes.copyWithin(mark + extra, mark, this.#at);
    this.#at = mark - 1;
    this.uint32(length);
    this.#at += length;
  }

  #reserve(count: number): void {
    const needed = this.#at + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
  }
}

/** Bytes that a number of at most 32 bits takes as a varint. */
export function sizeOfVarint(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}
