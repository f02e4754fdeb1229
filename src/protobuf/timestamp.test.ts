import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { WireReader, WireWriter } from "../wire/index.ts";
import { isTimestamp } from "../resource/index.ts";
import { formatInstant, instantOf, readTimestamp, writeTimestamp } from "./timestamp.ts";

const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
const nanos = fc.oneof(fc.integer({ min: 0, max: 999_999_999 }), fc.constantFrom(0, 1, 1000, 120_000_000, 999_999_999));

function throughTheWire(text: string): string {
  const writer = new WireWriter();
  writeTimestamp(writer, 0x3a, text);
  const reader = new WireReader(writer.finish());
  expect(reader.tag()).toBe(0x3a);
  const instant = readTimestamp(reader, undefined);
  expect(reader.tag()).toBe(0);
  return formatInstant(instant.seconds, instant.nanos);
}

describe("timestamps", () => {
  test.each([
    ["1970-01-01T00:00:00Z", 0, 0],
    ["1969-12-31T23:59:59.999999999Z", -1, 999_999_999],
    ["0001-01-01T00:00:00Z", -62_135_596_800, 0],
    ["9999-12-31T23:59:59.999999999Z", 253_402_300_799, 999_999_999],
    ["2000-02-29T12:30:45.000000001Z", 951_827_445, 1],
    ["2024-03-01T00:00:00.12Z", 1_709_251_200, 120_000_000],
  ] as const)("%s is %d s and %d ns", (text, wholeSeconds, rest) => {
    expect(instantOf(text)).toEqual({ seconds: wholeSeconds, nanos: rest });
  });

  test("offsets lead to the same moment in UTC", () => {
    expect(throughTheWire("2023-03-01T08:00:00.5+02:00")).toBe("2023-03-01T06:00:00.500Z");
    expect(throughTheWire("2023-03-01T23:30:00-01:45")).toBe("2023-03-02T01:15:00Z");
  });

  test("what is finer than a nanosecond is dropped", () => {
    expect(throughTheWire("2023-03-01T08:00:00.12345678999999999Z")).toBe("2023-03-01T08:00:00.123456789Z");
  });

  test.prop([seconds, nanos])("[transport X6] every moment survives to the nanosecond", (wholeSeconds, rest) => {
    const text = formatInstant(wholeSeconds, rest);
    expect(isTimestamp(text)).toBe(true);
    expect(instantOf(text)).toEqual({ seconds: wholeSeconds, nanos: rest });
    expect(throughTheWire(text)).toBe(text);
  });

  test.prop([
    fc.date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true }),
  ])("agrees with the platform's calendar", (date) => {
    const iso = date.toISOString();
    expect(throughTheWire(iso)).toBe(iso.replace(".000Z", "Z"));
  });

  test("nanoseconds outside their range carry over, and other years become the nearest that have a text", () => {
    expect(formatInstant(10, 1_500_000_000)).toBe("1970-01-01T00:00:11.500Z");
    expect(formatInstant(10, -1)).toBe("1970-01-01T00:00:09.999999999Z");
    expect(formatInstant(-1e15, 5)).toBe("0001-01-01T00:00:00Z");
    expect(formatInstant(2 ** 63, 5)).toBe("9999-12-31T23:59:59.999999999Z");
  });
});
