import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { parseQuantity } from "./quantity.ts";

describe("parseQuantity", () => {
  test("[transport C17] [state 116] reads digits and a unit, and nothing else", () => {
    const [gib, gb] = [parseQuantity("4GiB"), parseQuantity("4GB")];
    expect([gib, gb]).toEqual([4n * 2n ** 30n, 4_000_000_000n]);
    expect(Number(gib)).toBeGreaterThan(Number(gb));
    expect([parseQuantity("1"), parseQuantity("2000")]).toEqual([1n, 2000n]);
    expect([parseQuantity("1 1"), parseQuantity("2000 3")]).toEqual([undefined, undefined]);
    expect([parseQuantity(" 1 k"), parseQuantity("2000")]).toEqual([1000n, 2000n]);
    expect([parseQuantity("-1 k"), parseQuantity("2000")]).toEqual([-1000n, 2000n]);
    expect(parseQuantity("1.1 k")).toBeUndefined();
    expect(parseQuantity("1 i")).toBeUndefined();
  });

  test.for<[string, bigint | undefined]>([
    ["10kg", 10_000n],
    ["3 Mbps", 3_000_000n],
    ["1 kilo", 1024n],
    ["2P", 2n * 10n ** 15n],
    ["2Pi", 2n * 2n ** 50n],
    ["007", 7n],
    [`${"0".repeat(100)}7`, 7n],
    ["-0", 0n],
    ["9223372036854775807", 2n ** 63n - 1n],
    ["-9223372036854775808", -(2n ** 63n)],
    ["9223372036854775808", undefined],
    ["9223372036854775807k", undefined],
    ["9".repeat(100_000), undefined],
    ["1b", undefined],
    ["1E", undefined],
    ["1e3", undefined],
    ["-", undefined],
    ["1-2", undefined],
    ["--1", undefined],
    ["+1", undefined],
    [".5", undefined],
    ["", undefined],
    ["k", undefined],
    ["NaN", undefined],
  ])("%s", ([text, value]) => expect(parseQuantity(text)).toBe(value));

  /** The rules once more, character by character. */
  function model(text: string): bigint | undefined {
    const trimmed = text.trim();
    let end = 0;
    while (end < trimmed.length && "0123456789-".includes(trimmed.charAt(end))) end++;
    const literal = trimmed.slice(0, end);
    if (literal === "" || literal === "-" || literal.lastIndexOf("-") > 0) return undefined;
    const number = BigInt(literal);
    const fits = (value: bigint) => BigInt.asIntN(64, value) === value;
    const unit = trimmed.slice(end).toLowerCase().trim();
    const power = BigInt("kmgtp".indexOf(unit.charAt(0)) + 1);
    if (unit !== "" && power === 0n) return undefined;
    const value = unit === "" ? number : number * (unit.charAt(1) === "i" ? 1024n : 1000n) ** power;
    return fits(number) && fits(value) ? value : undefined;
  }

  const text = fc
    .array(fc.constantFrom(..."0123456789- kKmMgGtTpPiIbBeE.+x\t".split("")), { maxLength: 12 })
    .map((parts) => parts.join(""));
  property.prop(
    [
      fc.oneof(
        text,
        fc.bigInt(-(2n ** 64n), 2n ** 64n).map(String),
        fc.tuple(fc.integer(), text).map((parts) => parts.join("")),
      ),
    ],
    {
      numRuns: 2000,
    },
  )("agrees with a model", (input) => {
    expect(parseQuantity(input)).toBe(model(input));
  });
});
