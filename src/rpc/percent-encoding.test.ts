import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { decodeMessage, encodeMessage } from "./percent-encoding.ts";

const ENOUGH = 100_000;

describe("grpc-message", () => {
  test.each([
    ["plain text, with punctuation: ~!", "plain text, with punctuation: ~!"],
    ["100%", "100%25"],
    ["Grüße", "Gr%C3%BC%C3%9Fe"],
    ["a\nb\x7f", "a%0Ab%7F"],
    ["😀", "%F0%9F%98%80"],
  ])("%j is sent as %j", (text, encoded) => {
    expect(encodeMessage(text, ENOUGH)).toBe(encoded);
    expect(decodeMessage(encoded)).toBe(text);
  });

  test.prop([fc.string({ unit: "binary" })])("any text survives the way, in printable ASCII", (text) => {
    const encoded = encodeMessage(text, ENOUGH);
    expect(encoded).toMatch(/^[\x20-\x7e]*$/);
    expect(decodeMessage(encoded)).toBe(text);
  });

  test.prop([fc.string({ unit: "binary", maxLength: 40 }), fc.integer({ min: 3, max: 40 })])(
    "what is too long is cut at a character",
    (text, maxBytes) => {
      const whole = encodeMessage(text, ENOUGH);
      const encoded = encodeMessage(text, maxBytes);
      expect(encoded.length).toBeLessThanOrEqual(maxBytes);
      if (whole.length <= maxBytes) expect(encoded).toBe(whole);
      else expect(text).toContain(decodeMessage(encoded.slice(0, -3)));
    },
  );

  test.each([
    ["100% sure", "100% sure"],
    ["%", "%"],
    ["%4", "%4"],
    ["%zz%41", "%zzA"],
    ["%e2%82%AC", "€"],
    ["ü%41", "üA"],
  ])("the badly encoded %j is read as %j", (encoded, text) => {
    expect(decodeMessage(encoded)).toBe(text);
  });

  test("bytes that are no UTF-8 become replacement characters", () => {
    expect(decodeMessage("a%FFb")).toBe("a\ufffdb");
  });
});
