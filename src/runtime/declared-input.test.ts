import { describe, expect, test } from "vitest";
import { weak, type InputKind } from "../controller/index.ts";
import { Int } from "../testing/index.ts";
import { compareInputs, declareInput, sameInput, sameInputKey, type DeclaredInput } from "./declared-input.ts";

const input = (overrides: Partial<DeclaredInput> = {}): DeclaredInput => ({
  namespace: "user",
  type: "Configs.example",
  id: "id",
  kind: "weak",
  ...overrides,
});

describe("inputs", () => {
  test("are ordered by namespace, type, id and kind [engine T-19]", () => {
    expect(compareInputs(input(), input())).toBe(0);
    expect(compareInputs(input({ id: "id" }), input({ id: "jd" }))).toBe(-1);
    expect(compareInputs(input({ type: "Data.example" }), input({ type: "Config.example" }))).toBe(1);
    expect(compareInputs(input({ namespace: "a", type: "z" }), input({ namespace: "b", type: "a" }))).toBe(-1);
    expect(compareInputs(input({ id: undefined }), input({ id: "a" }))).toBe(-1);
    const kinds: InputKind[] = ["weak", "strong", "destroyReady", "primary", "mapped", "mappedDestroyReady"];
    expect(kinds.toReversed().toSorted((a, b) => compareInputs(input({ kind: a }), input({ kind: b })))).toEqual(kinds);
  });

  test("are the same when every part is [engine T-20]", () => {
    expect(sameInput(input(), input())).toBe(true);
    expect(sameInput(input(), input({ id: "other" }))).toBe(false);
    expect(sameInput(input(), input({ id: undefined }))).toBe(false);
    expect(sameInput(input({ id: undefined }), input({ id: undefined }))).toBe(true);
    expect(sameInput(input(), input({ kind: "strong" }))).toBe(false);
    expect(sameInput(input(), input({ namespace: "other" }))).toBe(false);
  });

  test("share a key whatever their kinds [engine T-21]", () => {
    expect(sameInputKey(input(), input())).toBe(true);
    expect(sameInputKey(input(), input({ kind: "strong" }))).toBe(true);
    expect(sameInputKey(input(), input({ id: "other" }))).toBe(false);
    expect(sameInputKey(input(), input({ id: undefined }))).toBe(false);
  });

  test("are copied from what the author wrote", () => {
    expect(declareInput(weak(Int.in("a"), "x"))).toEqual({ namespace: "a", type: "test/int", id: "x", kind: "weak" });
  });
});
