import type { StandardSchemaV1 } from "@standard-schema/spec";
import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { shape } from "./shape.ts";
import { formatSpecPath } from "./spec-issue.ts";

/** The value, or the issues as one text each. */
function check(schema: StandardSchemaV1, value: unknown): unknown {
  const result = schema["~standard"].validate(value) as StandardSchemaV1.Result<unknown>;
  if (result.issues === undefined) return { value: result.value };
  return result.issues.map(({ path, message }) => `${formatSpecPath((path ?? []) as string[])}: ${message}`);
}

describe("shape", () => {
  const service = shape({
    command: ["string"],
    "restart?": "boolean",
    ports: [{ number: "integer", "name?": "string" }],
    weight: "number",
    mode: (value) => {
      if (value === "blue" || value === "green") return value;
      throw new TypeError('must be "blue" or "green"');
    },
  });

  test("accepts what fits, and gives a copy of the known fields", () => {
    const value = {
      command: ["a"],
      restart: true,
      ports: [{ number: 1 }, { number: 2, name: "b" }],
      weight: 0.5,
      mode: "blue",
    };
    expect(check(service, value)).toEqual({ value });
    const { restart: _, ...rest } = value;
    expect(check(service, rest)).toEqual({ value: rest });
    expect(check(service, { ...value, restart: undefined })).toEqual({ value: rest });
  });

  test("reports every issue with its path", () => {
    expect(
      check(service, { command: "a", ports: [{ number: 1.5 }, 7], weight: Number.NaN, mode: "red", extra: 1 }),
    ).toEqual([
      "spec.extra: is not a known field; known: command, restart, ports, weight, mode",
      'spec.command: must be a list, got "a"',
      "spec.ports[0].number: must be a whole number, got 1.5",
      "spec.ports[1]: must be an object, got 7",
      "spec.weight: must be a finite number, got NaN",
      'spec.mode: must be "blue" or "green"',
    ]);
    expect(check(service, {})).toEqual([
      "spec.command: is missing; it must be a list",
      "spec.ports: is missing; it must be a list",
      "spec.weight: is missing; it must be a finite number",
      'spec.mode: must be "blue" or "green"',
    ]);
  });

  test.for<[unknown, string]>([
    [undefined, "spec: is missing; it must be an object"],
    [null, "spec: must be an object, got null"],
    [[], "spec: must be an object, got a list"],
    ["x", 'spec: must be an object, got "x"'],
  ])("an object is not %o", ([value, issue]) => expect(check(shape({}), value)).toEqual([issue]));

  test("an empty object refuses every field, those of the prototype too", () => {
    expect(check(shape({}), {})).toEqual({ value: {} });
    expect(check(shape({}), JSON.parse('{ "__proto__": {}, "toString": 1 }'))).toHaveLength(2);
    expect(check(shape({ toString: "string" }), {})).toEqual(["spec.toString: is missing; it must be a string"]);
  });

  test("may be a primitive or a list alone", () => {
    expect(check(shape("integer"), 2 ** 53)).toEqual([`spec: must be a whole number, got ${2 ** 53}`]);
    expect(check(shape(["boolean"]), [true, 0])).toEqual(["spec[1]: must be true or false, got 0"]);
  });

  test("makes a bounded report", () => {
    const value = Array.from({ length: 10_000 }, () => 1);
    expect(check(shape(["string"]), value)).toHaveLength(20);
  });

  test.for([
    undefined,
    null,
    1,
    "text",
    [],
    ["string", "number"],
    { a: "text" },
    [undefined],
    JSON.parse('{ "__proto__": "string" }'),
  ])("a shape is not %o", (template) => {
    expect(() => shape(template as never)).toThrow(TypeError);
  });

  test("throws nothing, whatever a function throws", () => {
    const hostile = shape(() => {
      // oxlint-disable-next-line typescript/only-throw-error -- somebody's mistake is what this is about
      throw "no";
    });
    expect(check(hostile, 1)).toEqual(["spec: no"]);
  });

  property.prop([fc.anything()], { numRuns: 500 })("answers whatever comes", (value) => {
    const answer = check(service, value);
    expect(Array.isArray(answer) || typeof answer === "object").toBe(true);
  });
});
