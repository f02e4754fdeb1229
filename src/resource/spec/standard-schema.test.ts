import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { changeResource } from "../change-resource.ts";
import { createResource } from "../resource.ts";
import { defineResource } from "../type/resource-type.ts";
import { StateError } from "../state-error.ts";

const at = { type: "Services.example.dev" } as const;

const LIBRARIES = {
  Zod: defineResource({
    ...at,
    spec: z.strictObject({
      command: z.array(z.string()).min(1),
      restart: z.enum(["always", "never"]).default("always"),
      limits: z.strictObject({ memory: z.number() }).optional(),
    }),
  }),
  Valibot: defineResource({
    ...at,
    spec: v.strictObject({
      command: v.pipe(v.array(v.string()), v.minLength(1)),
      restart: v.optional(v.picklist(["always", "never"]), "always"),
      limits: v.optional(v.strictObject({ memory: v.number() })),
    }),
  }),
  ArkType: defineResource({
    ...at,
    spec: type({
      "+": "reject",
      command: "string[] >= 1",
      restart: "'always' | 'never' = 'always'",
      "limits?": { "+": "reject", memory: "number" },
    }),
  }),
};

const pathsOf = (fn: () => unknown): string[] => {
  try {
    fn();
  } catch (error) {
    if (error instanceof StateError) return (error.issues ?? []).map(({ path }) => path.join("/")).toSorted();
    throw error;
  }
  return [];
};

/** What `fn` returns, or `refused` when it is refused with a StateError. */
function tryTo<T>(fn: () => T, refused: T): T {
  try {
    return fn();
  } catch (error) {
    if (error instanceof StateError) return refused;
    throw error;
  }
}

describe.for(Object.keys(LIBRARIES) as (keyof typeof LIBRARIES)[])("defineResource with %s", (name) => {
  const Service = LIBRARIES[name];

  test("fills defaults and freezes", () => {
    const web = Service.create("web", { command: ["node"] });
    expect(web.spec).toEqual({ command: ["node"], restart: "always" });
    expect(Object.isFrozen(web.spec.command)).toBe(true);
    expect(Service.cast(createResource(web.metadata, { command: ["node"] })).spec.restart).toBe("always");
  });

  test("accepts the frozen specs that it returned", async () => {
    const web = Service.create("web", { command: ["node"], limits: { memory: 1 } });
    expect(Service.parseSpec(web.spec)).toEqual(web.spec);
    const changed = await changeResource(web, (spec) => void spec.command.push("web.js"));
    expect(changed.spec).toEqual({ command: ["node", "web.js"], restart: "always", limits: { memory: 1 } });
    expect(web.spec.command).toEqual(["node"]);
  });

  test("reports issues with their paths, unknown keys at the key", () => {
    const wrong = { command: ["node", 1], limits: { memory: "1", cpu: 1 }, extra: true };
    expect(pathsOf(() => Service.create("web", wrong as never))).toEqual([
      "command/1",
      "extra",
      "limits/cpu",
      "limits/memory",
    ]);
    expect(pathsOf(() => Service.create("web", {} as never))).toEqual(["command"]);
    expect(() => Service.create("web", { command: [] })).toThrow(
      "Services.example.dev(default/web) is invalid: spec.command: ",
    );
  });

  test("keeps numbers that are no JSON out", () => {
    expect(() => Service.create("web", { command: ["a"], limits: { memory: Number.NaN } })).toThrow(
      /spec\.limits\.memory/,
    );
    expect(() => Service.create("web", { command: ["a"], limits: { memory: Number.POSITIVE_INFINITY } })).toThrow(
      /spec\.limits\.memory/,
    );
  });

  test("the names of the prototype do no harm", () => {
    const hostile = JSON.parse('{ "command": ["a"], "__proto__": { "restart": "never" } }') as { command: string[] };
    const restart = tryTo(() => Service.create("web", hostile).spec.restart, "always");
    expect(restart).toBe("always");
    expect(({} as { restart?: string }).restart).toBeUndefined();
  });
});

test("what a schema library calls encode and decode is no codec: specs are JSON for peers", () => {
  const schemas = [z.object({ size: z.number() }), v.object({ size: v.number() }), type({ size: "number" })];
  for (const spec of schemas) {
    const { codec } = defineResource({ type: "Disks.hw.example", spec });
    expect(new TextDecoder().decode(codec.encode({ size: 1 } as never))).toBe('{"size":1}');
    expect(codec.decode(new TextEncoder().encode('{"size":1}'))).toEqual({ size: 1 });
  }
});
