import { WireReader } from "../internal/wire-reader.ts";
import { WireWriter } from "../internal/wire-writer.ts";
import type { Immutable, SpecCodec } from "../resource/index.ts";
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

/** One zig-zag varint, nothing around it. No bytes are 0. */
export const intCodec: SpecCodec<IntSpec> = Object.freeze({
  encode({ value }: Immutable<IntSpec>): Uint8Array {
    const writer = new WireWriter();
    const number = BigInt(value);
    writer.uint64(number < 0n ? -2n * number - 1n : 2n * number);
    return writer.take();
  },
  decode(bytes: Uint8Array): unknown {
    if (bytes.length === 0) return { value: 0 };
    const reader = new WireReader(bytes);
    const zigzag = reader.uint64();
    if (!reader.atEnd) throw new TypeError("there are bytes behind the number");
    // The schema refuses what cannot be exact.
    return { value: Number(zigzag % 2n === 0n ? zigzag / 2n : -(zigzag + 1n) / 2n) };
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
