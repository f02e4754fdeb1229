import { WireReader, WireWriter } from "../../wire/index.ts";
import type { Immutable, SpecCodec } from "../../resource/index.ts";
import type { IntSpec, PathSpec, TextSpec } from "./conformance-specs.ts";

// The encodings by which the suites of COSI in Go know these types. None of them is a protobuf message: a spec may be
// any bytes.

/** Always empty; anything else is refused. */
export const pathCodec: SpecCodec<PathSpec> = Object.freeze({
  encode(): Uint8Array {
    return new Uint8Array(0);
  },
  decode(bytes: Uint8Array): PathSpec {
    if (bytes.length === 0) return {};
    throw new TypeError(`a path has no content, got ${bytes.length} bytes`);
  },
});

/** Below this a number has no more than 48 bits, zig-zag form included, and seven bytes as a varint. */
const EXACT = 2 ** 47;
const EXACT_BYTES = 7;

const decodeShort = (zigzag: number): number => (zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2);
/** The schema refuses what cannot be exact. */
const decodeLong = (zigzag: bigint): number => Number(zigzag % 2n === 0n ? zigzag / 2n : -(zigzag + 1n) / 2n);

/** One zig-zag varint, nothing around it. No bytes are 0. */
export const intCodec: SpecCodec<IntSpec> = Object.freeze({
  encode({ value }: Immutable<IntSpec>): Uint8Array {
    const writer = new WireWriter(10);
    if (Math.abs(value) < EXACT) writer.int64(value < 0 ? -2 * value - 1 : 2 * value);
    else writer.uint64(value < 0 ? -2n * BigInt(value) - 1n : 2n * BigInt(value));
    return writer.take();
  },
  decode(bytes: Uint8Array): unknown {
    if (bytes.length === 0) return { value: 0 };
    const reader = new WireReader(bytes);
    const value = bytes.length <= EXACT_BYTES ? decodeShort(reader.int64()) : decodeLong(reader.uint64());
    if (!reader.atEnd) throw new TypeError("there are bytes behind the number");
    return { value };
  },
});

/** The text in UTF-8, nothing around it. */
export const textCodec: SpecCodec<TextSpec> = Object.freeze({
  encode({ value }: Immutable<TextSpec>): Uint8Array {
    const writer = new WireWriter();
    writer.utf8(value);
    return writer.take();
  },
  decode(bytes: Uint8Array): TextSpec {
    return { value: new WireReader(bytes).restAsText() };
  },
});
