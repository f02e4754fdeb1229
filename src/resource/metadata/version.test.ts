import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { compareVersions, nextVersion, parseVersion } from "./version.ts";

const MAX_VALUE = 2n ** 64n - 1n;
const version = fc.oneof(fc.constant("undefined"), fc.bigInt(0n, MAX_VALUE).map(String));

describe("versions", () => {
  test("leading zeros are dropped, so that equal versions are equal texts", () => {
    expect(parseVersion("007")).toBe("7");
    expect(parseVersion("0")).toBe("0");
    expect(parseVersion("00")).toBe("0");
    expect(parseVersion(`000${MAX_VALUE}`)).toBe(`${MAX_VALUE}`);
  });

  test.for([
    "",
    " ",
    "1 ",
    "+5",
    "-1",
    "1_0",
    "0x1",
    "1.0",
    "1e3",
    "Undefined",
    "UNDEFINED",
    `${MAX_VALUE + 1n}`,
    "9".repeat(1000),
  ])("%o is none", (text) =>
    expect(() => parseVersion(text)).toThrow('version must be "undefined" or a decimal number of 64 bits'),
  );

  property.prop([version])("a version is its own text", (text) => {
    expect(parseVersion(text)).toBe(text);
  });

  property.prop([fc.bigInt(0n, MAX_VALUE)])("the next one is exact beyond 2^53", (value) => {
    expect(nextVersion(`${value}`)).toBe(`${value + 1n}`);
  });

  property.prop([version, version])("are ordered as numbers, undefined as 0", (a, b) => {
    const number = (text: string) => (text === "undefined" ? 0n : BigInt(text));
    const [x, y] = [number(a), number(b)];
    expect(Math.sign(compareVersions(a, b))).toBe(x < y ? -1 : x > y ? 1 : 0);
  });
});
