import { expect, test } from "vitest";
import { createResource } from "./resource.ts";
import { createTombstone, isTombstone } from "./tombstone.ts";

const reference = { namespace: "lab", type: "Disks.hw.example", id: "sda", version: "4" };

test("[state 107] a tombstone is one, nothing else is", () => {
  expect(isTombstone(createTombstone(reference))).toBe(true);
  for (const other of [null, undefined, {}, "Tombstone", createResource(reference, {})]) {
    expect(isTombstone(other)).toBe(false);
  }
});

test("a tombstone keeps the address and the version, and has no spec", () => {
  const tombstone = createTombstone(createResource({ ...reference, owner: "A", labels: { a: "b" } }, {}).metadata);
  expect(tombstone.metadata).toMatchObject({ ...reference, owner: "", phase: "running", labels: {} });
  expect(() => tombstone.spec).toThrow("Tombstone(Disks.hw.example(lab/sda@4)) has no spec");
  expect(String(tombstone)).toBe("Tombstone(Disks.hw.example(lab/sda@4))");
  expect(Object.isFrozen(tombstone)).toBe(true);
});
