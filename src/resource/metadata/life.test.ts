import { describe, expect, test } from "vitest";
import { createTombstone } from "../tombstone.ts";
import { assertSameLife, isSameLife, lifeOf, lifePointer, withLife } from "./life.ts";
import { createMetadata } from "./metadata.ts";

const address = { namespace: "default", type: "Things.example.dev", id: "a" };
const at = (created: string, version = "1") => createMetadata({ ...address, version, created });
const FIRST = "2026-01-01T00:00:00.000000001Z";
const SECOND = "2026-01-01T00:00:00.000000002Z";

describe("what names a life", () => {
  test.each([
    ["stored metadata", at(FIRST), FIRST],
    ["an address with the time of creation", { ...address, created: FIRST }, FIRST],
    ["an address", address, undefined],
    ["metadata that its caller made", createMetadata(address), undefined],
    ["metadata without a version", at(FIRST, "undefined"), undefined],
    ["metadata from YAML, whose times are whole seconds", at("2026-01-01T00:00:00Z"), undefined],
    ["a tombstone", createTombstone(at(FIRST)).metadata, undefined],
    ["something with another idea of created", { ...address, created: new Date(0) }, undefined],
  ])("%s", (_, pointer, life) => {
    expect(lifeOf(pointer)).toBe(life);
    expect(lifePointer(pointer)).toEqual(life === undefined ? address : { ...address, created: life });
  });

  test("is all that a copy keeps besides the address", () => {
    expect(Object.keys(lifePointer(at(FIRST)))).toEqual(["namespace", "type", "id", "created"]);
    expect(Object.keys(withLife(at(FIRST), undefined))).toEqual(["namespace", "type", "id"]);
  });
});

describe("two lives", () => {
  test("differ by a nanosecond, and not by how a time is written", () => {
    expect(isSameLife(at(FIRST), at(SECOND))).toBe(false);
    expect(isSameLife(at(FIRST, "7"), at(FIRST))).toBe(true);
    expect(isSameLife(at("2026-01-01T02:00:00.500000000+02:00"), at("2026-01-01T00:00:00.5Z"))).toBe(true);
  });

  test("are not told apart where one of them has no name", () => {
    expect(isSameLife(address, at(FIRST))).toBe(true);
    expect(isSameLife(at(FIRST), at("2026-01-01T00:00:00Z"))).toBe(true);
  });

  test("make a conflict that says which is which", () => {
    expect(() => assertSameLife(at(FIRST), at(SECOND))).toThrow(
      expect.objectContaining({
        code: "version_conflict",
        message: `Things.example.dev(default/a@1) is another resource than the one that is meant: it was created at ${SECOND}, that one at ${FIRST}`,
        pointer: address,
      }),
    );
  });

  test("cannot be compared by what is no time", () => {
    const pointer = { ...address, created: "the day before then.7" };
    expect(() => isSameLife(pointer, at(FIRST))).toThrow(
      'a time must be in RFC 3339, such as 1970-01-01T00:00:00Z, got "the day before then.7"',
    );
  });
});
