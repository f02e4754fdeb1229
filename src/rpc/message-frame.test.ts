import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { FramedMessages, frameMessages, MessageReader } from "./message-frame.ts";
import { Status } from "./status.ts";

const LIMIT = 1000;

/** Cuts `bytes` at the given positions, in any order and number. */
function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const positions = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...positions].map((from, index) => bytes.subarray(from, positions[index] ?? bytes.length));
}

describe("MessageReader", () => {
  test.prop([fc.array(fc.uint8Array({ maxLength: 60 }), { minLength: 1 }), fc.array(fc.nat())])(
    "gives the same messages however they are split over pieces, or share one",
    (messages, cuts) => {
      const reader = new MessageReader(LIMIT);
      const read: Uint8Array[] = [];
      for (const piece of cutAt(frameMessages(messages), cuts)) reader.push(piece, read);
      expect(read.map((one) => [...one])).toEqual(messages.map((one) => [...one]));
      expect(reader.heldBytes).toBe(0);
    },
  );

  test("a message stays what it was when the piece that it began in is used again", () => {
    const reader = new MessageReader(LIMIT);
    const read: Uint8Array[] = [];
    const bytes = frameMessages([new Uint8Array([1, 2, 3, 4])]);
    const piece = bytes.subarray(0, 7).slice();
    reader.push(piece, read);
    piece.fill(9);
    reader.push(bytes.subarray(7), read);
    expect([...(read[0] ?? [])]).toEqual([1, 2, 3, 4]);
  });

  test("a message of one byte at a time costs memory in proportion to what has come", () => {
    const reader = new MessageReader(2 ** 31);
    const read: Uint8Array[] = [];
    // It claims a gigabyte, and sends little of it.
    reader.push(new Uint8Array([0, 0x40, 0, 0, 0]), read);
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 100_000; count++) reader.push(new Uint8Array([7]), read);
    expect(reader.heldBytes).toBe(100_005);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
    expect(read).toEqual([]);
  });

  test.each([
    ["above the limit", [0, 0, 0, 0x03, 0xe9], Status.resourceExhausted, "1001 bytes is larger than the 1000"],
    ["of 4 GiB", [0, 255, 255, 255, 255], Status.resourceExhausted, "4294967295 bytes"],
    ["that is compressed", [1, 0, 0, 0, 0], Status.unimplemented, "compressed"],
    ["with an unknown flag", [7, 0, 0, 0, 0], Status.internal, "flag 7"],
  ])("a message %s is refused by its prefix alone", (_, prefix, code, message) => {
    for (const pieces of [[prefix], prefix.map((byte) => [byte])]) {
      const reader = new MessageReader(LIMIT);
      expect(() => {
        for (const piece of pieces) reader.push(new Uint8Array(piece), []);
      }).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
    }
  });

  test("a message of exactly the limit, and an empty one, are read", () => {
    const reader = new MessageReader(LIMIT);
    const read: Uint8Array[] = [];
    reader.push(frameMessages([new Uint8Array(LIMIT), new Uint8Array(0)]), read);
    expect(read.map(({ length }) => length)).toEqual([LIMIT, 0]);
  });
});

test("framed messages are at least one", () => {
  expect(() => new FramedMessages([])).toThrow("at least one");
});
