import { describe, expect, test } from "vitest";
import { capabilityOf, defineCapability } from "./capability.ts";
import { changeResource } from "../change-resource.ts";
import { definitionOf } from "./definition.ts";
import { OpaqueSpec } from "../spec/opaque-spec.ts";
import { draftOf } from "../spec/plain-data.ts";
import { createResource, sameResource, sourceOf, type Resource } from "../resource.ts";
import { defineResource } from "./resource-type.ts";
import { shape } from "../spec/shape.ts";
import { hasCode, StateError } from "../state-error.ts";
import { createTombstone } from "../tombstone.ts";
import { TypeRegistry } from "./type-registry.ts";

interface Prober {
  probe(): string;
}
const Probing = defineCapability<Prober>("probing");
const Silent = defineCapability<{ say(): void }>("silence");

const Disk = defineResource({
  type: "Disks.hw.example",
  namespace: "lab",
  spec: shape({ size: "integer", tags: ["string"] }),
}).providing(Probing, ({ metadata, spec }) => ({ probe: () => `${metadata.id} has ${spec.size}` }));

describe("a resource type", () => {
  test("[state 124] makes resources that know their definition and what they can do", async () => {
    const disk = Disk.create("sda", { size: 1, tags: ["a"] }, { labels: { bus: "nvme" }, annotations: { note: "x" } });
    expect(disk.metadata).toMatchObject({
      namespace: "lab",
      type: "Disks.hw.example",
      id: "sda",
      version: "undefined",
      labels: { bus: "nvme" },
      annotations: { note: "x" },
    });

    const copy: Resource = createResource(disk.metadata, draftOf(disk.spec));
    expect(sameResource(copy, disk)).toBe(true);
    const changed = await changeResource(disk, (spec) => {
      spec.size = 2;
      spec.tags.push("b");
    });
    expect(copy.spec).toEqual({ size: 1, tags: ["a"] });
    expect(disk.spec).toEqual({ size: 1, tags: ["a"] });

    expect(sourceOf(changed)).toBe(Disk.source);
    expect((await definitionOf(Disk)).spec.displayType).toBe("Disk");

    expect(capabilityOf(changed, Probing)?.probe()).toBe("sda has 2");
    expect(capabilityOf(disk, Probing)?.probe()).toBe("sda has 1");
    expect(capabilityOf(changed, Silent)).toBeUndefined();
    expect(capabilityOf(createTombstone(disk.metadata), Probing)).toBeUndefined();
    expect(capabilityOf(copy, Probing)).toBeUndefined();
    expect(() => capabilityOf(disk, { name: "probing" })).toThrow("a capability is made by defineCapability");
  });

  test("is the same definition in every namespace", () => {
    const other = Disk.in("home");
    expect(other.ref("sda")).toEqual({ namespace: "home", type: "Disks.hw.example", id: "sda" });
    expect(other.source).toBe(Disk.source);
    expect(other.create("sda", { size: 1, tags: [] }).metadata.namespace).toBe("home");
    expect(capabilityOf(other.create("sda", { size: 1, tags: [] }), Probing)?.probe()).toBe("sda has 1");
  });

  test("refuses a spec with every issue and its path", () => {
    const create = () => Disk.create("sda", { size: "1", tags: ["a", 2], extra: true } as never);
    expect(create).toThrow(StateError);
    expect(create).toThrow(
      'Disks.hw.example(lab/sda) is invalid: spec.extra: is not a known field; known: size, tags; spec.size: must be a whole number, got "1"; spec.tags[1]: must be a string, got 2',
    );
    expect(create).toThrow(expect.objectContaining({ code: "invalid", pointer: Disk.ref("sda") }));
  });

  test("casts what came undecoded by decoding it", () => {
    const Counted = defineResource({ type: "Counts.example.dev", spec: shape({ size: "integer" }) });
    const bytes = new TextEncoder().encode('{"size":7}');
    const metadata = { namespace: "default", type: Counted.type, id: "one" };
    const cast = Counted.cast(createResource(metadata, new OpaqueSpec({ bytes, yaml: "size: 7" })));
    expect(cast.spec).toEqual({ size: 7 });
    expect(sourceOf(cast)).toBe(Counted.source);
    const broken = createResource(metadata, new OpaqueSpec({ bytes: bytes.subarray(1) }));
    expect(() => Counted.cast(broken)).toThrow(
      /Counts\.example\.dev\(default\/one\) is invalid: its spec cannot be decoded/,
    );
    const wrong = createResource(metadata, new OpaqueSpec({ bytes: new TextEncoder().encode('{"size":"big"}') }));
    expect(() => Counted.cast(wrong)).toThrow(/size/);
  });

  test("casts resources of its type, and no others", () => {
    const disk = Disk.create("sda", { size: 1, tags: [] });
    expect(Disk.cast(disk)).toBe(disk);
    const plain = createResource(disk.metadata, { size: 1, tags: [] });
    expect(sourceOf(Disk.cast(plain))).toBe(Disk.source);
    expect(() => Disk.cast(createResource(disk.metadata, {}))).toThrow(
      "spec.size: is missing; it must be a whole number",
    );
    const other = createResource({ ...Disk.ref("a"), type: "Other" }, {});
    expect(() => Disk.cast(other)).toThrow("type mismatch: expected Disks.hw.example, got Other");
  });

  test("needs a name and a schema", () => {
    expect(() => defineResource({ type: "", spec: shape({}) })).toThrow("needs a type");
    expect(() => defineResource({ type: "a", spec: {} as never })).toThrow("defineResource(a) needs a Standard Schema");
    expect(() => defineResource({ type: "a", spec: undefined as never })).toThrow(TypeError);
  });

  test("needs a schema that answers at once", () => {
    const Late = defineResource({
      type: "a",
      spec: { "~standard": { version: 1, vendor: "test", validate: (value) => Promise.resolve({ value }) } },
    });
    expect(() => Late.create("x", {})).toThrow("the schema of a validates asynchronously");
  });

  test("nor does one that would fail asynchronously, and nobody else hears of that", async () => {
    const failing = () => Promise.reject(new Error("too late"));
    const Late = defineResource({
      type: "a",
      spec: { "~standard": { version: 1, vendor: "test", validate: failing } },
    });
    expect(() => Late.create("x", {})).toThrow("the schema of a validates asynchronously");
    // An unhandled rejection would fail the run.
    await new Promise<void>((resolve) => setImmediate(resolve));
  });

  test("a schema with endless complaints makes a bounded error", () => {
    const issues = Array.from({ length: 100_000 }, () => ({ message: "no" }));
    const type = defineResource({
      type: "a",
      spec: { "~standard": { version: 1, vendor: "test", validate: () => ({ issues }) } },
    });
    expect(() => type.create("x", {})).toThrow(/^.{0,1000}$/);
  });
});

describe("TypeRegistry", () => {
  test("admits specs of its types only after their schema, and others as they are", () => {
    const registry = new TypeRegistry([Disk]);
    const disk = Disk.create("sda", { size: 1, tags: [] });
    expect(registry.admit(disk)).toBe(disk);
    expect(sourceOf(registry.admit(createResource(disk.metadata, { size: 1, tags: [] })))).toBe(Disk.source);
    expect(() => registry.admit(createResource(disk.metadata, { size: "big" }))).toThrow(StateError);
    expect(() => registry.admit({ metadata: disk.metadata, spec: { size: 1, tags: "x" } })).toThrow(
      "spec.tags: must be a list",
    );

    const other = createResource({ ...disk.metadata, type: "Other" }, new OpaqueSpec({ yaml: "a: 1" }));
    expect(registry.admit(other)).toBe(other);
  });

  test("seals a resource that was written as a literal", () => {
    const spec = { a: [1] };
    const literal = { metadata: { ...Disk.create("a", { size: 1, tags: [] }).metadata, type: "Other" }, spec };
    const admitted = new TypeRegistry().admit(literal);
    spec.a.push(2);
    expect(admitted.spec).toEqual({ a: [1] });
    expect(() => new TypeRegistry().admit({ metadata: {}, spec } as never)).toThrow(
      "metadata.namespace must be a string",
    );
    expect(() => new TypeRegistry().admit({ spec } as never)).toThrow(StateError);
  });

  test("refuses an undecoded spec of a registered type", () => {
    const opaque = createResource(Disk.ref("sda"), new OpaqueSpec({ bytes: new Uint8Array(1) }));
    expect(() => new TypeRegistry([Disk]).admit(opaque)).toThrow("came undecoded, but its type is registered");
  });

  test("knows one definition of a type", () => {
    const registry = new TypeRegistry([Disk, Disk.in("home")]);
    expect([...registry]).toEqual([Disk]);
    expect(registry.get("Disks.hw.example")).toBe(Disk);
    const second = defineResource({ type: "Disks.hw.example", spec: shape({}) });
    expect(() => registry.register(second)).toThrow("registered with another definition already");
  });
});

test("errors of a spec are found through their cause", () => {
  const error = new Error("outer", { cause: new StateError("invalid", "inner") });
  expect(hasCode(error, "invalid")).toBe(true);
});
