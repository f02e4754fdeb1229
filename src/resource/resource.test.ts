import { describe, expect, test } from "vitest";
import { changeResource } from "./change-resource.ts";
import { Phase } from "./metadata/phase.ts";
import {
  createResource,
  isSealed,
  patchMetadata,
  replaceMetadata,
  resourceBytes,
  sameResource,
  withSpec,
} from "./resource.ts";
import { defineResource } from "./type/resource-type.ts";
import { shape } from "./spec/shape.ts";
import { StateError } from "./state-error.ts";

const at = { namespace: "lab", type: "Disks.hw.example", id: "sda" };
const Disk = defineResource({
  type: "Disks.hw.example",
  namespace: "lab",
  spec: shape({ size: "integer", "tags?": ["string"] }),
});

describe("a resource", () => {
  test("is deeply frozen", () => {
    const disk = Disk.create("sda", { size: 1, tags: ["a"] }, { labels: { bus: "nvme" }, finalizers: ["A"] });
    expect(isSealed(disk)).toBe(true);
    const { metadata, spec } = disk;
    for (const part of [disk, metadata, metadata.labels, metadata.annotations, metadata.finalizers, spec, spec.tags]) {
      expect(Object.isFrozen(part)).toBe(true);
      expect(() => Object.assign(part ?? {}, { added: 1 })).toThrow(TypeError);
    }
  });

  test("is written in logs by its address and version", () => {
    expect(String(createResource({ ...at, version: "3" }, {}))).toBe("Disks.hw.example(lab/sda@3)");
  });

  test("that is no plain data is refused with its name and the path", () => {
    const create = () => createResource(at, { parts: [{ size: Number.NaN }] });
    expect(create).toThrow(StateError);
    expect(create).toThrow("Disks.hw.example(lab/sda) is invalid: spec.parts[0].size must be a finite number, got NaN");
    expect(create).toThrow(
      expect.objectContaining({
        issues: [{ path: ["parts", 0, "size"], message: "must be a finite number, got NaN" }],
      }),
    );
  });

  test("whatever a getter throws is an invalid spec", () => {
    const spec = {
      get size(): number {
        // oxlint-disable-next-line typescript/only-throw-error -- hostile input is what this is about
        throw "no";
      },
    };
    expect(() => createResource(at, spec)).toThrow("Disks.hw.example(lab/sda) is invalid: no");
  });

  test("of bytes alone gives a copy on each read", () => {
    const resource = createResource(at, new Uint8Array([1, 2]));
    resource.spec[0] = 9;
    expect([...resource.spec]).toEqual([1, 2]);
    const other = replaceMetadata(resource, resource.metadata);
    expect([...other.spec]).toEqual([1, 2]);
    expect(sameResource(resource, other)).toBe(true);
  });

  test("keeps its spec, not a copy, under other metadata", () => {
    const disk = Disk.create("sda", { size: 1 });
    const patched = patchMetadata(disk, { phase: Phase.tearingDown });
    expect(patched.spec).toBe(disk.spec);
    expect(patched.metadata.phase).toBe(Phase.tearingDown);
    expect(disk.metadata.phase).toBe(Phase.running);
    expect(resourceBytes(patched)).toBe(resourceBytes(disk));
  });

  test.each([
    ["a list of strings", Array.from({ length: 1000 }, () => "x".repeat(100)), 100_000],
    ["a list of numbers", Array.from({ length: 10_000 }, (_, i) => i), 80_000],
    ["lists in lists", Array.from({ length: 1000 }, () => Array.from({ length: 10 }, () => true)), 80_000],
    ["the places of a list alone", Array.from({ length: 10_000 }, () => null), 80_000],
    ["empty lists", Array.from({ length: 1000 }, () => []), 16_000],
    ["a list of records", Array.from({ length: 1000 }, () => ({ text: "x".repeat(100) })), 100_000],
    ["a list of bytes", Array.from({ length: 10 }, () => new Uint8Array(10_000)), 100_000],
  ])("counts the memory of %s", (_, list, least) => {
    const empty = resourceBytes(createResource(at, { list: [] }));
    const bytes = resourceBytes(createResource(at, { list })) - empty;
    expect(bytes).toBeGreaterThanOrEqual(least);
    expect(bytes).toBeLessThan(4 * least);
    expect(resourceBytes(createResource(at, list)) - resourceBytes(createResource(at, []))).toBe(bytes);
  });

  test("with another spec is checked by the same schema", () => {
    const disk = Disk.create("sda", { size: 1 });
    expect(withSpec(disk, { size: 2 }).spec).toEqual({ size: 2 });
    expect(() => withSpec(disk, { size: "2" } as never)).toThrow('spec.size: must be a whole number, got "2"');
  });

  test("equals another with the same metadata and spec", () => {
    const disk = Disk.create("sda", { size: 1 });
    expect(sameResource(disk, createResource(at, { size: 1 }))).toBe(true);
    expect(sameResource(disk, Disk.create("sda", { size: 2 }))).toBe(false);
    expect(sameResource(disk, Disk.create("sdb", { size: 1 }))).toBe(false);
  });
});

describe("changeResource", () => {
  const disk = Disk.create("sda", { size: 1, tags: ["a"] }, { labels: { bus: "nvme" } });

  test("gives drafts to write to, and leaves the original as it was", async () => {
    const changed = await changeResource(disk, (spec, metadata) => {
      spec.size = 2;
      spec.tags?.push("b");
      metadata.labels["slot"] = "1";
      metadata.addFinalizer("A");
    });
    expect(changed.spec).toEqual({ size: 2, tags: ["a", "b"] });
    expect(changed.metadata).toMatchObject({ labels: { bus: "nvme", slot: "1" }, finalizers: ["A"] });
    expect(Object.isFrozen(changed.spec.tags)).toBe(true);
    expect(disk.spec).toEqual({ size: 1, tags: ["a"] });
    expect(disk.metadata.finalizers).toEqual([]);
  });

  test("takes a returned spec, also from a promise, in place of the draft", async () => {
    const changes = [
      () => ({ size: 5 }),
      async () => ({ size: 5 }),
      // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library
      () => ({ then: (resolve: (spec: object) => void) => resolve({ size: 5 }) }),
    ];
    for (const change of changes)
      expect((await changeResource(disk, change as () => { size: number })).spec).toEqual({ size: 5 });
  });

  test("gives the resource itself when nothing differs", async () => {
    expect(await changeResource(disk, () => undefined)).toBe(disk);
    expect(await changeResource(disk, () => ({ size: 1, tags: ["a"] }))).toBe(disk);
    expect(await changeResource(disk, (spec) => void (spec.size = 1))).toBe(disk);
    expect(await changeResource(disk, (_, metadata) => void (metadata.labels["bus"] = "nvme"))).toBe(disk);
    const bare = Disk.create("sda", { size: 1 });
    expect(await changeResource(bare, (spec) => void (spec.tags = undefined))).toBe(bare);
  });

  test("keeps the spec itself when only metadata differs", async () => {
    const changed = await changeResource(disk, (_, metadata) => void (metadata.phase = Phase.tearingDown));
    expect(changed.spec).toBe(disk.spec);
  });

  test("counts a spec that the schema turns into the old one as no change", async () => {
    const Trimmed = defineResource({
      type: "Names.example.dev",
      spec: shape((value): string => String(value).trim()),
    });
    const name = Trimmed.create("a", "x");
    expect(await changeResource(name, () => " x ")).toBe(name);
    expect((await changeResource(name, () => " y ")).spec).toBe("y");
  });

  test("refuses what the schema refuses, and what is no data", async () => {
    await expect(changeResource(disk, (spec) => void (spec.size = 1.5))).rejects.toThrow(
      "spec.size: must be a whole number",
    );
    const cyclic = changeResource(createResource(at, { a: {} as object }), (spec) => void (spec.a = spec));
    await expect(cyclic).rejects.toThrow("is nested deeper than 200 levels, or is a cycle");
    const owner = changeResource(patchMetadata(disk, { owner: "A" }), (_, metadata) => void (metadata.owner = "B"));
    await expect(owner).rejects.toThrow(StateError);
  });

  test("passes on what the change throws, unchanged", async () => {
    const reason = new Error("no");
    await expect(changeResource(disk, () => Promise.reject(reason))).rejects.toBe(reason);
    await expect(
      changeResource(disk, () => {
        throw reason;
      }),
    ).rejects.toBe(reason);
  });
});
