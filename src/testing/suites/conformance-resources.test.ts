import { expect, test } from "vitest";
import { Int, PathResource, Sentence, Str } from "./conformance-resources.ts";

test("the suites' resources carry their names and default namespace", () => {
  expect([PathResource, Int, Str, Sentence].map(({ type }) => type)).toEqual([
    "os/path",
    "test/int",
    "test/str",
    "test/sentence",
  ]);
  expect(PathResource.create("var/run", {}).metadata).toMatchObject({
    namespace: "default",
    type: "os/path",
    id: "var/run",
  });
});

test("an int holds one whole number and nothing else", () => {
  expect(Int.create("one", { value: 1 }).spec).toEqual({ value: 1 });
  for (const value of [1.5, Number.NaN, 2 ** 53, "1" as never, undefined as never]) {
    expect(() => Int.create("one", { value })).toThrow(/spec\.value: .*must be a whole number/);
  }
  expect(() => Int.create("one", { value: 1, unit: "kg" } as never)).toThrow(/spec\.unit: is not a known field/);
});

test("a text holds one string", () => {
  expect(Str.create("one", { value: "" }).spec).toEqual({ value: "" });
  expect(() => Sentence.create("one", { value: 5 as never })).toThrow(/spec\.value: must be a string/);
});

test("a path holds nothing", () => {
  expect(PathResource.create("var/run", {}).spec).toEqual({});
  expect(() => PathResource.create("var/run", { size: 1 } as never)).toThrow(/spec\.size/);
  expect(() => PathResource.create("var/run", [] as never)).toThrow(/must be an object/);
});
