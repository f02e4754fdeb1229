import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { MemoryState } from "../memory/index.ts";
import {
  createMetadata,
  createResource,
  defineResource,
  Handle,
  OpaqueSpec,
  sameResource,
  samePlain,
  shape,
  StateError,
  type MetadataInit,
} from "../resource/index.ts";
import { opaqueValue, parseOpaque } from "./opaque-yaml.ts";
import { formatResource, formatResources, parseResource } from "./resource-yaml.ts";
import { YamlError } from "./yaml-error.ts";

const Disk = defineResource({
  type: "Disks.hw.example",
  namespace: "lab",
  spec: shape({ sizeGiB: "integer", "tags?": ["string"] }),
});
const times = { created: "2023-03-01T08:00:00Z", updated: "2023-03-01T08:00:00Z" };
const HEAD = `metadata:
    namespace: lab
    type: Disks.hw.example
    id: sda
    version: undefined
    owner:
    phase: running
    created: 2023-03-01T08:00:00Z
    updated: 2023-03-01T08:00:00Z
`;

/** A type that accepts every spec. */
const anything = (type: string) =>
  defineResource({ type, spec: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } } });

describe("formatResource", () => {
  test("writes metadata, then spec", () => {
    const disk = createResource({ ...Disk.ref("sda"), ...times }, { sizeGiB: 512 }, Disk.source);
    expect(formatResource(disk)).toBe(`${HEAD}spec:\n    sizeGiB: 512\n`);
    expect(formatResources([disk, disk])).toBe(`${HEAD}spec:\n    sizeGiB: 512\n---\n${HEAD}spec:\n    sizeGiB: 512\n`);
  });

  test("quotes texts of a spec that would read back as something else", () => {
    const spec = { a: "true", b: "1", c: "", d: "null", e: "plain", f: "1.5", g: "0x1F", h: "~", i: "yes", j: ".inf" };
    const values = { a: true, b: 1, c: null, d: -1.5, e: 2n ** 70n, f: [], g: {}, h: [{ a: 1 }, [2]], i: "x\ny" };
    const text = formatResource(createResource({ ...Disk.ref("sda"), ...times }, { spec, values }));
    expect(text).toBe(`${HEAD}spec:
    spec:
        a: 'true'
        b: '1'
        c: ''
        d: 'null'
        e: plain
        f: '1.5'
        g: '0x1F'
        h: '~'
        i: yes
        j: '.inf'
    values:
        a: true
        b: 1
        c: null
        d: -1.5
        e: 1180591620717411303424
        f: []
        g: {}
        h:
            - a: 1
            - - 2
        i: |-
            x
            y
`);
  });
});

describe("parseResource", () => {
  test("[state 136] reads back what formatResource writes", () => {
    const disk = Disk.create(
      "sda",
      { sizeGiB: 512, tags: ["a", "1"] },
      { owner: "A", labels: { bus: "1" }, finalizers: ["F"] },
    );
    const again = parseResource(formatResource(disk), { types: [Disk] });
    expect(sameResource(again, disk)).toBe(true);
    expect(Disk.cast(again)).toBe(again);
  });

  test.for<[string, string]>([
    ["", "must be a mapping, got nothing"],
    ["[]", "must be a mapping, got a list"],
    ["spec: {}", "line 1, column 1: metadata: is missing"],
    ["metadata: {}", "line 1, column 1: spec: is missing"],
    ["metadata: {}\nspec: {}\nextra: 1", "line 3, column 1: extra: is not a known field; known: metadata, spec"],
    ["metadata: 1\nspec: {}", "line 1, column 11: metadata: must be a mapping, got a single value"],
    ["metadata: {}\nspec: 1", "line 2, column 7: spec: must be a mapping, got a single value"],
    ["metadata: { type: Other }\nspec: {}", 'line 1, column 13: metadata.type: type "Other" is not known'],
    [
      "metadata: { type: Disks.hw.example }\nspec:\n  sizeGiB: big",
      'line 3, column 3: spec.sizeGiB: must be a whole number, got "big"',
    ],
    ["metadata: { version: -1 }\nspec: {}", "line 1, column 22: metadata.version: must be"],
  ])("refuses %j", ([text, message]) => {
    expect(() => parseResource(text, { types: [Disk] })).toThrow(YamlError);
    expect(() => parseResource(text, { types: [Disk] })).toThrow(message);
  });

  const key = fc.oneof(fc.constantFrom("a", "1", "true", "", "__proto__", "<<", "- a", "a: b", "?"), fc.string());
  const { plain } = fc.letrec<{ plain: unknown }>((tie) => ({
    plain: fc.oneof(
      { maxDepth: 4 },
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "true",
        "Null",
        "0o7",
        "-.inf",
        ".nan",
        "1_000",
        "2001-01-01",
        "12e03",
        "+1",
        "\n",
        "a\n b\n\n",
        "'",
        "=",
        "<<",
      ),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.bigInt(2n ** 53n, 2n ** 90n),
      fc.boolean(),
      fc.constant(null),
      fc.uint8Array({ maxLength: 100 }),
      fc.array(tie("plain"), { maxLength: 4 }),
      fc.dictionary(key, tie("plain"), { maxKeys: 4 }),
    ),
  }));
  property.prop([fc.dictionary(key, plain, { maxKeys: 5 })], { numRuns: 200 })("reads back every spec", (spec) => {
    const type = anything("t");
    const resource = type.create("a", spec);
    const again = parseResource(formatResource(resource), { types: [type] });
    expect(samePlain(again.spec, resource.spec)).toBe(true);
    expect(sameResource(again, resource)).toBe(true);
  });
});

test("an opaque spec with an alias that stands for nothing is refused with its place", () => {
  const spec = new OpaqueSpec({ yaml: "a: &x 1\nb: [*x, *y]\n" });
  expect(() => formatResource(createResource({ namespace: "", type: "t", id: "a" }, spec))).toThrow(
    "line 2, column 9: spec: there is no anchor &y before this alias",
  );
  const fine = new OpaqueSpec({ yaml: "a: &x 1\nb: [*x]\n" });
  expect(formatResource(createResource({ namespace: "", type: "t", id: "a" }, fine))).toContain("b: [*x]");
});

describe("opaque specs", () => {
  const wire: MetadataInit = {
    namespace: "lab",
    type: "Disks.hw.example",
    id: "sda",
    version: "4",
    owner: "DiskController",
    phase: "tearingDown",
    created: "2023-03-01T10:00:00.25+02:00",
    updated: "2023-03-01T08:05:30Z",
    labels: { bus: "nvme", slots: "2" },
    annotations: { note: "x" },
    finalizers: ["MountController", "PoolController"],
  };

  test("[transport C22] [state 108] are read as plain data, and written in their own style", () => {
    const yaml = `size: 512\nenabled: true\nparts: [boot, "root", 3]\nname: 'x'\n`;
    const resource = parseOpaque(wire, yaml);
    expect(resource.metadata.id).toBe("sda");
    expect(opaqueValue(resource.spec)).toEqual({ size: 512, enabled: true, parts: ["boot", "root", 3], name: "x" });
    expect(formatResource(resource)).toBe(`metadata:
    namespace: lab
    type: Disks.hw.example
    id: sda
    version: 4
    owner: DiskController
    phase: tearingDown
    created: 2023-03-01T08:00:00Z
    updated: 2023-03-01T08:05:30Z
    labels:
        bus: nvme
        slots: 2
    annotations:
        note: x
    finalizers:
        - MountController
        - PoolController
spec:
    size: 512
    enabled: true
    parts: [boot, "root", 3]
    name: 'x'
`);
  });

  test("keep comments, blocks, anchors and odd numbers", () => {
    const yaml = "a: 0x1F # hex\nb: &b |\n    one\n    two\nc: *b\nd: 1.50\ne: ~\n";
    expect(formatResource(parseOpaque(wire, yaml))).toContain(
      "spec:\n    a: 0x1F # hex\n    b: &b |\n        one\n        two\n    c: *b\n    d: 1.50\n    e: ~\n",
    );
  });

  test("may be a text, a list or nested in a spec of ours", () => {
    expect(formatResource(parseOpaque(wire, "just text"))).toMatch(/\nspec: just text\n$/);
    expect(formatResource(parseOpaque(wire, "- 1\n- [2]"))).toMatch(/\nspec:\n {4}- 1\n {4}- \[2\]\n$/);
    const nested = createResource(wire, { inner: new OpaqueSpec({ yaml: "a: [1]" }) });
    expect(formatResource(nested)).toMatch(/\nspec:\n {4}inner:\n {8}a: \[1\]\n$/);
  });

  test("must be one YAML document and come with good metadata", () => {
    expect(() => parseOpaque(wire, "a: 1\n---\nb: 2\n")).toThrow(/there is a second document, where one is expected$/);
    expect(() => parseOpaque(wire, "a: [1")).toThrow(YamlError);
    expect(() => parseOpaque(wire, "a: 1\n---\nb: 2")).toThrow(YamlError);
    expect(() => parseOpaque({ ...wire, version: "" }, "a: 1")).toThrow(StateError);
  });

  test("without YAML text have no YAML form", () => {
    for (const spec of [parseOpaque(wire, "").spec, new OpaqueSpec({ bytes: new Uint8Array(1) })]) {
      expect(() => formatResource(createResource(wire, spec))).toThrow("the spec came without YAML text");
    }
  });
});

describe("handles", () => {
  class Connection {
    readonly address: string;
    #open = true;

    constructor(address: string) {
      this.address = address;
    }

    close(): void {
      this.#open = false;
    }

    equals(other: unknown): boolean {
      return other instanceof Connection && other.address === this.address;
    }

    toJSON(): object {
      return { address: this.address, open: this.#open };
    }
  }
  const at = { namespace: "default", type: "Connections.example.dev", id: "a" };

  test("[transport C21] [state 126] are shown by the object that they wrap, and equal by its equality", () => {
    const [one, twin] = [new Handle(new Connection("x")), new Handle(new Connection("x"))];
    expect(formatResource(createResource(at, one))).toMatch(/\nspec:\n {4}address: x\n {4}open: true\n$/);
    expect(one.equals(twin)).toBe(true);
    expect(one.equals(new Handle(new Connection("y")))).toBe(false);
  });

  test("[transport C21] [state 127] share their object between a State and its readers", async () => {
    await using state = new MemoryState();
    await state.create(createResource(at, new Handle(new Connection("x"))));
    const [first, second] = [await state.get(at), await state.get(at)];
    expect(sameResource(first, second)).toBe(true);
    const targetOf = (spec: unknown) => (spec as Handle<Connection>).target;
    expect(targetOf(first.spec)).toBe(targetOf(second.spec));
    expect(targetOf(first.spec)).toBeInstanceOf(Connection);

    await state.destroy(at);
    await state.create(createResource(at, new Handle(new Connection("x"))));
    const other = await state.get(at);
    expect(samePlain(other.spec, first.spec)).toBe(true);
    expect(sameResource(other, first)).toBe(true);
    expect(targetOf(other.spec)).not.toBe(targetOf(first.spec));
    expect(formatResource(other)).toMatch(/\nspec:\n {4}address: x\n {4}open: true\n$/);
  });

  test("are shown by toString where the object has no toJSON, and not at all without either", () => {
    const show = (target: object) => formatResource(createResource(at, new Handle(target)));
    expect(show(/a+/)).toMatch(/\nspec: \/a\+\/\n$/);
    expect(show({ toString: () => "true" })).toMatch(/\nspec: 'true'\n$/);
    expect(() => show({})).toThrow("neither toJSON nor a toString of its own");
    expect(() => show({ toJSON: () => undefined })).toThrow(StateError);
  });
});

test("metadata of a resource may have any times", () => {
  const metadata = createMetadata({ ...Disk.ref("a"), created: "2023-12-31T23:59:59.999-01:30" });
  expect(formatResource(createResource(metadata, {}))).toContain("created: 2024-01-01T01:29:59Z");
});
