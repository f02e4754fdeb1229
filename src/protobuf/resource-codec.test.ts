import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  createMetadata,
  createResource,
  createTombstone,
  definitionOf,
  defineResource,
  Handle,
  isTombstone,
  NamespaceType,
  nextVersion,
  OpaqueSpec,
  parseVersion,
  patchMetadata,
  replaceMetadata,
  ResourceDefinitionType,
  sameMetadata,
  sameResource,
  shape,
  StateError,
  TypeRegistry,
  withFinalizers,
  type AnyResourceType,
  type MetadataInit,
  type Resource,
} from "../resource/index.ts";
import { MemoryState, type BackingStore } from "../memory/index.ts";
import { Int, PathResource, Sentence, Str } from "../testing/index.ts";
import { formatResource } from "../yaml/index.ts";
import { NamespaceSpecSchema, ResourceDefinitionSpecSchema } from "../../test/gen/cosi/resource/meta/meta_pb.ts";
import { ResourceSchema } from "../../test/gen/cosi/resource/resource_pb.ts";
import { ResourceDecoder } from "./resource-decoder.ts";
import { ResourceEncoder } from "./resource-encoder.ts";

const encoder = new ResourceEncoder();
const decoderOf = (...types: readonly AnyResourceType[]) => new ResourceDecoder(new TypeRegistry(types));
const knowsNothing = decoderOf();
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

const METADATA = {
  namespace: "lab",
  type: "Disks.hw.example",
  id: "sda",
  version: "3",
  owner: "DiskController",
  phase: "running",
  created: { seconds: 1_677_657_600n, nanos: 123_456_789 },
  updated: { seconds: 1_677_657_930n, nanos: 0 },
  finalizers: ["resource1", "resource2"],
  labels: { app: "foo", stage: "initial" },
  annotations: { note: "ours" },
};
const YAML = 'size: 512\nparts: [boot, "root", 3]\n';

function wire(init: MessageInitShape<typeof ResourceSchema>): Uint8Array {
  return toBinary(ResourceSchema, create(ResourceSchema, init));
}

const bare = (metadata: Partial<typeof METADATA> = {}) => ({
  namespace: "default",
  type: "os/path",
  id: "one",
  version: "1",
  phase: "running",
  ...metadata,
});

function caught(act: () => unknown): StateError {
  try {
    act();
  } catch (error) {
    if (error instanceof StateError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("a resource of an unknown type", () => {
  const bytes = wire({ metadata: METADATA, spec: { protoSpec: Uint8Array.of(0xff, 0, 1), yamlSpec: YAML } });

  test("[transport C1] [state 128] is kept verbatim, and two of them are equal", () => {
    const [one, two] = [knowsNothing.decode(bytes), knowsNothing.decode(bytes)];
    expect(hex(encoder.encode(one))).toBe(hex(bytes));
    expect(hex(encoder.encode(knowsNothing.decode(encoder.encode(one))))).toBe(hex(bytes));
    expect(sameResource(one, two)).toBe(true);
    const copy = createResource(one.metadata, new OpaqueSpec(one.spec as OpaqueSpec));
    expect(sameResource(copy, one)).toBe(true);
    expect(hex(encoder.encode(copy))).toBe(hex(bytes));
    expect(formatResource(one)).toBe(`metadata:
    namespace: lab
    type: Disks.hw.example
    id: sda
    version: 3
    owner: DiskController
    phase: running
    created: 2023-03-01T08:00:00Z
    updated: 2023-03-01T08:05:30Z
    labels:
        app: foo
        stage: initial
    annotations:
        note: ours
    finalizers:
        - resource1
        - resource2
spec:
    size: 512
    parts: [boot, "root", 3]
`);
  });

  test("is not equal to one with other bytes, or other YAML", () => {
    const one = knowsNothing.decode(bytes);
    for (const spec of [
      { protoSpec: Uint8Array.of(0xff, 0, 2), yamlSpec: YAML },
      { protoSpec: Uint8Array.of(0xff, 0, 1), yamlSpec: "size: 513\n" },
      { yamlSpec: YAML },
    ]) {
      expect(sameResource(knowsNothing.decode(wire({ metadata: METADATA, spec })), one)).toBe(false);
    }
  });

  test("[transport X5] keeps its bytes and YAML when only its metadata changes, in a State and its storage as well", async () => {
    const stored = new Map<string, Uint8Array>();
    const backingStore: BackingStore = {
      load: (handler) => Promise.resolve(stored.values().forEach((one) => handler(knowsNothing.decode(one)))),
      put: (resource) => Promise.resolve(void stored.set(resource.metadata.id, encoder.encode(resource))),
      destroy: ({ id }) => Promise.resolve(void stored.delete(id)),
    };
    const open = () => new MemoryState({ backingStore: () => backingStore });
    await using state = open();
    await state.create(
      knowsNothing.decode(
        wire({ metadata: { ...METADATA, owner: "" }, spec: { protoSpec: Uint8Array.of(0xff, 0, 1), yamlSpec: YAML } }),
      ),
    );
    const ref = { namespace: "lab", type: "Disks.hw.example", id: "sda" };
    // A generic client reads it off the wire, changes a label and sends it back.
    const read = knowsNothing.decode(encoder.encode(await state.get(ref)));
    const labelled = patchMetadata(read, { labels: { ...read.metadata.labels, added: "later" } });
    await state.update(knowsNothing.decode(encoder.encode(labelled)));
    await using reopened = open();
    for (const one of [state, reopened]) {
      const { metadata, spec } = knowsNothing.decode(encoder.encode(await one.get(ref)));
      expect(metadata.labels).toEqual({ app: "foo", stage: "initial", added: "later" });
      expect(hex((spec as OpaqueSpec).bytes ?? new Uint8Array())).toBe("ff0001");
      expect((spec as OpaqueSpec).yaml).toBe(YAML);
    }
  });

  test("is independent of the buffer that it came in", () => {
    const buffer = Uint8Array.from(bytes);
    const resource = knowsNothing.decode(buffer);
    buffer.fill(0);
    expect(hex(encoder.encode(resource))).toBe(hex(bytes));
    expect(hex((resource.spec as OpaqueSpec).bytes ?? new Uint8Array())).toBe("ff0001");
  });

  test("may have nothing in its spec", () => {
    const { spec } = knowsNothing.decode(wire({ metadata: bare(), spec: {} }));
    expect(spec).toBeInstanceOf(OpaqueSpec);
    expect((spec as OpaqueSpec).bytes).toBeUndefined();
    expect((spec as OpaqueSpec).yaml).toBeUndefined();
  });

  test("can be asked for although the type is known", () => {
    const sent = encoder.encode(Int.create("one", { value: 5 }));
    const received = decoderOf(Int).decode(sent, { skipDecoding: true });
    expect((received.spec as OpaqueSpec).yaml).toBe("value: 5\n");
    expect(hex((received.spec as OpaqueSpec).bytes ?? new Uint8Array())).toBe("0a");
    expect(hex(encoder.encode(received))).toBe(hex(sent));
  });
});

describe("a resource of a known type", () => {
  test("[transport C2] [state 129] may come with a YAML text and no bytes", () => {
    const received = decoderOf(PathResource).decode(
      wire({ metadata: bare({ id: "var/run" }), spec: { yamlSpec: "{}\n" } }),
    );
    expect(PathResource.cast(received)).toBe(received);
    expect(received.metadata.id).toBe("var/run");
    expect(received.spec).toEqual({});
  });

  test.each([
    [PathResource.create("one", {}), PathResource, ""],
    [Int.create("one", { value: 0 }), Int, "00"],
    [Int.create("one", { value: -1 }), Int, "01"],
    [Int.create("one", { value: 300 }), Int, "d804"],
    [Int.create("one", { value: Number.MIN_SAFE_INTEGER }), Int, "fdffffffffffff1f"],
    [Int.create("one", { value: Number.MAX_SAFE_INTEGER }), Int, "feffffffffffff1f"],
    [Str.create("one", { value: "ä😀" }), Str, "c3a4f09f9880"],
    [Sentence.create("one", { value: "" }), Sentence, ""],
  ])("[state 129] %s has the suites' own encoding, and comes back equal", (resource, type, expected) => {
    const sent = encoder.encode(resource as Resource);
    const opaque = knowsNothing.decode(sent).spec as OpaqueSpec;
    expect(hex(opaque.bytes ?? new Uint8Array())).toBe(expected);
    const received = decoderOf(type as AnyResourceType).decode(sent);
    expect(sameResource(received, resource as Resource)).toBe(true);
    expect(opaque.yaml).toBe(
      formatResource(resource as Resource)
        .replace(/^[^]*\nspec:(?: |\n {4})/, "")
        .replaceAll("\n    ", "\n"),
    );
  });

  test.each([
    [PathResource, Uint8Array.of(1), "a path has no content"],
    [Int, Uint8Array.of(0x80), "ends in the middle of a field"],
    [Int, Uint8Array.of(2, 2), "bytes behind the number"],
    [Int, Uint8Array.from([255, 255, 255, 255, 255, 255, 255, 255, 255, 1]), "must be a whole number"],
    [Str, Uint8Array.of(0xff), "not valid UTF-8"],
  ])("%s refuses the bytes %s", (type, protoSpec, reason) => {
    const bytes = wire({ metadata: bare({ type: type.type }), spec: { protoSpec } });
    const error = caught(() => decoderOf(type as AnyResourceType).decode(bytes));
    expect(error).toMatchObject({ code: "invalid", pointer: { namespace: "default", type: type.type, id: "one" } });
    expect(error.message).toContain(reason);
  });

  test("that brings no codec travels as JSON, with everything that plain data can hold", () => {
    const Any = defineResource({ type: "Anys.example.dev", spec: shape((value) => value) });
    const spec = { text: "ä", list: [1, null, { a: true }], large: 2n ** 70n, bytes: Uint8Array.of(0, 255) };
    const resource = Any.create("one", spec as never);
    const sent = encoder.encode(resource as Resource);
    expect(new TextDecoder().decode((knowsNothing.decode(sent).spec as OpaqueSpec).bytes)).toBe(
      '{"text":"ä","list":[1,null,{"a":true}],"large":{"$bigint":"1180591620717411303424"},"bytes":{"$bytes":"AP8="}}',
    );
    expect(sameResource(decoderOf(Any).decode(sent), resource as Resource)).toBe(true);
  });

  test("is checked by its schema", () => {
    const Named = defineResource({ type: "Names.example.dev", spec: shape({ name: "string" }) });
    const bytes = wire({
      metadata: bare({ type: Named.type }),
      spec: { protoSpec: new TextEncoder().encode('{"name":5}') },
    });
    expect(caught(() => decoderOf(Named).decode(bytes)).issues).toMatchObject([{ path: ["name"] }]);
  });
});

describe("definitions and namespaces", () => {
  const types = decoderOf(NamespaceType, ResourceDefinitionType);

  test("[state 122] a namespace survives the wire, in the message that peers know", () => {
    const resource = NamespaceType.create("lab", { description: "where disks live" }) as Resource;
    expect(sameResource(types.decode(encoder.encode(resource)), resource)).toBe(true);
    const message = create(NamespaceSpecSchema, { description: "where disks live" });
    expect(hex(NamespaceType.codec.encode({ description: "where disks live" }))).toBe(
      hex(toBinary(NamespaceSpecSchema, message)),
    );
  });

  test("[transport C20] [state 123] a definition with a column, an alias and the sensitive mark survives the wire", async () => {
    const Disk = defineResource({
      type: "Disks.hw.example",
      namespace: "lab",
      spec: shape({}),
      aliases: ["d"],
      columns: { Size: "$.size" },
      sensitive: true,
    });
    const resource = (await definitionOf(Disk)) as Resource;
    expect(resource.spec).toMatchObject({
      sensitivity: "sensitive",
      printColumns: [{ name: "Size", jsonPath: "{.size}" }],
    });
    expect(sameResource(types.decode(encoder.encode(resource)), resource)).toBe(true);
    const message = create(ResourceDefinitionSpecSchema, {
      resourceType: "Disks.hw.example",
      displayType: "Disk",
      defaultNamespace: "lab",
      aliases: ["d", "disk"],
      allAliases: ["disks", "disks.hw", "d", "disk"],
      printColumns: [{ name: "Size", jsonPath: "{.size}" }],
      sensitivity: 1,
    });
    expect(hex(ResourceDefinitionType.codec.encode(resource.spec as never))).toBe(
      hex(toBinary(ResourceDefinitionSpecSchema, message)),
    );
  });

  test("a sensitivity of a later version of the protocol is refused, not taken for none", () => {
    const protoSpec = toBinary(
      ResourceDefinitionSpecSchema,
      create(ResourceDefinitionSpecSchema, { sensitivity: 2 as never }),
    );
    const bytes = wire({ metadata: bare({ type: ResourceDefinitionType.type }), spec: { protoSpec } });
    expect(caught(() => types.decode(bytes)).message).toContain("spec.sensitivity");
  });
});

describe("metadata", () => {
  test("[transport C10] from the wire equals the same built by hand", () => {
    const received = knowsNothing.decode(wire({ metadata: { ...METADATA, version: "1" }, spec: {} })).metadata;
    const built = createMetadata({
      namespace: "lab",
      type: "Disks.hw.example",
      id: "sda",
      version: nextVersion("undefined"),
      owner: "DiskController",
      finalizers: withFinalizers(withFinalizers([], "resource1"), "resource2"),
      labels: { app: "foo", stage: "initial" },
      annotations: { note: "ours" },
    });
    expect(sameMetadata(received, built)).toBe(true);
  });

  test("[transport C12] versions: undefined, then 1, then 2; undefined is not 0", () => {
    const fresh = createMetadata({ namespace: "n", type: "t", id: "i" });
    expect(`${fresh.version}`).toBe("undefined");
    expect(nextVersion(fresh.version)).toBe("1");
    expect(nextVersion(nextVersion(fresh.version))).toBe("2");
    const set = (version: string) => createMetadata({ ...fresh, version });
    expect(set("3").version).toBe("3");
    expect(sameMetadata(set("undefined"), fresh)).toBe(true);
    expect(sameMetadata(set("3"), set(parseVersion("003")))).toBe(true);
    expect(sameMetadata(set("3"), set("4"))).toBe(false);
    expect(sameMetadata(set("0"), fresh)).toBe(false);
  });

  test("[transport X6] times keep their nanoseconds, and what was absent is the epoch and stays it", () => {
    const received = knowsNothing.decode(
      wire({ metadata: { ...METADATA, updated: { seconds: 0n, nanos: 0 } }, spec: {} }),
    );
    expect(received.metadata.created).toBe("2023-03-01T08:00:00.123456789Z");
    expect(received.metadata.updated).toBe("1970-01-01T00:00:00Z");
    expect(knowsNothing.decode(encoder.encode(received)).metadata).toEqual(received.metadata);

    const absent = knowsNothing.decode(wire({ metadata: bare(), spec: {} }));
    expect(absent.metadata).toMatchObject({ created: "1970-01-01T00:00:00Z", updated: "1970-01-01T00:00:00Z" });
    // Both are sent, as empty messages.
    expect(hex(encoder.encode(absent))).toContain("3a004200");
    expect(knowsNothing.decode(encoder.encode(absent)).metadata).toEqual(absent.metadata);
  });

  test("Go's zero time passes", () => {
    const year1 = { seconds: -62_135_596_800n, nanos: 0 };
    const received = knowsNothing.decode(wire({ metadata: { ...METADATA, created: year1 }, spec: {} }));
    expect(received.metadata.created).toBe("0001-01-01T00:00:00Z");
    expect(knowsNothing.decode(encoder.encode(received)).metadata.created).toBe("0001-01-01T00:00:00Z");
  });

  test("duplicate finalizers collapse, in their order", () => {
    const finalizers = ["b", "a", "b", "a", "c"];
    expect(knowsNothing.decode(wire({ metadata: { ...METADATA, finalizers }, spec: {} })).metadata.finalizers).toEqual([
      "b",
      "a",
      "c",
    ]);
  });

  test("labels may have any keys", () => {
    const labels = Object.fromEntries([
      ["__proto__", "x"],
      ["constructor", "y"],
      ["", "z"],
    ]);
    const received = knowsNothing.decode(wire({ metadata: { ...METADATA, labels }, spec: {} })).metadata;
    expect(Object.entries(received.labels)).toEqual(Object.entries(labels));
    expect(Object.getPrototypeOf(received.labels)).toBeNull();
    expect(Object.isFrozen(received.labels)).toBe(true);
  });

  test("is frozen, as all metadata", () => {
    const received = knowsNothing.decode(wire({ metadata: METADATA, spec: {} })).metadata;
    for (const part of [received, received.labels, received.annotations, received.finalizers])
      expect(Object.isFrozen(part)).toBe(true);
  });
});

describe("[transport X3] what is no resource is refused, and the error says what and where", () => {
  const address = "os/path(default/one)";
  test.each([
    ["without metadata", { spec: {} }, "without metadata"],
    ["without a spec", { metadata: bare() }, `${address} came without a spec`],
    [
      "with an empty phase",
      { metadata: bare({ phase: "" }), spec: {} },
      'phase must be "running" or "tearingDown", got ""',
    ],
    ["with an unknown phase", { metadata: bare({ phase: "Running" }), spec: {} }, 'got "Running"'],
    ["with version -1", { metadata: bare({ version: "-1" }), spec: {} }, 'got "-1"'],
    ["with version x", { metadata: bare({ version: "x" }), spec: {} }, 'got "x"'],
    ["with version +1", { metadata: bare({ version: "+1" }), spec: {} }, 'got "+1"'],
    ["without a version", { metadata: bare({ version: "" }), spec: {} }, 'got ""'],
    [
      "with version 2^63",
      { metadata: bare({ version: "9223372036854775808" }), spec: {} },
      "at most 9223372036854775807",
    ],
  ])("%s", (_, message, reason) => {
    for (const decoder of [knowsNothing, decoderOf(PathResource)]) {
      const error = caught(() => decoder.decode(wire(message)));
      expect(error.code).toBe("invalid");
      expect(error.message).toContain(reason);
      expect(error.message).toContain("metadata" in message ? address : "a resource");
    }
  });

  test("the largest version is not", () => {
    const version = "9223372036854775807";
    expect(knowsNothing.decode(wire({ metadata: bare({ version }), spec: {} })).metadata.version).toBe(version);
  });
});

describe("[transport X4] a spec is always sent", () => {
  test.each([
    ["of a tombstone", createTombstone({ namespace: "n", type: "t", id: "i" })],
    ["of an opaque resource without content", knowsNothing.decode(wire({ metadata: bare(), spec: {} }))],
    ["of a type without content, when no YAML is asked for", PathResource.create("one", {}) as Resource],
    [
      "of a handle",
      createResource({ namespace: "n", type: "t", id: "i" }, new Handle({ toJSON: () => null })) as Resource,
    ],
  ])("%s, as the tag 0x12 and the length 0", (_, resource) => {
    expect(hex(new ResourceEncoder({ yaml: false }).encode(resource))).toMatch(/1200$/);
  });
});

describe("tombstones", () => {
  test("are read only where something may be missing: elsewhere they are new resources without content", () => {
    const bytes = encoder.encode(createTombstone({ namespace: "default", type: "os/path", id: "one" }));
    expect(isTombstone(decoderOf(PathResource).decode(bytes))).toBe(false);
    expect(sameResource(decoderOf(PathResource).decode(bytes), PathResource.create("one", {}) as Resource)).toBe(true);
  });
});

describe("encodings", () => {
  test("are made once for a resource, and that of the spec once for all its versions", () => {
    let encoded = 0;
    const Counted = defineResource({
      type: "Counts.example.dev",
      spec: shape({ value: "string" }),
      codec: {
        encode: ({ value }) => new TextEncoder().encode(`${++encoded} ${value}`),
        decode: () => ({ value: "" }),
      },
    });
    const one = Counted.create("one", { value: "x" }) as Resource;
    expect(encoder.encodeField(one)).toEqual(encoder.encodeField(one));
    expect(encoded).toBe(1);
    const torn = replaceMetadata(one, createMetadata({ ...one.metadata, phase: "tearingDown" }));
    expect(hex(encoder.encode(torn))).not.toBe(hex(encoder.encode(one)));
    expect(encoded).toBe(1);
  });

  test("with and without YAML do not mix, and types can be told apart", () => {
    const resource = Int.create("one", { value: 5 }) as Resource;
    const plain = new ResourceEncoder({ yaml: false });
    const some = new ResourceEncoder({ yaml: (type) => type === "test/str" });
    const yamlOf = (by: ResourceEncoder, of: Resource) => (knowsNothing.decode(by.encode(of)).spec as OpaqueSpec).yaml;
    for (let i = 0; i < 2; i++) {
      expect(yamlOf(encoder, resource)).toBe("value: 5\n");
      expect(yamlOf(plain, resource)).toBeUndefined();
      expect(yamlOf(some, resource)).toBeUndefined();
      expect(yamlOf(some, Str.create("one", { value: "x" }) as Resource)).toBe("value: x\n");
    }
  });

  test("of resources written as object literals are checked", () => {
    const init: MetadataInit = { namespace: "n", type: "t", id: "i" };
    const resource = { metadata: createMetadata(init), spec: { a: 1 } };
    expect(hex(encoder.encode(resource))).toBe(hex(encoder.encode(createResource(init, { a: 1 }))));
    expect(caught(() => encoder.encode({ metadata: { ...resource.metadata, version: "x" }, spec: {} })).code).toBe(
      "invalid",
    );
  });

  test.each([
    ["an id", createResource({ namespace: "n", type: "t", id: "\ud800" }, {})],
    ["a label", createResource({ namespace: "n", type: "t", id: "i", labels: { a: "x".repeat(30) + "\udc00" } }, {})],
    ["YAML", createResource({ namespace: "n", type: "t", id: "i" }, new OpaqueSpec({ yaml: "\ud800" }))],
  ])("do not exist of %s with half a surrogate pair", (_, resource) => {
    const error = caught(() => encoder.encode(resource as Resource));
    expect(error).toMatchObject({ code: "invalid", pointer: { namespace: "n" } });
    expect(error.message).toContain("half a surrogate pair");
    // The failure leaves nothing behind in the encoder.
    const good = Int.create("one", { value: 1 }) as Resource;
    expect(sameResource(decoderOf(Int).decode(encoder.encode(good)), good)).toBe(true);
  });

  test("of a handle show people what it is, and say nothing to programs", () => {
    const handle = createResource(
      { namespace: "n", type: "t", id: "i" },
      new Handle({ toJSON: () => ({ open: true }) }),
    );
    const spec = knowsNothing.decode(encoder.encode(handle as Resource)).spec as OpaqueSpec;
    expect(spec.yaml).toBe("open: true\n");
    expect(spec.bytes).toBeUndefined();
    const inside = createResource({ namespace: "n", type: "t", id: "i" }, { a: new Handle({}) });
    expect(caught(() => encoder.encode(inside as Resource)).message).toContain("has no encoding");
  });
});

describe("hostile resources", () => {
  test("cannot have labels without number", () => {
    const entries = Buffer.alloc(2 * 100_001);
    for (let i = 0; i < entries.length; i += 2) entries[i] = 0x52;
    const metadata = Buffer.concat([Buffer.from([0x0a]), varint(entries.length), entries]);
    expect(caught(() => knowsNothing.decode(metadata)).message).toContain("at most 100000");
  });

  test("cannot have YAML that is no text", () => {
    const bytes = Buffer.concat([Buffer.from(wire({ metadata: bare() })), Buffer.from([0x12, 0x03, 0x12, 0x01, 0xff])]);
    expect(caught(() => knowsNothing.decode(bytes)).message).toContain("its YAML is not valid UTF-8");
    // What a codec reads needs no YAML.
    expect(decoderOf(PathResource).decode(bytes).spec).toEqual({});
  });
});

function varint(value: number): Buffer {
  const bytes = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest <= 0x7f) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
