import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { freezePlain } from "./freeze-plain.ts";
import { Handle } from "./handle.ts";
import { jsonCodec } from "./json-codec.ts";
import { OpaqueSpec } from "./opaque-spec.ts";
import { draftOf, samePlain } from "./plain-data.ts";

const textOf = (spec: unknown) => new TextDecoder().decode(jsonCodec.encode(freezePlain(spec).value));
const read = (text: string) => jsonCodec.decode(new TextEncoder().encode(text));

describe("jsonCodec", () => {
  test("writes JSON, and says so where JSON has no form", () => {
    expect(textOf({ a: [1, "x", null, true] })).toBe('{"a":[1,"x",null,true]}');
    expect(textOf({ a: 12n, b: new Uint8Array([104, 105]) })).toBe('{"a":{"$bigint":"12"},"b":{"$bytes":"aGk="}}');
    expect(textOf({ a: { $bigint: "12" }, b: { $$bytes: 1 } })).toBe('{"a":{"$$bigint":"12"},"b":{"$$$bytes":1}}');
  });

  test("no bytes are an empty object", () => expect(jsonCodec.decode(new Uint8Array())).toEqual({}));

  test("reads keys that are written with escapes like those without", () => {
    expect(read('{"a":{"\\u0024bigint":"12"}}')).toEqual({ a: 12n });
    expect(read('{"a":{"$$\\u0062igint":"12"}}')).toEqual({ a: { $bigint: "12" } });
  });

  test.for([
    " ",
    "{",
    '{"a":NaN}',
    '{"$bigint":12}',
    '{"$bigint":"1.5"}',
    '{"$bigint":""}',
    `{"$bigint":"${"9".repeat(10_001)}"}`,
    '{"$bytes":"a"}',
    '{"$bytes":"a==="}',
    '{"$bytes":[1]}',
    `{"$bytes":""}${"[".repeat(300)}`,
    `${"[".repeat(300)}{"$bytes":""}${"]".repeat(300)}`,
  ])("%s is refused", (text) => {
    expect(() => read(text)).toThrow(Error);
  });

  test("bytes that are no UTF-8 are refused", () => {
    expect(() => jsonCodec.decode(new Uint8Array([0x22, 0xff, 0x22]))).toThrow(TypeError);
  });

  test("live objects and the encodings of others have no form", () => {
    expect(() => textOf({ a: new Handle({}) })).toThrow("has no encoding");
    expect(() => textOf([new OpaqueSpec({ yaml: "a" })])).toThrow("has no encoding");
  });

  test("the names of the prototype are keys like any other", () => {
    const text = '{"__proto__":{"polluted":true},"a":{"$bigint":"1"}}';
    const value = read(text) as object;
    expect(Object.keys(value)).toEqual(["__proto__", "a"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(textOf(value)).toBe(text);
  });

  const key = fc.constantFrom(
    "a",
    "$bigint",
    "$$bigint",
    "$bytes",
    "$$$bytes",
    "$other",
    "__proto__",
    "toJSON",
    '"',
    "é",
  );
  const { plain } = fc.letrec<{ plain: unknown }>((tie) => ({
    plain: fc.oneof(
      { maxDepth: 4 },
      fc.string({ unit: "binary" }),
      fc.constantFrom("$bigint", '"$bigint"', '{"$bigint":"1"}'),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.bigInt(),
      fc.uint8Array({ maxLength: 5 }),
      fc.array(tie("plain"), { maxLength: 3 }),
      fc.dictionary(key, tie("plain"), { maxKeys: 3 }),
    ),
  }));
  property.prop([plain], { numRuns: 500 })("reads back whatever it wrote", (value) => {
    const frozen = freezePlain(value).value;
    const again = jsonCodec.decode(jsonCodec.encode(frozen));
    expect(samePlain(again, frozen)).toBe(true);
    expect(samePlain(draftOf(freezePlain(again).value), frozen)).toBe(true);
  });
});
