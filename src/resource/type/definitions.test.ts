import { describe, expect, test } from "vitest";
import { z } from "zod";
import { definitionOf, SCHEMA_ANNOTATION } from "./definition.ts";
import { definitionsOf } from "./definitions.ts";
import { defineResource, type AnyResourceType } from "./resource-type.ts";
import { shape } from "../spec/shape.ts";

const type = (name: string, aliases: readonly string[] = []): AnyResourceType =>
  defineResource({ type: `${name}.farm.example.dev`, spec: shape({}), aliases });

async function aliasesOf(...types: readonly AnyResourceType[]): Promise<readonly (readonly string[] | undefined)[]> {
  const definitions = await definitionsOf(types);
  return types.map((one) => definitions.get(one)?.spec.aliases);
}

describe("definitions of types that are used side by side", () => {
  test("an abbreviation of several types is left to none", async () => {
    const [files, statuses] = await aliasesOf(type("ConfigFiles"), type("ConfigFileStatuses"));
    expect(files).toEqual(["configfile", "cf"]);
    expect(statuses).toEqual(["configfilestatus"]);
  });

  test("an alias that was given goes before an abbreviation, and a name before both", async () => {
    const [services, statuses] = await aliasesOf(type("Services", ["ss"]), type("ServiceStatuses", ["service"]));
    expect(services).toEqual(["ss", "service"]);
    expect(statuses).toEqual(["servicestatus"]);
  });

  test("the same name in two groups stays what it is: only the suffix tells them apart", async () => {
    const other = defineResource({ type: "Services.other.example.dev", spec: shape({}) });
    expect(await aliasesOf(type("Services"), other)).toEqual([["service"], ["service"]]);
  });

  test("a type without a definition is left out, and one alone keeps its own", async () => {
    const unruly = defineResource({ type: "test/unruly", spec: shape({}) });
    const service = type("Services");
    const definitions = await definitionsOf([unruly, service, service]);
    expect([...definitions.keys()]).toEqual([service]);
    expect(definitions.get(service)).toEqual(await definitionOf(service));
  });
});

describe("the JSON Schema of a definition", () => {
  const schemaOf = async (spec: Parameters<typeof defineResource>[0]["spec"]): Promise<unknown> => {
    const { metadata } = await definitionOf(defineResource({ type: "Jobs.batch.example.dev", spec }));
    const text = metadata.annotations[SCHEMA_ANNOTATION];
    return text === undefined ? undefined : JSON.parse(text);
  };

  test("comes from the schema's library: what may be written, not what is stored", async () => {
    const spec = z.object({ size: z.number().describe("In bytes."), retries: z.number().default(3), n: z.bigint() });
    expect(await schemaOf(spec)).toMatchObject({
      properties: { size: { type: "number", description: "In bytes." }, retries: { default: 3 }, n: {} },
      required: ["size", "n"],
    });
  });

  test("a shape tells it as well", async () => {
    const spec = shape({ command: ["string"], "limits?": { memory: "integer" }, free: (value: unknown) => value });
    expect(await schemaOf(spec)).toEqual({
      type: "object",
      properties: {
        command: { type: "array", items: { type: "string" } },
        limits: {
          type: "object",
          properties: { memory: { type: "integer" } },
          required: ["memory"],
          additionalProperties: false,
        },
        free: {},
      },
      required: ["command", "free"],
      additionalProperties: false,
    });
  });

  test("is left out where a library does not tell, or cannot, or tells too much", async () => {
    const validate = (value: unknown): { readonly value: unknown } => ({ value });
    const props = { version: 1, vendor: "none", validate } as const;
    const fails = (): never => {
      throw new Error("not representable");
    };
    expect(await schemaOf({ "~standard": props })).toBeUndefined();
    expect(await schemaOf({ "~standard": { ...props, jsonSchema: { input: fails } } } as never)).toBeUndefined();
    expect(await schemaOf(z.object({ a: z.string().describe("x".repeat(70_000)) }))).toBeUndefined();
  });
});
