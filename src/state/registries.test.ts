import { describe, expect, test } from "vitest";
import { MemoryState } from "../memory/index.ts";
import { defineResource, isConflict, NamespaceType, ResourceDefinitionType, shape } from "../resource/index.ts";
import { NamespaceRegistry, ResourceRegistry } from "./registries.ts";

const Disk = defineResource({
  type: "Disks.hw.example",
  namespace: "lab",
  spec: shape({ size: "integer" }),
  aliases: ["dsk"],
  columns: { Size: "$.size" },
});

describe("NamespaceRegistry", () => {
  test("registers the namespace of the registries [state 91]", async () => {
    await using state = new MemoryState({ types: [NamespaceType, ResourceDefinitionType] });
    await new NamespaceRegistry(state).registerDefault();
    const meta = await state.get(NamespaceType, "meta");
    expect(meta.metadata).toMatchObject({ namespace: "meta", owner: "meta", version: "1" });
    expect(meta.spec.description).not.toBe("");
  });

  test("registers others once", async () => {
    await using state = new MemoryState();
    const registry = new NamespaceRegistry(state);
    await registry.register("lab", "Where disks are tried out.");
    expect((await state.get(NamespaceType, "lab")).spec.description).toBe("Where disks are tried out.");
    expect(isConflict(await registry.register("lab", "again").catch((error: unknown) => error))).toBe(true);
  });
});

describe("ResourceRegistry", () => {
  test("registers the types of the registries [state 92]", async () => {
    await using state = new MemoryState({ types: [NamespaceType, ResourceDefinitionType] });
    await using watch = await state.watchKind(ResourceDefinitionType);
    await new ResourceRegistry(state).registerDefault();
    expect((await watch.next()).value?.resource?.metadata.id).toBe("resourcedefinitions.meta.cosi.dev");
    expect((await watch.next()).value?.resource?.metadata.id).toBe("namespaces.meta.cosi.dev");
    const definitions = await state.list(ResourceDefinitionType);
    expect(definitions.map(({ metadata }) => metadata.owner)).toEqual(["meta", "meta"]);
    expect(definitions.map(({ spec }) => spec.displayType)).toEqual(["Namespace", "ResourceDefinition"]);
  });

  test("describes a type as it was defined, once", async () => {
    await using state = new MemoryState();
    const registry = new ResourceRegistry(state);
    const definition = await registry.register(Disk);
    expect(definition).toBe(await state.get(ResourceDefinitionType, "disks.hw.example"));
    expect(definition.spec).toMatchObject({
      type: "Disks.hw.example",
      displayType: "Disk",
      defaultNamespace: "lab",
      printColumns: [{ name: "Size", jsonPath: "{.size}" }],
    });
    expect(definition.spec.aliases).toContain("dsk");
    expect(isConflict(await registry.register(Disk).catch((error: unknown) => error))).toBe(true);
  });

  test("creates nothing for a type whose name breaks the rules", async () => {
    await using state = new MemoryState();
    const odd = defineResource({ type: "Disk.hw.example", spec: shape({ size: "integer" }) });
    await expect(new ResourceRegistry(state).register(odd)).rejects.toThrow(/Disk\.hw\.example.*plural/);
    expect(await state.list(ResourceDefinitionType)).toHaveLength(0);
  });

  test("stops when told", async () => {
    await using state = new MemoryState();
    const reason = new Error("enough");
    const options = { signal: AbortSignal.abort(reason) };
    await expect(new ResourceRegistry(state).registerDefault(options)).rejects.toBe(reason);
    await expect(new NamespaceRegistry(state).registerDefault(options)).rejects.toBe(reason);
    expect(await state.list(ResourceDefinitionType)).toHaveLength(0);
  });
});
