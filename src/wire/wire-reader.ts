import type { TextCache } from "./text-cache.ts";

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Groups, a form that is no longer written, may be nested this deep where they are skipped. */
const MAX_GROUP_DEPTH = 100;

/** How the value of a field is written. */
const WireType = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

/** The bytes are no message. */
export class WireError extends Error {
  override readonly name: string = "WireError";
}

/**
 * Reads protobuf's wire format. Every read is checked against the end of the message at hand, so that no byte sequence
 * does worse than a {@link WireError}.
 *
 * ```ts
 * for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
 *   if (tag === 0x0a) name = reader.string();
 *   else reader.skip(tag);
 * }
 * ```
 */
export class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #end: number;

  constructor(bytes: Uint8Array) {
    // Views of Node's own kind of arrays take several times as long to make.
    this.#bytes =
      bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#end = bytes.length;
  }

  /** Nothing is left of the message. */
  get atEnd(): boolean {
    return this.#at === this.#end;
  }

  /** Number of the next field times 8, plus its wire type; 0 at the end of the message. */
  tag(): number {
    if (this.#at === this.#end) return 0;
    const tag = this.uint32();
    if (tag >>> 3 === 0) throw new WireError("malformed message: a field has the number 0");
    return tag;
  }

  /** A varint; of a longer one the lowest 32 bits, without sign. */
  uint32(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#byte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new WireError("malformed message: a number is longer than ten bytes");
  }

  /** A varint; of a longer one the lowest 32 bits, with sign. */
  int32(): number {
    return this.uint32() | 0;
  }

  /** A varint with all its 64 bits, without sign. */
  uint64(): bigint {
    let [low, middle, high] = [0, 0, 0];
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte();
      if (i < 4) low += (byte & 0x7f) * 2 ** (7 * i);
      else if (i < 8) middle += (byte & 0x7f) * 2 ** (7 * (i - 4));
      else high += (byte & 0x7f) * 2 ** (7 * (i - 8));
      if (byte < 0x80) return BigInt.asUintN(64, BigInt(low) | (BigInt(middle) << 28n) | (BigInt(high) << 56n));
    }
    throw new WireError("malformed message: a number is longer than ten bytes");
  }

  /** A varint in two's complement of 64 bits; beyond ±2^53 the nearest number. */
  int64(): number {
    const start = this.#at;
    let value = 0;
    // Seven bytes hold 49 bits, which a number holds exactly; only longer ones need more than that.
    for (let unit = 1; unit < 2 ** 49; unit *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
    this.#at = start;
    return Number(BigInt.asIntN(64, this.uint64()));
  }

  bool(): boolean {
    return this.int64() !== 0;
  }

  /** A view of the bytes of a field: copy what is kept. */
  bytes(): Uint8Array {
    const length = this.#length();
    const at = this.#at;
    this.#at = at + length;
    return this.#bytes.subarray(at, at + length);
  }

  /**
   * @param cache - Looked at first, for texts that come often.
   * @throws {WireError} when the text is not valid UTF-8.
   */
  string(cache?: TextCache): string {
    const length = this.#length();
    if (length === 0) return "";
    if (cache === undefined) return this.#text(length);
    const from = this.#at;
    const known = cache.find(this.#bytes, from, length);
    if (known !== undefined) {
      this.#at = from + length;
      return known;
    }
    const text = this.#text(length);
    cache.keep(this.#bytes, from, length, text);
    return text;
  }

  /** What is left of the message: a view. */
  rest(): Uint8Array {
    const at = this.#at;
    this.#at = this.#end;
    return this.#bytes.subarray(at, this.#end);
  }

  /** What is left of the message, as text. @throws {WireError} when it is not valid UTF-8. */
  restAsText(): string {
    return this.#text(this.#end - this.#at);
  }

  /** Begins the message inside a field; give the result to {@link leave} when {@link tag} has returned 0. */
  enter(): number {
    const length = this.#length();
    const outer = this.#end;
    this.#end = this.#at + length;
    return outer;
  }

  /** Goes on behind the message that {@link enter} began. */
  leave(outer: number): void {
    this.#at = this.#end;
    this.#end = outer;
  }

  /** Passes over the value of a field that is not known. */
  skip(tag: number): void {
    this.#skip(tag, 0);
  }

  #skip(tag: number, depth: number): void {
    switch (tag & 7) {
      case WireType.varint:
        this.uint32();
        return;
      case WireType.fixed64:
        return this.#advance(8);
      case WireType.bytes:
        return this.#advance(this.#length());
      case WireType.fixed32:
        return this.#advance(4);
      case WireType.startGroup:
        return this.#skipGroup(tag, depth);
      default:
        throw new WireError(`malformed message: a field has the wire type ${tag & 7}`);
    }
  }

  #skipGroup(start: number, depth: number): void {
    if (depth === MAX_GROUP_DEPTH)
      throw new WireError(`malformed message: groups are nested deeper than ${MAX_GROUP_DEPTH}`);
    for (let tag = this.tag(); tag !== 0; tag = this.tag()) {
      if ((tag & 7) !== WireType.endGroup) this.#skip(tag, depth + 1);
      else if (tag >>> 3 === start >>> 3) return;
      else break;
    }
    throw new WireError("malformed message: a group does not end");
  }

  #text(length: number): string {
    const start = this.#at;
    this.#at = start + length;
    try {
      return length === 0 ? "" : UTF8.decode(this.#bytes.subarray(start, this.#at));
    } catch (cause) {
      throw new WireError("malformed message: a text is not valid UTF-8", { cause });
    }
  }

  #length(): number {
    const length = this.uint32();
    if (length > this.#end - this.#at) throw cutShort();
    return length;
  }

  #advance(count: number): void {
    if (count > this.#end - this.#at) throw cutShort();
    this.#at += count;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw cutShort();
    return this.#bytes[this.#at++] ?? 0;
  }
}

const cutShort = (): WireError => new WireError("malformed message: it ends in the middle of a field");
