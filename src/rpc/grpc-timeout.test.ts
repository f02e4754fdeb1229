import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { formatTimeout, parseTimeout } from "./grpc-timeout.ts";

describe("grpc-timeout", () => {
  test.each([
    ["1H", 3_600_000],
    ["2M", 120_000],
    ["3S", 3_000],
    ["4m", 4],
    ["5000u", 5],
    ["6000000n", 6],
    ["0S", 0],
    ["99999999m", 99_999_999],
  ])("%s is %d ms", (text, ms) => {
    expect(parseTimeout(text)).toBeCloseTo(ms, 9);
  });

  test.each(["", "1", "S", "1s", "-1S", "+1S", "1.5S", " 1S", "1S ", "100000000m", "1SS", "0x1S", "١S"])(
    "%j is malformed",
    (text) => {
      expect(parseTimeout(text)).toBeUndefined();
    },
  );

  test.each([
    [-5, "0m"],
    [0, "0m"],
    [0.2, "1m"],
    [1500, "1500m"],
    [99_999_999, "99999999m"],
    [100_000_000, "100000S"],
    [1e15, "99999999H"],
  ])("%d ms is written as %s", (ms, text) => {
    expect(formatTimeout(ms)).toBe(text);
  });

  test.prop([fc.double({ min: 0, max: 1e14, noNaN: true })])("is never shorter than asked", (ms) => {
    expect(parseTimeout(formatTimeout(ms))).toBeGreaterThanOrEqual(ms * (1 - 1e-12));
  });
});
