import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import {
  createMetadata,
  isDestroyReady,
  sameMetadata,
  withMetadata,
  withOwner,
  type Metadata,
  type MetadataInit,
} from "./metadata.ts";
import { Phase } from "./phase.ts";
import { formatReference } from "../pointer.ts";
import { hasCode, StateError } from "../state-error.ts";
import { EPOCH } from "./timestamp.ts";
import { nextVersion, UNDEFINED_VERSION } from "./version.ts";

const address = { namespace: "lab", type: "Disks.hw.example", id: "sda" };

describe("createMetadata", () => {
  test("[state 93] has the fields that it was given, and those of new metadata", () => {
    const metadata = createMetadata(address);
    expect(metadata).toMatchObject(address);
    expect(metadata.version).toBe(UNDEFINED_VERSION);
    expect(formatReference(metadata)).toBe("Disks.hw.example(lab/sda)");
    expect(metadata.owner).toBe("");
    expect(metadata.phase).toBe(Phase.running);
    expect(metadata.finalizers).toEqual([]);

    const first = nextVersion(metadata.version);
    expect(first).toBe("1");
    expect(nextVersion(first)).toBe("2");
    expect(metadata.version).toBe("undefined");

    expect(sameMetadata(metadata, metadata)).toBe(true);
    expect(sameMetadata(metadata, createMetadata(address))).toBe(true);
    expect(sameMetadata(metadata, createMetadata({ ...address, id: "sdb" }))).toBe(false);

    const ending = withMetadata(metadata, { phase: Phase.tearingDown });
    expect(ending.phase).toBe(Phase.tearingDown);
  });

  test("[state 100] from wire texts equals the same built by hand", () => {
    const wire = JSON.parse(`{
      "namespace": "lab", "type": "Disks.hw.example", "id": "sda", "version": "1", "owner": "DiskController",
      "phase": "running", "created": "2023-03-01T08:00:00.123456789Z", "updated": "2023-03-01T08:00:00Z",
      "finalizers": ["A", "B", "A"], "labels": { "bus": "nvme" }, "annotations": { "note": "" }
    }`) as MetadataInit;
    const byHand = createMetadata({
      ...address,
      version: nextVersion(UNDEFINED_VERSION),
      owner: "DiskController",
      finalizers: ["A", "B"],
      labels: { bus: "nvme" },
      annotations: { note: "" },
    });
    const metadata = createMetadata(wire);
    expect(sameMetadata(metadata, byHand)).toBe(true);
    expect(metadata.created).toBe("2023-03-01T08:00:00.123456789Z");
  });

  test("a time that nobody set is the Unix epoch", () => {
    expect(createMetadata(address)).toMatchObject({ created: EPOCH, updated: EPOCH });
  });

  test("is deeply frozen, and independent of what it was made from", () => {
    const labels = { bus: "nvme" };
    const finalizers = ["A"];
    const metadata = createMetadata({ ...address, labels, annotations: labels, finalizers });
    labels.bus = "sata";
    finalizers.push("B");
    expect(metadata).toMatchObject({ labels: { bus: "nvme" }, annotations: { bus: "nvme" }, finalizers: ["A"] });
    for (const part of [metadata, metadata.labels, metadata.annotations, metadata.finalizers]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(() => Object.assign(metadata, { id: "other" })).toThrow(TypeError);
    expect(() => (metadata.finalizers as string[]).push("C")).toThrow(TypeError);
  });

  test("is JSON by construction", () => {
    const metadata = createMetadata({ ...address, version: "3", labels: { ["__proto__"]: "x" }, finalizers: ["A"] });
    const copy = createMetadata(JSON.parse(JSON.stringify(metadata)) as MetadataInit);
    expect(copy).toEqual(metadata);
    expect(Object.keys(copy.labels)).toEqual(["__proto__"]);
  });

  test.for<[string, unknown, string]>([
    ["namespace", 1, "metadata.namespace must be a string, got 1"],
    ["type", null, "metadata.type must be a string, got null"],
    ["id", undefined, "metadata.id must be a string, got undefined"],
    ["version", "", 'version must be "undefined" or a decimal number of 64 bits, got ""'],
    ["version", 1, 'version must be "undefined" or a decimal number of 64 bits, got 1'],
    ["version", ["1"], 'version must be "undefined" or a decimal number of 64 bits, got a list'],
    ["owner", {}, "metadata.owner must be a string, got an object"],
    ["phase", "", 'phase must be "running" or "tearingDown", got ""'],
    ["phase", "Running", 'phase must be "running" or "tearingDown", got "Running"'],
    ["created", "yesterday", 'metadata.created must be an RFC 3339 time such as 1970-01-01T00:00:00Z, got "yesterday"'],
    ["updated", 5, "metadata.updated must be an RFC 3339 time such as 1970-01-01T00:00:00Z, got 5"],
    ["finalizers", "A", 'metadata.finalizers: must be a list of strings, got "A"'],
    ["finalizers", [1], "metadata.finalizers: a finalizer must be a string, got 1"],
    ["finalizers", Array(2), "metadata.finalizers: a finalizer must be a string, got undefined"],
    ["labels", [], "metadata.labels: must be an object of strings, got a list"],
    ["labels", { a: 1 }, 'metadata.labels: the value of "a" must be a string, got 1'],
    ["annotations", "x", 'metadata.annotations: must be an object of strings, got "x"'],
  ])("refuses a wrong %s", ([field, value, message]) => {
    const create = () => createMetadata({ ...address, [field]: value });
    expect(create).toThrow(StateError);
    expect(create).toThrow(message);
  });

  test("refuses what is no object at all", () => {
    expect(() => createMetadata(null as never)).toThrow("metadata must be an object, got null");
  });
});

describe("sameMetadata", () => {
  const base = createMetadata({ ...address, version: "1", owner: "A" });

  test("[transport C14] [state 94] a copy is equal, and independent of the original", () => {
    const copy = withMetadata(base, {});
    expect(sameMetadata(copy, base)).toBe(true);
    const one = withMetadata(copy, { finalizers: ["A", "B"] });
    expect(sameMetadata(one, base)).toBe(false);
    expect(base.finalizers).toEqual([]);
    expect(sameMetadata(one, withMetadata(base, { finalizers: ["A", "C"] }))).toBe(false);
    expect(sameMetadata(one, withMetadata(base, { finalizers: ["B", "A"] }))).toBe(true);
  });

  test.for<Partial<Metadata>>([
    { version: "2" },
    { phase: Phase.tearingDown },
    { labels: { a: "b" } },
    { annotations: { a: "b" } },
  ])("[transport C14] [state 95] sees a difference in %o, until the other side has it too", (patch) => {
    const changed = withMetadata(base, patch);
    expect(sameMetadata(changed, base)).toBe(false);
    expect(sameMetadata(base, changed)).toBe(false);
    expect(sameMetadata(changed, withMetadata(base, patch))).toBe(true);
  });

  test("sees the owner and the address, and does not look at times", () => {
    expect(sameMetadata(base, withMetadata(base, { owner: "B" }))).toBe(false);
    for (const field of ["namespace", "type", "id"]) {
      expect(sameMetadata(base, createMetadata({ ...base, [field]: "other" }))).toBe(false);
    }
    const later = { created: "2023-03-01T08:00:00Z", updated: "2024-03-01T08:00:00Z" };
    expect(sameMetadata(base, withMetadata(base, later))).toBe(true);
  });

  const word = fc.constantFrom("", "a", "b", "__proto__", "é", "😀");
  const dictionary = fc.dictionary(word, word, { maxKeys: 3, noNullPrototype: false });
  const init = fc.record({
    namespace: word,
    type: word,
    id: word,
    version: fc.constantFrom("undefined", "0", "1", "18446744073709551615"),
    owner: word,
    phase: fc.constantFrom(Phase.running, Phase.tearingDown),
    created: fc.constantFrom(EPOCH, "2023-03-01T08:00:00Z"),
    finalizers: fc.array(word, { maxLength: 3 }),
    labels: dictionary,
    annotations: dictionary,
  });

  /** Everything that counts, in a form in which equality is equality of texts. */
  const model = ({ namespace, type, id, version, owner, phase, finalizers, labels, annotations }: Metadata): string => {
    const entries = (of: Readonly<Record<string, string>>) => Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1));
    const parts = [[...finalizers].sort(), entries(labels), entries(annotations)];
    return JSON.stringify([namespace, type, id, version, owner, phase, ...parts]);
  };

  property.prop([init, init])("agrees with a model", (a, b) => {
    const [left, right] = [createMetadata(a), createMetadata(b)];
    expect(sameMetadata(left, right)).toBe(model(left) === model(right));
    expect(sameMetadata(left, createMetadata({ ...a, created: EPOCH }))).toBe(true);
  });

  property.prop([init, init, fc.subarray(["version", "phase", "labels", "annotations", "finalizers", "owner"])])(
    "is restored by the same change on both sides",
    (start, change, fields) => {
      const patch = Object.fromEntries(fields.map((field) => [field, change[field as keyof typeof change]]));
      const [left, right] = [createMetadata(start), createMetadata(start)];
      const [changed, unchanged] = [withMetadata(left, patch), right];
      expect(sameMetadata(changed, unchanged)).toBe(model(changed) === model(unchanged));
      expect(sameMetadata(changed, withMetadata(right, patch))).toBe(true);
    },
  );
});

describe("withMetadata", () => {
  test("keeps what the patch does not name, or names as undefined", () => {
    const metadata = createMetadata({ ...address, labels: { a: "b" }, owner: "A" });
    expect(withMetadata(metadata, { labels: undefined, version: "2" })).toEqual({ ...metadata, version: "2" });
  });
});

describe("withOwner", () => {
  const free = createMetadata(address);

  test("an owner is set once, and can be repeated", () => {
    const owned = withOwner(free, "A");
    expect(owned.owner).toBe("A");
    expect(free.owner).toBe("");
    expect(withOwner(owned, "A")).toBe(owned);
  });

  test.for(["B", ""])("an owner cannot become %o", (owner) => {
    const change = () => withOwner(withOwner(free, "A"), owner);
    expect(change).toThrow('the owner of Disks.hw.example(lab/sda) is "A" and cannot become');
    const error: unknown = (() => {
      try {
        return change();
      } catch (caught) {
        return caught;
      }
    })();
    expect(hasCode(error, "invalid")).toBe(true);
  });
});

test("only a resource that is tearing down and has no finalizers may go", () => {
  const finalizers = ["A"];
  expect(isDestroyReady(createMetadata(address))).toBe(false);
  expect(isDestroyReady(createMetadata({ ...address, phase: Phase.tearingDown }))).toBe(true);
  expect(isDestroyReady(createMetadata({ ...address, phase: Phase.tearingDown, finalizers }))).toBe(false);
});
