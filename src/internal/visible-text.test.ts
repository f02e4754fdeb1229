import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { onOneLine, stackFrames, withoutControls } from "./visible-text.ts";

// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

describe("text from elsewhere", () => {
  test.each([
    ["plain", "plain"],
    ["größe 漢字 👩‍💻", "größe 漢字 👩‍💻"],
    ["a\nb\tc", "a\\nb\\tc"],
    ["\u001b[2J\u0007\r", "\\u001b[2J\\u0007\\u000d"],
    ["\u009b31m\u0085", "\\u009b31m\\u0085"],
    ["a\u2028b\u2029c\u202ed\u2066", "a\\u2028b\\u2029c\\u202ed\\u2066"],
    ["\\n", "\\n"],
  ])("%j is shown as %j", (text, shown) => {
    expect(onOneLine(text)).toBe(shown);
  });

  property.prop([fc.string({ unit: "binary" })])("stays on its line, without a command for a terminal", (text) => {
    expect(onOneLine(text)).not.toMatch(UNSAFE);
    expect(onOneLine(text)).not.toMatch(/[\n\t]/);
    expect(withoutControls(text)).not.toMatch(UNSAFE);
  });
});

describe("the frames of a stack", () => {
  test("are those of the error, not lines of its message", () => {
    const error = new Error("no\n    at evil (fake.ts:1:1)\n\u001b[2Jhomeostat: all is well");
    const frames = stackFrames(error);
    expect(frames).toContain("visible-text.test.ts");
    expect(frames).not.toContain("evil");
    expect(frames).not.toContain("all is well");
    for (const line of frames.split("\n")) expect(line).toMatch(/^ {4}at /);
  });

  test("are none where there is no stack", () => {
    const error = new Error("x");
    error.stack = undefined as never;
    expect(stackFrames(error)).toBe("");
    error.stack = "just text\nand more";
    expect(stackFrames(error)).toBe("");
  });

  test("are there when the message has changed since", () => {
    const error = new Error("before");
    error.message = "after";
    expect(stackFrames(error)).toContain("visible-text.test.ts");
  });
});
