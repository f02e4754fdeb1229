import { fc, test as property } from "@fast-check/vitest";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { freezePlain, PlainDataError } from "./freeze-plain.ts";
import { Handle } from "./handle.ts";
import { OpaqueSpec } from "./opaque-spec.ts";
import { draftOf, samePlain } from "./plain-data.ts";

const refusal = (value: unknown): string => {
  try {
    freezePlain(value);
  } catch (error) {
    if (error instanceof PlainDataError) return error.message;
    throw error;
  }
  return "accepted";
};

describe("freezePlain", () => {
  test("copies into deeply frozen form", () => {
    const given = { list: [{ a: 1 }], record: { b: [true, null] }, text: "x", big: 1n };
    const { value } = freezePlain(given);
    expect(value).toEqual(given);
    given.list[0] = { a: 2 };
    given.record.b.push(false);
    expect(value).toEqual({ list: [{ a: 1 }], record: { b: [true, null] }, text: "x", big: 1n });
    for (const part of [value, value.list, value.list[0], value.record, value.record.b]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(() => Object.assign(value.list[0] ?? {}, { a: 3 })).toThrow(TypeError);
  });

  test.for<[unknown, string]>([
    [undefined, "spec must be plain data, got undefined"],
    [{ a: [1, undefined] }, "spec.a[1] must be plain data, got undefined"],
    [Object.assign([1], { 2: 3 }), "spec[1] must be plain data, got undefined"],
    [Array(3), "spec[0] must be plain data, got undefined"],
    [{ a: { b: () => 1 } }, "spec.a.b must be plain data, got a function"],
    [{ a: Symbol("x") }, "spec.a must be plain data, got a symbol"],
    [{ "a.b": Number.NaN }, 'spec["a.b"] must be a finite number, got NaN'],
    [[Number.POSITIVE_INFINITY], "spec[0] must be a finite number, got Infinity"],
    [{ at: new Date(0) }, "spec.at must be plain data, got an instance of Date"],
    [{ m: new Map() }, "spec.m must be plain data, got an instance of Map"],
    [new (class Point {})(), "spec must be plain data, got an instance of Point"],
    [new (class {})(), "spec must be plain data, got an instance of an unnamed class"],
    [{ a: Object.create({ x: 1 }) }, "spec.a must be plain data, got an instance of Object"],
    [{ a: new String("x") }, "spec.a must be plain data, got an instance of String"],
    [{ a: new Float64Array(1) }, "spec.a must be plain data, got an instance of Float64Array"],
    [Promise.resolve(1), "spec must be plain data, got an instance of Promise"],
  ])("refuses %o", ([value, message]) => expect(refusal(value)).toBe(message));

  test("refuses cycles and data that is nested too deeply, without running out of stack", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    expect(refusal(cycle)).toContain(".self is nested deeper than 200 levels, or is a cycle");
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(refusal(deep)).toContain("is nested deeper than 200 levels");
    let allowed: unknown = 1;
    for (let i = 0; i < 200; i++) allowed = [allowed];
    expect(refusal(allowed)).toBe("accepted");
  });

  test("refuses data that shared parts make larger than memory", () => {
    let bomb: unknown = [1, 1, 1, 1, 1, 1, 1, 1];
    for (let i = 0; i < 30; i++) bomb = [bomb, bomb];
    expect(refusal(bomb)).toContain("makes the data larger than 1000000 parts");
    expect(refusal(Object.assign([], { length: 2 ** 32 - 1 }))).toContain("makes the data larger than 1000000 parts");
  });

  test("leaves out what is undefined in objects, and keys that are symbols", () => {
    const { value } = freezePlain({ a: 1, b: undefined, [Symbol("c")]: () => 1 } as unknown);
    expect(Reflect.ownKeys(value as object)).toEqual(["a"]);
  });

  test("the names of the prototype are keys like any other", () => {
    const given = JSON.parse('{ "__proto__": { "polluted": true }, "constructor": 1 }') as object;
    const { value } = freezePlain(given);
    expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect((value as { polluted?: boolean }).polluted).toBeUndefined();
    expect(samePlain(draftOf(value), given)).toBe(true);
    expect(Object.keys(draftOf(value))).toEqual(["__proto__", "constructor"]);
  });

  test("reads a getter once, and passes on what it throws", () => {
    let reads = 0;
    const { value } = freezePlain({
      get a() {
        return ++reads;
      },
    });
    expect([value.a, value.a, reads]).toEqual([1, 1, 1]);
    const hostile = {
      get a(): number {
        throw new Error("no");
      },
    };
    expect(() => freezePlain(hostile)).toThrow("no");
  });

  test("takes data of other realms and objects without a prototype", () => {
    const foreign: unknown = runInNewContext("({ a: [1, { b: 2 }] })");
    expect(freezePlain(foreign).value).toEqual({ a: [1, { b: 2 }] });
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    expect(freezePlain(bare).value).toEqual({ a: 1 });
  });

  test("bytes are the spec's own: each read gives a copy, and a Buffer is not shared", () => {
    const buffer = Buffer.from("hello");
    const { value } = freezePlain({ data: buffer as Uint8Array, list: [buffer as Uint8Array] });
    buffer[0] = 0;
    value.data[1] = 0;
    expect(new TextDecoder().decode(value.data)).toBe("hello");
    expect(new TextDecoder().decode(value.list[0])).toBe("hello");
    expect(value.data.constructor).toBe(Uint8Array);
    const draft = draftOf(value);
    draft.data[0] = 0;
    expect(value.data[0]).toBe("h".charCodeAt(0));
    expect(samePlain(draft, value)).toBe(false);
  });

  test("handles and opaque specs are shared", () => {
    const target = { live: true };
    const handle = new Handle(target);
    const opaque = new OpaqueSpec({ yaml: "a: 1" });
    const { value } = freezePlain({ handle, opaque });
    expect(value.handle).toBe(handle);
    expect(value.opaque).toBe(opaque);
    expect(draftOf(value).handle.target).toBe(target);
  });

  test("-0 is 0, as in JSON", () => expect(Object.is(freezePlain(-0).value, 0)).toBe(true));

  test("estimates the memory that the data keeps", () => {
    expect(freezePlain({ text: "x".repeat(1000) }).bytes).toBeGreaterThan(1000);
    expect(freezePlain(new Uint8Array(1000)).bytes).toBeGreaterThan(1000);
    expect(freezePlain(new OpaqueSpec({ yaml: "x".repeat(1000) })).bytes).toBeGreaterThanOrEqual(1000);
  });

  test("a path in an error is bounded", () => {
    const message = refusal({ ["k".repeat(10_000)]: { a: undefined, b: Number.NaN } });
    expect(message.length).toBeLessThan(200);
    expect(message).toContain(".b must be a finite number");
  });
});

describe("samePlain", () => {
  test("parts that are undefined count as absent", () => {
    expect(samePlain({ a: undefined }, {})).toBe(true);
    expect(samePlain({}, { a: undefined })).toBe(true);
    expect(samePlain({ a: undefined, b: 1 }, { b: 1, c: undefined })).toBe(true);
    expect(samePlain({ a: undefined, b: 1 }, { a: 1, b: undefined })).toBe(false);
  });

  test.for<[unknown, unknown]>([
    [[], {}],
    [{}, []],
    [null, {}],
    [1, "1"],
    [1n, 1],
    [new Uint8Array(1), [0]],
    [[0], new Uint8Array(1)],
    [new Uint8Array([1]), new Uint8Array([2])],
    [new OpaqueSpec({ yaml: "a" }), {}],
    [{}, new OpaqueSpec({ yaml: "a" })],
    [new OpaqueSpec({ yaml: "a" }), new OpaqueSpec({ bytes: new Uint8Array(1) })],
    [{ a: 1 }, { b: 1 }],
    [{ toString: 1 }, {}],
  ])("%o and %o differ", ([a, b]) => expect(samePlain(a, b)).toBe(false));

  test("opaque specs are the same when texts and bytes are", () => {
    const bytes = new Uint8Array([1, 2]);
    expect(
      samePlain(new OpaqueSpec({ bytes, yaml: "a" }), new OpaqueSpec({ bytes: new Uint8Array([1, 2]), yaml: "a" })),
    ).toBe(true);
    expect(samePlain(new OpaqueSpec({ bytes }), new OpaqueSpec({ bytes: new Uint8Array([1, 3]) }))).toBe(false);
  });
});

describe("plain data", () => {
  const key = fc.oneof(fc.constantFrom("a", "b", "__proto__", "constructor"), fc.string());
  const { plain } = fc.letrec<{ plain: unknown }>((tie) => ({
    plain: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.bigInt(),
      fc.uint8Array({ maxLength: 4 }),
      fc.array(tie("plain"), { maxLength: 4 }),
      fc.dictionary(key, tie("plain"), { maxKeys: 4 }),
    ),
  }));

  /** A text that two data share exactly when they are equal. */
  const canonical = (value: unknown): string => {
    if (typeof value === "bigint") return `${value}n`;
    if (value instanceof Uint8Array) return `<${[...value].join()}>`;
    if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
    if (typeof value !== "object" || value === null) return JSON.stringify(value === 0 ? 0 : value);
    const entries = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}:${canonical(part)}`);
    return `{${entries.sort().join()}}`;
  };

  property.prop([plain])("survives freezing and drafting", (value) => {
    const frozen = freezePlain(value).value;
    const draft = draftOf(frozen);
    expect(canonical(frozen)).toBe(canonical(value));
    expect(canonical(draft)).toBe(canonical(value));
    expect(canonical(freezePlain(draft).value)).toBe(canonical(value));
    expect(samePlain(draft, frozen)).toBe(true);
    expect(samePlain(frozen, value)).toBe(true);
  });

  property.prop([plain, plain])("is the same when a model says so", (a, b) => {
    expect(samePlain(a, b)).toBe(canonical(a) === canonical(b));
    expect(samePlain(freezePlain([a]).value, [b])).toBe(canonical(a) === canonical(b));
  });

  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: true,
  });
  property.prop([anything], { numRuns: 300 })(
    "whatever comes is either frozen all the way down or refused with its path",
    (value) => {
      const isFrozen = (part: unknown): boolean =>
        typeof part !== "object" ||
        part === null ||
        part instanceof Uint8Array ||
        (Object.isFrozen(part) && Object.values(part).every(isFrozen));
      try {
        expect(isFrozen(freezePlain(value).value)).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(PlainDataError);
        expect(String(error)).toMatch(/^PlainDataError: spec/);
      }
    },
  );
});
