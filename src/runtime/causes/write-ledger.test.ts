import { describe, expect, test } from "vitest";
import { createMetadata, type Metadata } from "../../resource/index.ts";
import { Cause } from "./cause.ts";
import { WriteLedger } from "./write-ledger.ts";

const KIND = { namespace: "default", type: "T" };
const CREATED = "2026-01-01T12:00:00Z";

const metadata = (id: string, version = "1", created = CREATED): Metadata =>
  createMetadata({ ...KIND, id, version, created });

function ledger(): WriteLedger {
  const made = new WriteLedger();
  made.track(KIND);
  return made;
}

describe("the writer of a change", () => {
  test("is known by version and life, and told once", () => {
    const writes = ledger();
    const one = metadata("one");
    writes.add(one, metadata("one"), "A");
    expect(writes.takeWriter(one, metadata("one", "2"))).toBeUndefined();
    expect(writes.takeWriter(one, metadata("one", "1", "2026-01-01T12:00:01Z"))).toBeUndefined();
    expect(writes.takeWriter(one, "nothing")).toBeUndefined();
    expect(writes.takeWriter(metadata("two"), metadata("one"))).toBeUndefined();
    expect(writes.takeWriter(one, metadata("one"))).toBe("A");
    expect(writes.takeWriter(one, metadata("one"))).toBeUndefined();
  });

  test("is known for each of several writes of one resource, in any order", () => {
    const writes = ledger();
    const one = metadata("one");
    writes.add(one, metadata("one", "1"), "A");
    writes.add(one, metadata("one", "2"), "B");
    writes.add(one, "nothing", "C");
    expect(writes.takeWriter(one, metadata("one", "2"))).toBe("B");
    expect(writes.takeWriter(one, "nothing")).toBe("C");
    expect(writes.takeWriter(one, metadata("one", "1"))).toBe("A");
  });

  test("is remembered for 64 writes of a resource and 1024 resources, those not counted that were told", () => {
    const writes = ledger();
    const one = metadata("one");
    for (let version = 1; version <= 65; version++) writes.add(one, metadata("one", String(version)), "A");
    expect(writes.takeWriter(one, metadata("one", "1"))).toBeUndefined();
    expect(writes.takeWriter(one, metadata("one", "2"))).toBe("A");
    for (let i = 0; i < 2_000; i++) {
      const told = metadata(`told-${i}`);
      writes.add(told, told, "B");
      expect(writes.takeWriter(told, told)).toBe("B");
    }
    for (let i = 1; i < 1_024; i++) writes.add(metadata(`r${i}`), metadata(`r${i}`), "C");
    expect(writes.takeWriter(one, metadata("one", "3"))).toBe("A");
    writes.add(metadata("another"), metadata("another"), "C");
    expect(writes.takeWriter(one, metadata("one", "4"))).toBeUndefined();
    expect(writes.takeWriter(metadata("r1"), metadata("r1"))).toBe("C");
  });

  test("is not asked of kinds that nobody tracks", () => {
    const writes = new WriteLedger();
    const one = metadata("one");
    writes.add(one, one, "A");
    expect(writes.tracks("default", "T")).toBe(false);
    expect(writes.takeWriter(one, one)).toBeUndefined();
    expect(ledger().tracks("default", "T")).toBe(true);
  });
});

describe("a change of several events", () => {
  test("is a controller's only when it wrote all of it, even if that is learned later", () => {
    const writes = ledger();
    const cause = new Cause(writes);
    writes.add(metadata("one"), metadata("one"), "A");
    cause.add(metadata("one"), metadata("one"));
    expect([cause.isOnly("A"), cause.isOnly("B")]).toEqual([true, false]);
    cause.add(metadata("two"), metadata("two"));
    expect(cause.isOnly("A")).toBe(false);
    writes.add(metadata("two"), metadata("two"), "A");
    expect(cause.isOnly("A")).toBe(true);
    writes.add(metadata("one"), metadata("one", "2"), "B");
    cause.add(metadata("one", "2"), metadata("one", "2"));
    expect([cause.isOnly("A"), cause.isOnly("B")]).toEqual([false, false]);
  });

  test("is nobody's once something in it is not known, or too much of it", () => {
    const writes = ledger();
    writes.add(metadata("one"), metadata("one"), "A");
    const unknown = new Cause(writes);
    unknown.addUnknown();
    unknown.add(metadata("one"), metadata("one"));
    expect(unknown.isOnly("A")).toBe(false);

    const [many, most] = [new Cause(writes), new Cause(writes)];
    for (let i = 0; i < 65; i++) many.add(metadata(`m${i}`), metadata(`m${i}`));
    for (let i = 0; i < 64; i++) most.add(metadata(`r${i}`), metadata(`r${i}`));
    for (let i = 0; i < 65; i++) writes.add(metadata(`m${i}`), metadata(`m${i}`), "A");
    for (let i = 0; i < 64; i++) writes.add(metadata(`r${i}`), metadata(`r${i}`), "A");
    expect([many.isOnly("A"), most.isOnly("A")]).toEqual([false, true]);
  });
});
