import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { Handle, OpaqueSpec } from "../resource/index.ts";
import { formatFlat } from "./flat-spec.ts";
import { plainNode, renderNode } from "./render-node.ts";

const word = fc.oneof(
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9_./-]{0,20}$/),
  fc.constantFrom(
    "null",
    "NULL",
    "Null",
    "true",
    "False",
    "TRUE",
    "yes",
    "on",
    "y",
    "inf",
    "nan",
    "e5",
    "x: y",
    "",
    "-",
    "a b",
  ),
  fc.string(),
);
const scalar = fc.oneof(word, fc.integer(), fc.maxSafeInteger(), fc.boolean(), fc.double(), fc.constant(null));

describe("the quick form of flat specs", () => {
  test.prop([fc.dictionary(word, scalar)])("is what the library writes, wherever there is one", (spec) => {
    const quick = formatFlat(spec);
    if (quick === undefined) return;
    expect(quick).toBe(renderNode(plainNode(spec)));
  });

  test("exists for what most specs are", () => {
    expect(formatFlat({ value: -0, name: "web-1", path: "etc/hosts.d", on: true })).toBe(
      "value: 0\nname: web-1\npath: etc/hosts.d\non: true\n",
    );
    expect(formatFlat({ value: Number.MAX_SAFE_INTEGER })).toBe("value: 9007199254740991\n");
  });

  test.each<[string, unknown]>([
    ["nothing", {}],
    ["text", "text"],
    ["a list", [1]],
    ["bytes", Uint8Array.of(1)],
    ["nesting", { a: { b: 1 } }],
    ["fractions", { a: 0.5 }],
    ["large numbers", { a: 2 ** 53 }],
    ["words with a meaning", { a: "null" }],
    ["keys with a meaning", { true: 1 }],
    ["texts with a meaning", { a: "b: c" }],
    ["long texts", { a: "x".repeat(101) }],
    ["what came undecoded", new OpaqueSpec({ yaml: "a: 1\n" })],
    ["live objects", new Handle({ a: 1 })],
  ])("does not exist for %s", (_what, spec) => {
    expect(formatFlat(spec)).toBeUndefined();
  });
});
