import { describe, expect, test } from "vitest";
import {
  definitionOf,
  fillDefinition,
  NamespaceType,
  ResourceDefinitionType,
  toPrintPath,
  type DefinitionInput,
} from "./definition.ts";
import { defineResource } from "./resource-type.ts";
import { shape } from "../spec/shape.ts";
import { hasCode, StateError } from "../state-error.ts";

describe("fillDefinition", () => {
  test("[transport C19] [state 118] completes the type of resource definitions", async () => {
    const { metadata, spec } = await definitionOf(ResourceDefinitionType);
    expect(metadata).toMatchObject({ namespace: "meta", id: "resourcedefinitions.meta.cosi.dev" });
    expect(spec.displayType).toBe("ResourceDefinition");
    expect(spec.aliases).toEqual(["api-resources", "resourcedefinition", "rd", "rds"]);
    expect(spec.allAliases).toEqual([
      "resourcedefinitions",
      "resourcedefinitions.meta",
      "resourcedefinitions.meta.cosi",
      "api-resources",
      "resourcedefinition",
      "rd",
      "rds",
    ]);
    expect(spec.defaultNamespace).toBe("meta");
    expect(spec.printColumns).toEqual([{ name: "Aliases", jsonPath: "{.aliases[:]}" }]);
  });

  test("[transport C19] [state 119] leaves the automatic aliases out when told", async () => {
    const type = defineResource({
      type: "ResourceDefinitions.meta.cosi.dev",
      spec: shape({}),
      aliases: ["api-resources"],
      skipAutomaticAliases: true,
    });
    const { metadata, spec } = await definitionOf(type);
    expect(metadata.id).toBe("resourcedefinitions.meta.cosi.dev");
    expect(spec).toMatchObject({
      displayType: "ResourceDefinition",
      aliases: ["api-resources"],
      allAliases: ["api-resources"],
      skipAutomaticAliases: true,
    });
  });

  test("[transport C19] [state 120] completes the type of namespaces", async () => {
    const { metadata, spec } = await definitionOf(NamespaceType);
    expect(metadata).toMatchObject({ namespace: "meta", id: "namespaces.meta.cosi.dev" });
    expect(spec).toMatchObject({
      displayType: "Namespace",
      aliases: ["ns", "namespace"],
      allAliases: ["namespaces", "namespaces.meta", "namespaces.meta.cosi", "ns", "namespace"],
    });
  });

  test("derives abbreviations from the capitals of the plural", async () => {
    const { aliases, allAliases } = await fillDefinition({ type: "EtcFileSpecs.node.example" });
    expect(aliases).toEqual(["etcfilespec", "efs"]);
    expect(allAliases).toEqual(["etcfilespecs", "etcfilespecs.node", "etcfilespec", "efs"]);
    expect((await fillDefinition({ type: "Disks.hw" })).allAliases).toEqual(["disks", "disk"]);
  });

  test.for<[string, string]>([
    ["", "it needs a suffix"],
    [".", "there is no name before the first dot"],
    ["a.", "there is no suffix after the first dot"],
    ["disks.hw.example", "must be CamelCase"],
    ["1Disks.hw.example", "must match ^[A-Z]"],
    ["Disks.hw_example", "must match ^[a-z]"],
    ["Disk.hw.example", "must be an English plural, such as Disks"],
  ])("[transport C19] [state 121] refuses the type %o", async ([type, reason]) => {
    const error = await fillDefinition({ type }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StateError);
    expect(hasCode(error, "invalid")).toBe(true);
    expect(String(error)).toContain(`type ${JSON.stringify(type)} is invalid: `);
    expect(String(error)).toContain(reason);
  });

  test.for([
    "Disks",
    ".hw.example",
    "D.hw.example",
    "Disks.h.example",
    "Disks..example",
    "Disks.hw.",
    "Disks.Hw.example",
    "Dísks.hw.example",
    "Disks.hw.example\n",
  ])("refuses the type %o as well", async (type) => {
    await expect(fillDefinition({ type })).rejects.toThrow(StateError);
  });

  test.for<[string, string | undefined]>([
    ["Hardware", "Hardware"],
    ["NodeHardware", undefined],
    ["DiskStatus", undefined],
    ["DiskStatuses", "DiskStatus"],
    ["CPUs", undefined],
    ["HTTPRoutes", "HTTPRoute"],
    ["IPAddresses", "IPAddress"],
    ["IDs", "ID"],
    ["SMS", "SMS"],
  ])("knows English: %s", async ([name, singular]) => {
    const filled = fillDefinition({ type: `${name}.hw.example` });
    expect(
      await filled.then(
        ({ displayType }) => displayType,
        () => undefined,
      ),
    ).toBe(singular);
  });

  test("refuses an unknown sensitivity", async () => {
    const type = "Disks.hw.example";
    await expect(fillDefinition({ type, sensitivity: "secret" })).rejects.toThrow(
      'must be "sensitive" or empty, got "secret"',
    );
    expect((await fillDefinition({ type, sensitivity: "sensitive" })).sensitivity).toBe("sensitive");
    expect("sensitivity" in (await fillDefinition({ type, sensitivity: "" }))).toBe(false);
    const spec = { ...(await fillDefinition({ type })), sensitivity: "secret" };
    expect(() => ResourceDefinitionType.create("disks.hw.example", spec as never)).toThrow("spec.sensitivity: must be");
  });

  test("[state 186] is pure: the same input gives the same result, and a filled definition stays as it is", async () => {
    const input: DefinitionInput = Object.freeze({
      type: "Disks.hw.example",
      aliases: Object.freeze(["hd", "hd", "disk"]),
      printColumns: Object.freeze([{ name: "Size", jsonPath: "{.size}" }]),
    });
    const once = await fillDefinition(input);
    expect(once.aliases).toEqual(["hd", "disk"]);
    expect(await fillDefinition(input)).toEqual(once);
    expect(await fillDefinition(once)).toEqual(once);
  });
});

describe("definitionOf", () => {
  test("says what the type was defined with", async () => {
    const Disk = defineResource({
      type: "Disks.hw.example",
      namespace: "lab",
      spec: shape({ size: "integer" }),
      aliases: ["hd"],
      columns: { Size: "$.size", First: "$.parts[0].name" },
      sensitive: true,
    });
    const { metadata, spec } = await definitionOf(Disk);
    expect(metadata).toMatchObject({ namespace: "meta", type: ResourceDefinitionType.type, id: "disks.hw.example" });
    expect(spec).toEqual({
      type: "Disks.hw.example",
      displayType: "Disk",
      defaultNamespace: "lab",
      aliases: ["hd", "disk"],
      allAliases: ["disks", "disks.hw", "hd", "disk"],
      printColumns: [
        { name: "Size", jsonPath: "{.size}" },
        { name: "First", jsonPath: "{.parts[0].name}" },
      ],
      sensitivity: "sensitive",
    });
    expect((await definitionOf(Disk.in("other"))).spec.defaultNamespace).toBe("other");
  });

  test("names the type that has no proper name", async () => {
    await expect(definitionOf(defineResource({ type: "test/int", spec: shape({}) }))).rejects.toThrow(
      'type "test/int"',
    );
  });
});

describe("print paths", () => {
  test.for([
    ["$.size", "{.size}"],
    ["$.tags[:]", "{.tags[:]}"],
    ["$['a b']", "{['a b']}"],
    ["$..x", "{..x}"],
    ["$", "{}"],
  ] as const)("%s on the wire is %s", ([path, wire]) => {
    expect(toPrintPath(path)).toBe(wire);
    expect(toPrintPath(wire)).toBe(wire);
  });
});
