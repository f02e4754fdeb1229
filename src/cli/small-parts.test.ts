import { onOneLine, withoutControls } from "../internal/visible-text.ts";
import { describe, expect, test } from "vitest";
import { Handle, StateError } from "../resource/index.ts";
import { covers, digestOf } from "./apply/applied-mark.ts";
import { parseDuration } from "./args/duration.ts";
import { describeFailure, exitCodeOf } from "./failure.ts";
import { parseMetadataEdits } from "./args/metadata-edits.ts";
import { formatJson } from "./print/readable-value.ts";
import { parseOneSelection, parseSelections } from "./args/selection.ts";
import { padToWidth, textWidth } from "./print/text-width.ts";

describe("parseDuration", () => {
  test.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["1.5s", 1_500],
    ["5m", 300_000],
    ["1h", 3_600_000],
    ["2", 2_000],
    ["0", undefined],
    ["0s", undefined],
  ])("%s is %s ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(["", "s", "-1s", "1d", "1 s", "1e3", "9999999999", "999999h", "1.s"])("%j is none", (text) => {
    expect(() => parseDuration(text)).toThrow(/^a time such as 500ms/);
  });
});

describe("parseSelections", () => {
  test.each([
    [["svc"], [{ typeName: "svc", ids: [] }]],
    [["svc", "a", "b", "a"], [{ typeName: "svc", ids: ["a", "b"] }]],
    [["svc", "a/b"], [{ typeName: "svc", ids: ["a/b"] }]],
    [
      ["svc/a/b", "svc/c", "cfg/d"],
      [
        { typeName: "svc", ids: ["a/b", "c"] },
        { typeName: "cfg", ids: ["d"] },
      ],
    ],
    [
      ["svc,cfg,svc"],
      [
        { typeName: "svc", ids: [] },
        { typeName: "cfg", ids: [] },
      ],
    ],
  ])("%j", (args, expected) => {
    expect(parseSelections(args)).toEqual(expected);
  });

  test.each([
    [[], "a type is missing"],
    [["svc/"], "TYPE/ID"],
    [["/a"], "TYPE/ID"],
    [["svc/a", "b"], "TYPE/ID"],
    [["svc,cfg", "a"], "one type only"],
    [["svc", ""], "empty"],
  ])("%j is a mistake", (args, reason) => {
    expect(() => parseSelections(args)).toThrow(reason);
  });

  test.each([[["svc"]], [["svc", "a", "b"]], [["svc/a", "cfg/b"]], [["svc/a", "svc/b"]]])("%j is not one", (args) => {
    expect(() => parseOneSelection(args)).toThrow("exactly one resource");
  });
});

describe("parseMetadataEdits", () => {
  test("sets, empties and removes", () => {
    expect([...parseMetadataEdits(["a=b=c", "d=", "e-", "f-=g"], "label")]).toEqual([
      ["a", "b=c"],
      ["d", ""],
      ["e", undefined],
      ["f-", "g"],
    ]);
  });

  test.each([
    [["a"], "KEY=VALUE or KEY-"],
    [["=b"], "KEY=VALUE or KEY-"],
    [["-"], "KEY=VALUE or KEY-"],
    [["a=b", "a-"], "twice"],
    [[], "no label is given"],
  ])("%j is a mistake", (args, reason) => {
    expect(() => parseMetadataEdits(args, "label")).toThrow(reason);
  });
});

describe("what is stored against what was applied", () => {
  test.each([
    [{ a: 1, b: { c: 2, d: 3 } }, { b: { c: 2 } }, true],
    [{ a: [{ x: 1, y: 2 }] }, { a: [{ x: 1 }] }, true],
    [{ a: [1, 2] }, { a: [1] }, false],
    [{ a: 1 }, { a: 2 }, false],
    [{ a: 1 }, { b: 1 }, false],
    [{ a: 1n }, { a: 1 }, true],
    [{ a: new Uint8Array([1]) }, { a: new Uint8Array([1]) }, true],
    [{ a: new Uint8Array([1]) }, { a: new Uint8Array([2]) }, false],
    [{}, { toString: 1 }, false],
    [null, {}, false],
    [{ a: null }, { a: null }, true],
  ])("case %# of covers", (whole, part, expected) => {
    expect(covers(whole, part)).toBe(expected);
  });

  test("the digest does not depend on the order of keys", () => {
    expect(digestOf({ a: 1, b: { c: [1, { d: 1, e: 2 }] } })).toBe(digestOf({ b: { c: [1, { e: 2, d: 1 }] }, a: 1 }));
    expect(digestOf({ a: [1, 2] })).not.toBe(digestOf({ a: [2, 1] }));
  });
});

describe("text for a terminal", () => {
  test("control characters become visible, line breaks and tabs stay or are spelled out", () => {
    expect(withoutControls("a\u001b[31mb\u0007\u009bc\nd\te\u202e")).toBe("a\\u001b[31mb\\u0007\\u009bc\nd\te\\u202e");
    expect(onOneLine("a\nb\tc\u001b")).toBe("a\\nb\\tc\\u001b");
  });

  test.each([
    ["abc", 3],
    ["héllo", 5],
    ["e\u0301", 1],
    ["日本", 4],
    ["👩‍💻", 2],
    ["ｆ", 2],
  ])("%s takes %i cells", (text, width) => {
    expect(textWidth(text)).toBe(width);
    expect(padToWidth(text, 6)).toBe(text + " ".repeat(6 - width));
  });
});

describe("formatJson", () => {
  test("numbers keep all their digits, bytes are base64, live objects say what they are", () => {
    const value = {
      big: 12_345_678_901_234_567_890n,
      not: Number.NaN,
      bytes: new Uint8Array([255]),
      handle: new Handle({ toJSON: () => ({ open: true }) }),
    };
    expect(formatJson(value)).toBe('{"big":12345678901234567890,"not":"NaN","bytes":"/w==","handle":{"open":true}}');
  });
});

describe("exit codes", () => {
  test.each([
    ["not_found", 3],
    ["already_exists", 4],
    ["version_conflict", 4],
    ["owner_conflict", 4],
    ["phase_conflict", 4],
    ["pending_finalizers", 4],
    ["unavailable", 5],
    ["invalid", 1],
    ["watch_overrun", 1],
    ["unsupported", 1],
  ] as const)("%s is %i, as a cause as well", (code, expected) => {
    const error = new StateError(code, "x");
    expect(exitCodeOf(error)).toBe(expected);
    expect(exitCodeOf(new Error("y", { cause: error }))).toBe(expected);
  });

  test("a call that took too long means that the endpoint is unavailable", () => {
    expect(exitCodeOf(new DOMException("late", "TimeoutError"))).toBe(5);
    expect(exitCodeOf(Object.assign(new Error("late"), { name: "GrpcError", code: 4 }))).toBe(5);
    expect(exitCodeOf(Object.assign(new Error("denied"), { name: "GrpcError", code: 7 }))).toBe(1);
  });

  test("anything may be thrown", () => {
    expect(exitCodeOf("x")).toBe(1);
    expect(describeFailure("x\u001b")).toBe("x\\u001b");
    expect(describeFailure(new Error(""))).not.toBe("");
  });
});
