import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { TextCache } from "./text-cache.ts";
import { WireError, WireReader } from "./wire-reader.ts";
import { sizeOfVarint, UnencodableTextError, WireWriter } from "./wire-writer.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

function written(write: (writer: WireWriter) => void): string {
  const writer = new WireWriter(1);
  write(writer);
  return hex(writer.finish());
}

const theirs = (write: (writer: BinaryWriter) => void): string => {
  const writer = new BinaryWriter();
  write(writer);
  return hex(writer.finish());
};

const uint32 = fc.oneof(
  fc.nat(),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  fc.constantFrom(0x7f, 0x80, 0x3fff, 0x4000),
);
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("\ufeff", "a".repeat(24), "a".repeat(25), "é".repeat(100)),
);

describe("WireWriter writes as the protobuf library does", () => {
  property.prop([uint32])("numbers of 32 bits", (value) => {
    expect(written((writer) => writer.uint32(value))).toBe(theirs((writer) => writer.uint32(value)));
    expect(sizeOfVarint(value)).toBe(theirs((writer) => writer.uint32(value)).length / 2);
  });

  property.prop([fc.maxSafeInteger()])("signed numbers", (value) => {
    expect(written((writer) => writer.int64(value))).toBe(theirs((writer) => writer.int64(value)));
  });

  property.prop([fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })])("numbers of 64 bits", (value) => {
    expect(written((writer) => writer.uint64(value))).toBe(theirs((writer) => writer.uint64(value)));
  });

  property.prop([text, fc.uint8Array({ maxLength: 300 })])(
    "texts, bytes and messages of any length",
    (value, bytes) => {
      const ours = written((writer) => {
        const mark = writer.open(0x0a);
        writer.stringField(0x12, value);
        writer.bytesField(0x1a, bytes);
        writer.close(mark);
        writer.uint32Field(0x20, 5);
      });
      const expected = theirs((writer) =>
        writer.uint32(0x0a).fork().uint32(0x12).string(value).uint32(0x1a).bytes(bytes).join().uint32(0x20).uint32(5),
      );
      expect(ours).toBe(expected);
    },
  );

  test("a message of any size, whose length takes one to four bytes", () => {
    for (const size of [0, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152]) {
      const bytes = new Uint8Array(size).fill(7);
      const writer = new WireWriter();
      const mark = writer.open(0x0a);
      writer.raw(bytes);
      writer.close(mark);
      const expected = new BinaryWriter().uint32(0x0a).bytes(bytes).finish();
      expect(Buffer.from(writer.finish()).equals(expected)).toBe(true);
      expect(writer.length).toBe(0);
    }
  });

  test.each(["\ud800", "ok \udc00", `${"x".repeat(30)}\ud800`])(
    "but refuses a text with half a surrogate pair",
    (value) => {
      expect(() => written((writer) => writer.utf8(value))).toThrow(UnencodableTextError);
    },
  );
});

describe("WireReader reads as the protobuf library does", () => {
  property.prop([fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })])("numbers, whatever is asked for", (value) => {
    const bytes = new BinaryWriter().uint64(value).finish();
    expect(new WireReader(bytes).uint64()).toBe(value);
    expect(new WireReader(bytes).uint32()).toBe(new BinaryReader(bytes).uint32());
    expect(new WireReader(bytes).int32()).toBe(new BinaryReader(bytes).int32());
    expect(new WireReader(bytes).bool()).toBe(new BinaryReader(bytes).bool());
    expect(new WireReader(bytes).int64()).toBe(Number(new BinaryReader(bytes).int64()));
  });

  const cache = new TextCache();
  property.prop([text])("texts, from a cache or not", (value) => {
    const bytes = new BinaryWriter().string(value).finish();
    expect(new WireReader(bytes).string()).toBe(value);
    for (let i = 0; i < 2; i++) expect(new WireReader(bytes).string(cache)).toBe(value);
  });

  property.prop([
    fc.array(
      fc.tuple(
        fc.integer({ min: 1, max: 2 ** 29 - 1 }),
        fc.constantFrom(0, 1, 2, 5),
        fc.uint8Array({ minLength: 8, maxLength: 8 }),
      ),
    ),
  ])("over what it does not know", (fields) => {
    const writer = new BinaryWriter();
    for (const [number, type, data] of fields) {
      writer.tag(number, type);
      if (type === 0) writer.uint64(new DataView(data.buffer, data.byteOffset).getBigUint64(0));
      else if (type === 1) writer.raw(data);
      else if (type === 2) writer.bytes(data);
      else writer.raw(data.subarray(0, 4));
    }
    const reader = new WireReader(writer.finish());
    let count = 0;
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      expect(tag >>> 3).toBe(fields[count]?.[0]);
      reader.skip(tag);
      count++;
    }
    expect(count).toBe(fields.length);
    expect(reader.atEnd).toBe(true);
  });

  const start = (number: number) => (number << 3) | 3;
  const end = (number: number) => (number << 3) | 4;
  const skips = (...bytes: readonly number[]) => {
    const reader = new WireReader(Uint8Array.from(bytes));
    reader.skip(reader.tag());
    return reader.atEnd;
  };

  test("over groups, also inside each other", () => {
    expect(skips(start(1), end(1))).toBe(true);
    expect(skips(start(1), 0x10, 5, start(3), 0x0a, 1, 0xff, end(3), end(1))).toBe(true);
    expect(skips(...Array.from({ length: 100 }, () => start(1)), ...Array.from({ length: 100 }, () => end(1)))).toBe(
      true,
    );
  });

  test.each<[string, readonly number[]]>([
    ["a group without end", [start(1), 0x10, 5]],
    ["a group with another's end", [start(1), end(2)]],
    ["groups without number inside each other", Array.from({ length: 10_000 }, () => start(1))],
    ["an end without start", [end(1)]],
    ["wire type 6", [(1 << 3) | 6, 0]],
    ["wire type 7", [(1 << 3) | 7, 0]],
    ["field 0", [0x02, 0]],
    ["a number that goes on for ever", [0x08, ...Array.from({ length: 11 }, () => 0xff)]],
    ["a tag that stops", [0x80]],
    ["a number that stops", [0x08, 0x80]],
    ["a length beyond the end", [0x0a, 5, 1, 2]],
    ["a length of 4 GiB", [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ["8 bytes that are 7", [0x09, 1, 2, 3, 4, 5, 6, 7]],
    ["4 bytes that are 3", [0x0d, 1, 2, 3]],
  ])("but not over %s", (_, bytes) => {
    expect(() => skips(...bytes)).toThrow(WireError);
  });

  test("a message inside another ends where it says, and nothing in it reaches further", () => {
    const reader = new WireReader(Uint8Array.of(0x0a, 2, 0x0a, 5, 0x61, 0x62, 0x63, 0x64, 0x65));
    expect(reader.tag()).toBe(0x0a);
    reader.enter();
    expect(reader.tag()).toBe(0x0a);
    expect(() => reader.string()).toThrow(WireError);
    expect(() => reader.bytes()).toThrow(WireError);
  });

  test.each([[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]])("no text that is not UTF-8: %s", (...bytes) => {
    const field = Uint8Array.of(bytes.length, ...bytes);
    expect(() => new WireReader(field).string()).toThrow("not valid UTF-8");
    expect(() => new WireReader(field).string(new TextCache())).toThrow("not valid UTF-8");
  });
});

describe("TextCache", () => {
  property.prop([
    fc.array(fc.oneof(fc.string({ maxLength: 5 }), fc.string({ unit: "grapheme", maxLength: 5 })), { maxLength: 50 }),
  ])("never gives another text than the one that stands there", (texts) => {
    const cache = new TextCache();
    for (const one of [...texts, ...texts]) {
      const bytes = Buffer.concat([Buffer.from([1, 2, 3]), Buffer.from(one), Buffer.from([4])]);
      const length = bytes.length - 4;
      const found = cache.find(bytes, 3, length);
      expect(found === undefined || found === one).toBe(true);
      cache.keep(bytes, 3, length, one);
    }
  });

  test("gives the very same text again", () => {
    const cache = new TextCache();
    const bytes = Buffer.from("Disks.hw.example");
    cache.keep(bytes, 0, bytes.length, "Disks.hw.example");
    expect(cache.find(bytes, 0, bytes.length)).toBe("Disks.hw.example");
    expect(cache.find(Buffer.from("Disks.hw.examplf"), 0, bytes.length)).toBeUndefined();
    const long = Buffer.from("x".repeat(65));
    cache.keep(long, 0, long.length, "x".repeat(65));
    expect(cache.find(long, 0, long.length)).toBeUndefined();
  });
});
