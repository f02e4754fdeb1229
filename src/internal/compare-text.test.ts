import { fc, test as property } from "@fast-check/vitest";
import { expect, test } from "vitest";
import { compareText } from "./compare-text.ts";

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

test("[state 185] texts are ordered by their UTF-8 bytes, not by UTF-16 units", () => {
  const ids = ["😀", "～", "é", "z", "a", "", "ab", "\u{10FFFF}", "\uE000", "\uD7FF"];
  expect(ids.toSorted(compareText)).toEqual(["", "a", "ab", "z", "é", "\uD7FF", "\uE000", "～", "😀", "\u{10FFFF}"]);
  expect(ids.toSorted()).not.toEqual(ids.toSorted(compareText));
});

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(fc.constantFrom("a", "é", "～", "\uD7FF", "\uE000", "😀", "\u{10FFFF}"), { maxLength: 6 })
    .map((parts) => parts.join("")),
);

property.prop([text, text], { numRuns: 1000 })("agrees with the order of bytes", (a, b) => {
  expect(Math.sign(compareText(a, b))).toBe(byBytes(a, b));
});

property.prop([fc.array(text)])("sorts as bytes do", (texts) => {
  expect(texts.toSorted(compareText)).toEqual(texts.toSorted(byBytes));
});
