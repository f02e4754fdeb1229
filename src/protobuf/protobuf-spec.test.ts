import {
  create,
  createFileRegistry,
  createRegistry,
  equals,
  fromBinary,
  toBinary,
  type DescMessage,
} from "@bufbuild/protobuf";
import {
  anyPack,
  AnySchema,
  file_google_protobuf_duration,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  TimestampSchema,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { WireWriter } from "../wire/index.ts";
import {
  changeResource,
  defineResource,
  sameResource,
  StateError,
  TypeRegistry,
  type AnyResourceType,
  type Resource,
} from "../resource/index.ts";
import { formatResource, parseResource } from "../yaml/index.ts";
import { ResourceDefinitionSpecSchema } from "../../test/gen/cosi/resource/meta/meta_pb.ts";
import { ResourceDecoder } from "./resource-decoder.ts";
import { ResourceEncoder } from "./resource-encoder.ts";
import { protobufSpec } from "./protobuf-spec.ts";

/** A message with a field of every kind, in a file that no generator has seen. */
const EVERYTHING = everything();

const Thing = defineResource({ type: "Things.test.example.dev", spec: protobufSpec(EVERYTHING) as never });
const Definition = defineResource({
  type: "Copies.test.example.dev",
  spec: protobufSpec(ResourceDefinitionSpecSchema),
});

const FULL: Record<string, unknown> = {
  flag: true,
  whole: -5n,
  unsigned: 2n ** 64n - 1n,
  fixed: 7,
  ratio: 0.5,
  name: "web",
  blob: Uint8Array.of(0, 255),
  inner: { name: "inside", children: [{ name: "deeper", children: [] }] },
  numbers: [3n, -1n],
  labels: { a: "1" },
  byName: { one: { name: "x", children: [] } },
  chosen: { case: "picked", value: { name: "p", children: [] } },
  at: { seconds: 1_700_000_000n, nanos: 5 },
  wait: { seconds: 3n, nanos: 0 },
  free: { a: [1, "two", null] },
  maybe: 0,
  state: 1,
  optional: "",
};

function throughTheWire(resource: Resource, type: AnyResourceType): Resource {
  const bytes = new ResourceEncoder().encode(resource);
  return new ResourceDecoder(new TypeRegistry([type])).decode(bytes);
}

const make = (spec: unknown): Resource => Thing.create("one", spec as never);

describe("a spec of a protobuf message", () => {
  test("[transport C3] [state 130] is encoded by the message's own encoding, and decoded from it", () => {
    const spec = protobufSpec(ResourceDefinitionSpecSchema);
    const message = create(ResourceDefinitionSpecSchema, {
      resourceType: "Disks.hw.example",
      printColumns: [{ name: "Size", jsonPath: "{.size}" }],
      sensitivity: 1,
    });
    const decoded = spec.decode(toBinary(ResourceDefinitionSpecSchema, message));
    const again = fromBinary(ResourceDefinitionSpecSchema, spec.encode(decoded as never));
    expect(equals(ResourceDefinitionSpecSchema, again, message)).toBe(true);
  });

  test("is plain data with the fields of the message, completed with their defaults", () => {
    const { spec } = Definition.create("one", { resourceType: "Disks.hw.example", printColumns: [{ name: "Size" }] });
    expect(spec).toEqual({
      resourceType: "Disks.hw.example",
      displayType: "",
      defaultNamespace: "",
      aliases: [],
      allAliases: [],
      printColumns: [{ name: "Size", jsonPath: "" }],
      sensitivity: 0,
    });
    expect(Object.isFrozen(spec.printColumns[0])).toBe(true);
  });

  test("takes a message as it is", () => {
    const message = create(ResourceDefinitionSpecSchema, { resourceType: "Disks.hw.example" });
    expect(Definition.create("one", message).spec.resourceType).toBe("Disks.hw.example");
  });

  test("[transport C4] [state 131] two built by hand are equal, and still after a trip through the wire", () => {
    const [one, two] = [make(FULL), make(FULL)];
    const labelled = Thing.create("one", FULL as never, { labels: { a: "b" } });
    expect(sameResource(one, two)).toBe(true);
    expect(sameResource(throughTheWire(one, Thing), two)).toBe(true);
    expect(sameResource(throughTheWire(labelled, Thing), one)).toBe(false);
    expect(sameResource(throughTheWire(labelled, Thing), labelled)).toBe(true);
  });

  test("keeps every kind of field", () => {
    const { spec } = throughTheWire(make(FULL), Thing);
    expect(spec).toEqual(FULL);
  });

  test("may come without bytes: then all fields have their defaults", () => {
    expect(throughTheWire(make({}), Thing).spec).toEqual(make({}).spec);
    expect(protobufSpec(EVERYTHING).encode(make({}).spec as never).length).toBe(0);
  });

  test("numbers become what they are after the wire, so that nothing changes on it", () => {
    const given = make({ whole: 5, ratio: 0.1 });
    expect(given.spec).toMatchObject({ whole: 5n, ratio: Math.fround(0.1) });
    expect(sameResource(throughTheWire(given, Thing), given)).toBe(true);
  });

  test("fields of a newer peer survive a change, in the message and in those inside it", async () => {
    const writer = new WireWriter();
    const inner = writer.open(0x42);
    writer.stringField(0x0a, "inside");
    writer.stringField((500 << 3) | 2, "new inside");
    writer.close(inner);
    writer.stringField((501 << 3) | 2, "new outside");
    const sent = writer.finish();
    const received = new ResourceDecoder(new TypeRegistry([Thing])).decode(envelope(sent));
    const changed = await changeResource(received as Resource<{ name: string }>, (spec) => {
      spec.name = "changed";
    });
    const bytes = Buffer.from(protobufSpec(EVERYTHING).encode(changed.spec as never)).toString("latin1");
    expect(bytes).toContain("new inside");
    expect(bytes).toContain("new outside");
    expect(bytes).toContain("changed");
  });

  test.each([
    ["name", "expected string, got 5", { name: 5 }],
    ["fixed", "out of range", { fixed: -1 }],
    ["naem", "is not a known field", { naem: "x" }],
    ["inner.children[0].name", "expected string", { inner: { children: [{ name: true }] } }],
    ["numbers[1]", "out of range", { numbers: [1n, "x"] }],
    ["numbers", "must be a list", { numbers: 1n }],
    ["labels.a", "expected string", { labels: { a: 1 } }],
    ["byName.x", "must be an object", { byName: { x: 1 } }],
    ["chosen.case", "must be one of picked, text", { chosen: { case: "other" } }],
    ["chosen.value", "expected string", { chosen: { case: "text", value: 1 } }],
    ["maybe", "expected number", { maybe: "x" }],
    ["inner", "got a other.Type", { inner: { $typeName: "other.Type" } }],
    ["name", "half a surrogate pair", { name: "\ud800" }],
    ["blob", "expected Uint8Array", { blob: "text" }],
    ["free", "google.protobuf.Struct", { free: 5 }],
    ["", "must be an object with the fields of test.Everything", "text"],
  ])("refuses what is wrong at %j: %s", (path, reason, spec: unknown) => {
    const error = caught(() => make(spec));
    expect(error).toBeInstanceOf(StateError);
    expect(error).toMatchObject({ code: "invalid" });
    expect((error as StateError).message).toContain(reason);
    const [issue] = (error as StateError).issues ?? [];
    const formatted = (issue?.path ?? []).map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
    expect(formatted.replace(/^\./, "")).toBe(path);
  });

  test("a cycle and a wrong list without end are refused with a short report", () => {
    const cycle: Record<string, unknown> = { name: "x" };
    cycle["children"] = [cycle];
    expect(caught(() => make({ inner: cycle }))).toMatchObject({ code: "invalid" });
    const wrong = caught(() => make({ numbers: Array.from({ length: 100_000 }, () => "x") }));
    expect((wrong as StateError).issues?.length).toBeLessThanOrEqual(50);
  });

  test("bytes that are no message are refused with the resource's address", () => {
    const decoder = new ResourceDecoder(new TypeRegistry([Thing]));
    const error = caught(() => decoder.decode(envelope(Uint8Array.of(0xff))));
    expect(error).toMatchObject({ code: "invalid", pointer: { type: Thing.type, id: "one" } });
  });
});

describe("[transport C5] [state 132] fields of plain Go types, by the message that is equivalent", () => {
  /** Bytes as Go derives them from numbered fields: whole numbers as varints of 64 bits, zero values left out. */
  function derived(): Uint8Array {
    const writer = new WireWriter();
    writer.uint32Field(0x08, 1);
    writer.uint32(0x10);
    writer.int64(-5);
    writer.uint32(0x18);
    writer.uint64(2n ** 64n - 1n);
    writer.stringField(0x32, "web");
    writer.bytesField(0x3a, Uint8Array.of(0, 255));
    const inner = writer.open(0x42);
    writer.stringField(0x0a, "inside");
    writer.close(inner);
    // A slice of numbers is packed.
    const packed = writer.open(0x4a);
    writer.int64(3);
    writer.int64(-1);
    writer.close(packed);
    const entry = writer.open(0x52);
    writer.stringField(0x0a, "a");
    writer.stringField(0x12, "1");
    writer.close(entry);
    return writer.finish();
  }

  test("are read, and written again as the same bytes", () => {
    const resource = new ResourceDecoder(new TypeRegistry([Thing])).decode(envelope(derived()));
    expect(resource.spec).toMatchObject({
      flag: true,
      whole: -5n,
      unsigned: 2n ** 64n - 1n,
      name: "web",
      blob: Uint8Array.of(0, 255),
      inner: { name: "inside" },
      numbers: [3n, -1n],
      labels: { a: "1" },
      fixed: 0,
    });
    expect(Buffer.from(protobufSpec(EVERYTHING).encode(resource.spec as never))).toEqual(Buffer.from(derived()));
    expect(sameResource(throughTheWire(resource, Thing), resource)).toBe(true);
  });
});

describe("as YAML", () => {
  const types = [Thing, Definition];

  test("[transport C6] [state 133] read back it is equal", () => {
    const resource = make(FULL);
    expect(sameResource(parseResource(formatResource(resource), { types }), resource)).toBe(true);
    const empty = make({});
    expect(sameResource(parseResource(formatResource(empty), { types }), empty)).toBe(true);
  });

  test("[transport C7] its fields stand directly under spec", () => {
    const text = formatResource(make({ name: "web" }));
    expect(text).toMatch(/^spec:\n(?: {4}.*\n)* {4}name: web\n/m);
  });

  test("[transport C9] with an optional field set, even to its default, read back it is equal", () => {
    for (const spec of [{ optional: "" }, { optional: "x" }, {}]) {
      const resource = make(spec);
      expect(sameResource(parseResource(formatResource(resource), { types }), resource)).toBe(true);
    }
    expect(sameResource(make({ optional: "" }), make({}))).toBe(false);
  });

  test("large numbers, bytes and times are texts, in the names of protobuf's JSON", () => {
    expect(formatResource(make(FULL))).toContain("unsigned: '18446744073709551615'");
    expect(formatResource(make(FULL))).toContain("at: 2023-11-14T22:13:20.000000005Z");
    expect(formatResource(make(FULL))).toContain("byName:");
  });

  test("names with underscores are read as well, and YAML's own forms of numbers and bytes", () => {
    const text = `metadata: { namespace: default, type: ${Thing.type}, id: one }
spec: { by_name: { one: { name: x } }, unsigned: 18446744073709551615, blob: !!binary AP8= }`;
    expect(parseResource(text, { types }).spec).toMatchObject({
      byName: { one: { name: "x" } },
      unsigned: 2n ** 64n - 1n,
      blob: Uint8Array.of(0, 255),
    });
  });

  test("[state 134] a whole resource: bare owner, undefined version, defaults and empty lists printed, enums as numbers (field names as in protobuf's JSON, not Go's lower case)", () => {
    const text = formatResource(Definition.create("one", { aliases: ["x"], sensitivity: 1 }));
    expect(text).toBe(`metadata:
    namespace: default
    type: Copies.test.example.dev
    id: one
    version: undefined
    owner:
    phase: running
    created: 1970-01-01T00:00:00Z
    updated: 1970-01-01T00:00:00Z
spec:
    resourceType: ''
    displayType: ''
    defaultNamespace: ''
    aliases:
        - x
    allAliases: []
    printColumns: []
    sensitivity: 1
`);
  });
});

describe("[transport C8] [state 135] a reader and a writer of one's own", () => {
  const Named = defineResource({
    type: "Names.test.example.dev",
    spec: protobufSpec(ResourceDefinitionSpecSchema, {
      toReadable: (spec) => ({ called: spec["resourceType"] }),
      fromReadable: (value) => ({ resourceType: `read ${(value as { called: string }).called}` }),
    }),
  });

  test("stand in for those of protobuf's JSON", () => {
    expect(Named.codec.fromReadable?.(JSON.parse('{"called":"json"}'))).toEqual({ resourceType: "read json" });
    const text = formatResource(Named.create("one", { resourceType: "web" }));
    expect(text).toMatch(/^spec:\n {4}called: web\n$/m);
    const read = parseResource(text, { types: [Named] });
    expect(read.spec).toMatchObject({ resourceType: "read web", aliases: [] });
  });
});

describe("from JSON", () => {
  test("[state 125] the value is there and the field is set", () => {
    const spec = Thing.create(
      "one",
      Thing.codec.fromReadable?.(JSON.parse('{"name":"web","optional":""}')) as never,
    ).spec;
    expect(spec).toMatchObject({ name: "web", optional: "" });
    expect(Object.hasOwn(spec as object, "optional")).toBe(true);
  });

  test("what is wrong is said", () => {
    expect(() => Thing.codec.fromReadable?.({ name: 5 })).toThrow(/name/);
    expect(() => Thing.codec.fromReadable?.({ nope: 5 })).toThrow(/nope/);
  });

  test("what an Any may hold comes from the registry", () => {
    const registry = createRegistry(TimestampSchema);
    const spec = protobufSpec(AnySchema, { registry });
    const any = anyPack(TimestampSchema, create(TimestampSchema, { seconds: 1n }));
    const plain = spec.decode(toBinary(AnySchema, any));
    expect(spec.toReadable(plain as never)).toEqual({
      "@type": "type.googleapis.com/google.protobuf.Timestamp",
      value: "1970-01-01T00:00:01Z",
    });
    expect(spec.fromReadable(spec.toReadable(plain as never))).toEqual(plain);
  });
});

/** A Resource message of a Thing around the bytes of its spec. */
function envelope(proto: Uint8Array): Uint8Array {
  const writer = new WireWriter();
  const metadata = writer.open(0x0a);
  writer.stringField(0x0a, "default");
  writer.stringField(0x12, Thing.type);
  writer.stringField(0x1a, "one");
  writer.stringField(0x22, "1");
  writer.stringField(0x32, "running");
  writer.close(metadata);
  const spec = writer.open(0x12);
  writer.bytesField(0x0a, proto);
  writer.close(spec);
  return writer.finish();
}

function caught(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

function everything(): DescMessage {
  interface Field {
    readonly name?: string;
    readonly number?: number;
    readonly type?: Type;
    readonly label?: Label;
    readonly typeName?: string;
    readonly jsonName?: string;
    readonly oneofIndex?: number;
    readonly proto3Optional?: boolean;
  }
  let number = 0;
  const field = (name: string, type: Type, more: Field = {}): Field => ({
    name,
    number: ++number,
    type,
    label: Label.OPTIONAL,
    jsonName: name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    ...more,
  });
  const message = (typeName: string): Field => ({ typeName });
  const repeated: Field = { label: Label.REPEATED };
  const entry = (name: string, value: Field) => ({
    name,
    options: { mapEntry: true },
    field: [
      { name: "key", number: 1, type: Type.STRING, label: Label.OPTIONAL },
      { name: "value", number: 2, label: Label.OPTIONAL, ...value },
    ],
  });
  const fields = [
    field("flag", Type.BOOL),
    field("whole", Type.INT64),
    field("unsigned", Type.UINT64),
    field("fixed", Type.FIXED32),
    field("ratio", Type.FLOAT),
    field("name", Type.STRING),
    field("blob", Type.BYTES),
    field("inner", Type.MESSAGE, message(".test.Inner")),
    field("numbers", Type.INT64, repeated),
    field("labels", Type.MESSAGE, { ...repeated, ...message(".test.Everything.LabelsEntry") }),
    field("by_name", Type.MESSAGE, { ...repeated, ...message(".test.Everything.ByNameEntry") }),
    field("picked", Type.MESSAGE, { ...message(".test.Inner"), oneofIndex: 0 }),
    field("text", Type.STRING, { oneofIndex: 0 }),
    field("at", Type.MESSAGE, message(".google.protobuf.Timestamp")),
    field("wait", Type.MESSAGE, message(".google.protobuf.Duration")),
    field("free", Type.MESSAGE, message(".google.protobuf.Struct")),
    field("maybe", Type.MESSAGE, message(".google.protobuf.Int32Value")),
    field("state", Type.ENUM, message(".test.Mode")),
    field("optional", Type.STRING, { proto3Optional: true, oneofIndex: 1 }),
  ];
  const file = create(FileDescriptorProtoSchema, {
    name: "test/everything.proto",
    package: "test",
    syntax: "proto3",
    dependency: ["timestamp", "duration", "struct", "wrappers"].map((name) => `google/protobuf/${name}.proto`),
    enumType: [
      {
        name: "Mode",
        value: [
          { name: "OFF", number: 0 },
          { name: "ON", number: 1 },
        ],
      },
    ],
    messageType: [
      {
        name: "Inner",
        field: [
          { name: "name", number: 1, type: Type.STRING, label: Label.OPTIONAL, jsonName: "name" },
          {
            name: "children",
            number: 2,
            type: Type.MESSAGE,
            label: Label.REPEATED,
            typeName: ".test.Inner",
            jsonName: "children",
          },
        ],
      },
      {
        name: "Everything",
        field: fields,
        oneofDecl: [{ name: "chosen" }, { name: "_optional" }],
        nestedType: [
          entry("LabelsEntry", { type: Type.STRING }),
          entry("ByNameEntry", { type: Type.MESSAGE, typeName: ".test.Inner" }),
        ],
      },
    ],
  });
  const imports = [
    file_google_protobuf_timestamp,
    file_google_protobuf_duration,
    file_google_protobuf_struct,
    file_google_protobuf_wrappers,
  ];
  const registry = createFileRegistry(file, (name) => imports.find(({ proto }) => proto.name === name));
  const desc = registry.getMessage("test.Everything");
  if (desc === undefined) throw new Error("the test's message is missing");
  return desc;
}
