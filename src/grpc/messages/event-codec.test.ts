import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  createResource,
  createTombstone,
  defineResource,
  isTombstone,
  OpaqueSpec,
  shape,
  StateError,
  TypeRegistry,
  type AnyResourceType,
  type Resource,
} from "../../resource/index.ts";
import { EventType, type Event } from "../../state/index.ts";
import { Int, PathResource } from "../../testing/index.ts";
import { EventType as WireType, WatchResponseSchema } from "../../../test/gen/cosi/resource/state_pb.ts";
import { FramedMessages, isGrpcError } from "../../rpc/index.ts";
import { EventDecoder } from "./event-decoder.ts";
import { EventEncoder, knownEvents } from "./event-encoder.ts";
import { ResourceDecoder, ResourceEncoder } from "../../protobuf/index.ts";

const resources = new ResourceEncoder();
const encoder = new EventEncoder(resources);
const decoderOf = (...types: readonly AnyResourceType[]) =>
  new EventDecoder(new ResourceDecoder(new TypeRegistry(types)));
const knowsNothing = decoderOf();
const kind = { namespace: "default", type: "os/path" };

const wire = (...event: NonNullable<MessageInitShape<typeof WatchResponseSchema>["event"]>) =>
  toBinary(WatchResponseSchema, create(WatchResponseSchema, { event }));

const created = (id: string): Event => ({
  type: EventType.created,
  resource: Int.create(id, { value: 1 }) as Resource,
});

describe("events from a peer", () => {
  const metadata = { namespace: "default", type: "os/path", id: "one", version: "1", phase: "running" };
  const resource = { metadata, spec: {} };

  test("[transport X18] a tombstone is one although the type's decoder refuses empty bytes", () => {
    const Strict = defineResource({
      type: "os/path",
      spec: shape({ value: "string" }),
      codec: {
        encode: () => Uint8Array.of(1),
        decode: (bytes) => {
          if (bytes.length === 0) throw new TypeError("there must be bytes");
          return { value: "x" };
        },
      },
    });
    const gone = { ...resource, metadata: { ...metadata, version: "undefined" } };
    const [absent, bootstrapped, noop, later] = decoderOf(Strict).decode(
      wire(
        { eventType: WireType.DESTROYED, resource: gone },
        { eventType: WireType.BOOTSTRAPPED, resource: { ...gone, metadata: { ...gone.metadata, id: "" } } },
        { eventType: WireType.NOOP, resource: { ...gone, metadata: { ...gone.metadata, id: "" } } },
        { eventType: WireType.CREATED, resource: { metadata, spec: { protoSpec: Uint8Array.of(1) } } },
      ),
      kind,
    ) as Event[];
    for (const event of [absent, bootstrapped, noop]) expect(isTombstone(event?.resource)).toBe(true);
    expect(absent?.resource?.metadata).toMatchObject({
      namespace: "default",
      type: "os/path",
      id: "one",
      version: "undefined",
    });
    expect(later?.resource?.spec).toEqual({ value: "x" });
  });

  test("what was destroyed keeps its last content", () => {
    const [event] = decoderOf(PathResource).decode(wire({ eventType: WireType.DESTROYED, resource }), kind) as Event[];
    expect(isTombstone(event?.resource)).toBe(false);
    expect(event?.resource?.spec).toEqual({});
  });

  test("a marker may come without a resource", () => {
    const [event] = knowsNothing.decode(
      wire({ eventType: WireType.NOOP, bookmark: Uint8Array.of(7) }),
      kind,
    ) as Event[];
    expect(event).toMatchObject({ type: EventType.noop, bookmark: Uint8Array.of(7) });
    expect(event?.resource?.metadata).toMatchObject({ ...kind, id: "" });
  });

  test("[transport X17] an unknown type says nothing but its bookmark", () => {
    const events = knowsNothing.decode(
      wire({ eventType: 6 as WireType, bookmark: Uint8Array.of(1, 2) }, { eventType: 99 as WireType }),
      kind,
    );
    expect(events).toEqual([
      { type: "Unknown", bookmark: Uint8Array.of(1, 2) },
      { type: "Unknown", bookmark: undefined },
    ]);
  });

  test("an error is a text, and nothing else", () => {
    const [event] = knowsNothing.decode(
      wire({ eventType: WireType.ERRORED, error: " over\nrun\u001b ", resource }),
      kind,
    ) as Event[];
    expect(event?.type).toBe(EventType.errored);
    expect(isGrpcError(event?.error)).toBe(true);
    expect(event?.error?.message).toBe("over\\nrun\\u001b");
    expect(event?.resource).toBeUndefined();
  });

  test("a bookmark is a copy at each read, and an empty one is one", () => {
    const [event] = knowsNothing.decode(wire({ resource, bookmark: Uint8Array.of(1, 2) }), kind) as Event[];
    event?.bookmark?.fill(0);
    expect(event?.bookmark).toEqual(Uint8Array.of(1, 2));
    const [empty] = knowsNothing.decode(wire({ resource, bookmark: new Uint8Array(0) }), kind) as Event[];
    expect(empty?.bookmark).toEqual(new Uint8Array(0));
  });

  test.each([
    ["CREATED without a resource", {}, "an event of type Created came without a resource"],
    ["UPDATED without the old resource", { eventType: WireType.UPDATED, resource }, "without the old resource"],
    ["DESTROYED without a resource", { eventType: WireType.DESTROYED }, "without a resource"],
    ["a resource without spec", { resource: { metadata } }, "came without a spec"],
  ])("%s is refused", (_, event, reason) => {
    const decode = () => knowsNothing.decode(wire(event), kind);
    expect(decode).toThrow(StateError);
    expect(decode).toThrow(reason);
  });

  test("the first message of a watch has none, nor does any other empty one", () => {
    expect(knowsNothing.decode(new Uint8Array(0), kind)).toEqual([]);
  });

  test("specs stay as they came when that is asked for", () => {
    const event = { type: EventType.created, resource: Int.create("one", { value: 5 }) as Resource } as const;
    const [received] = decoderOf(Int).decode(encoder.encode(event), kind, { skipDecoding: true }) as Event[];
    expect(received?.resource?.spec).toMatchObject({ yaml: "value: 5\n" });
  });
});

describe("events for peers", () => {
  test("are encoded once for all who watch, alone and in batches", () => {
    const first = { ...created("a"), bookmark: Uint8Array.of(1) } as Event;
    const batch = Object.freeze([first, created("b")]);
    expect(encoder.encode(first)).toBe(encoder.encode(first));
    expect(encoder.encodeBatch(batch)).toBe(encoder.encodeBatch(batch));
    // A list that may change is looked at again.
    const open = [created("a")];
    encoder.encodeBatch(open);
    open.push(created("b"));
    expect(decode([...encoder.encodeBatch(open)]).length).toBe(2);
  });

  test("are framed once for all streams when they are large", () => {
    const resource = Int.create("large", { value: 1 }, { annotations: { padding: "x".repeat(5000) } }) as Resource;
    const large = { type: EventType.created, resource, bookmark: Uint8Array.of(1) } as Event;
    const message = encoder.encode(large);
    expect(encoder.framed(message)).toBeInstanceOf(FramedMessages);
    expect(encoder.framed(encoder.encode(large))).toBe(encoder.framed(message));
    expect(decode([message])[0]?.resource?.metadata?.id).toBe("large");
    const batch = Object.freeze([large, created("b")]);
    const [joined] = encoder.encodeBatch(batch);
    const framed = joined && encoder.framed(joined);
    expect(framed).toBeInstanceOf(FramedMessages);
    const small = encoder.encode(created("a"));
    expect(encoder.framed(small)).toBe(small);
  });

  test("of a batch are split at a smaller size where that is asked for", () => {
    const batch = Object.freeze(Array.from({ length: 20 }, (_, i) => created(`id-${i}`)));
    const [whole, ...none] = encoder.encodeBatch(batch);
    expect(none).toEqual([]);
    const parts = [...encoder.encodeBatch(batch, 500)];
    expect(parts.length).toBeGreaterThan(2);
    const ids = (messages: readonly Uint8Array[]) => decode(messages).map((event) => event.resource?.metadata?.id);
    expect(ids(parts)).toEqual(ids([whole ?? new Uint8Array()]));
  });

  test("are encoded when their message is due, where they are very many", () => {
    let reads = 0;
    const counted = (event: Event): Event =>
      Object.defineProperty({ ...event }, "type", { get: () => (reads++, EventType.created) });
    const events = Array.from({ length: 5000 }, (_, i) => counted(created(`id-${i}`)));
    const [message] = new EventEncoder(resources, { mostEvents: 10 }).encodeBatch(events);
    expect(decode([message ?? new Uint8Array()]).length).toBe(10);
    expect(reads).toBeLessThan(100);
  });

  const decode = (messages: readonly Uint8Array[]) =>
    messages.flatMap((one) => fromBinary(WatchResponseSchema, one).event);

  test("are split into messages of bounded size and number, in order", () => {
    const events = Array.from({ length: 25 }, (_, i) => created(`id-${i}`));
    const ids = events.map((event) => event.resource?.metadata.id);
    for (const [options, least] of [
      [{ mostEvents: 10 }, 3],
      [{ mostBytes: 500 }, 4],
      [{ mostBytes: 1 }, 25],
    ] as const) {
      const messages = [...new EventEncoder(resources, options).encodeBatch(events)];
      expect(messages.length).toBeGreaterThanOrEqual(least);
      expect(decode(messages).map((event) => event.resource?.metadata?.id)).toEqual(ids);
      const { mostBytes = Infinity, mostEvents = Infinity } = {
        mostBytes: undefined,
        mostEvents: undefined,
        ...options,
      };
      for (const message of messages) {
        const count = decode([message]).length;
        expect(count).toBeLessThanOrEqual(mostEvents);
        // An event that is larger than that goes alone.
        expect(message.length <= mostBytes || count === 1).toBe(true);
      }
    }
    expect(encoder.encodeBatch([])).toEqual([]);
  });

  test("Resynced is not in the protocol", () => {
    const event = { type: EventType.resynced, resource: createTombstone({ ...kind, id: "" }) } as const;
    expect(() => encoder.encode(event)).toThrow(expect.objectContaining({ code: "unsupported" }));
  });

  test("an error of a State keeps its category, whatever its text", () => {
    const error = new StateError("watch_overrun", "behind");
    const [event] = knowsNothing.decode(encoder.encode({ type: EventType.errored, error }), kind) as Event[];
    expect(event?.error).toMatchObject({ code: "watch_overrun", message: "behind" });
  });

  test("an error's text may hold anything", () => {
    const [event] = decode([encoder.encode({ type: EventType.errored, error: new Error("a\ud800b") })]);
    expect(event?.error).toBe("a\ufffdb");
  });
});

describe("[transport X2] clients of version 0", () => {
  const marker = createTombstone({ ...kind, id: "" });
  const events: readonly Event[] = [
    created("a"),
    { type: EventType.bootstrapped, resource: marker },
    { type: EventType.noop, resource: marker },
    { type: EventType.errored, error: new Error("x") },
  ];

  test("get neither BOOTSTRAPPED nor ERRORED", () => {
    expect(knownEvents(events, 0).map(({ type }) => type)).toEqual([EventType.created, EventType.noop]);
    expect(knownEvents(events, 1)).toBe(events);
  });

  test("share what has nothing to leave out", () => {
    const plain = [created("a")];
    expect(knownEvents(plain, 0)).toBe(plain);
  });
});

describe("what is kept of a message owns its bytes", () => {
  const sizes = [10, 1_000, 10_000, 40_000];

  test.each(sizes)("of an event of %i bytes that many watch: no pool is kept alive with it", (size) => {
    const event: Event = {
      type: EventType.created,
      resource: createResource({ ...kind, id: "one" }, new OpaqueSpec({ yaml: "x".repeat(size) })),
      bookmark: new Uint8Array(16),
    };
    const message = encoder.encode(Object.freeze(event));
    expect(encoder.encode(event)).toBe(message);
    expect(message.buffer.byteLength).toBeLessThanOrEqual(message.byteLength + 16);
    const batch = Object.freeze([event]);
    for (const one of encoder.encodeBatch(batch)) {
      expect(one.buffer.byteLength).toBeLessThanOrEqual(one.byteLength + 16);
    }
  });

  test("a codec that keeps views of what it decodes keeps no more than the spec", () => {
    const kept: Uint8Array[] = [];
    const Viewing = defineResource({
      type: "os/path",
      spec: shape({ value: "string" }),
      codec: {
        encode: () => Uint8Array.of(1),
        decode: (bytes) => {
          kept.push(bytes);
          return { value: "x" };
        },
      },
    });
    const metadata = { namespace: "default", type: "os/path", id: "one", version: "1", phase: "running" };
    const spec = { protoSpec: new Uint8Array(100) };
    decoderOf(Viewing).decode(wire({ eventType: WireType.CREATED, resource: { metadata, spec } }), kind);
    expect(kept.map(({ length, buffer }) => [length, buffer.byteLength])).toEqual([[100, 100]]);
  });

  test("the bookmark of a received event is its own", () => {
    const [event] = knowsNothing.decode(wire({ eventType: WireType.NOOP, bookmark: new Uint8Array(16) }), kind);
    expect(event?.bookmark?.buffer.byteLength).toBe(16);
  });
});
