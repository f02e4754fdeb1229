import { onOneLine } from "../../internal/visible-text.ts";
import {
  create,
  equals,
  fromBinary,
  toBinary,
  type DescMessage,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import {
  createTombstone,
  EPOCH,
  isTombstone,
  LabelOperator,
  lifeOf,
  OpaqueSpec,
  Phase,
  sameResource,
  TypeRegistry,
  type LabelTerm,
  type Metadata,
  type Resource,
} from "../../resource/index.ts";
import { EventType, type Event, type ExpectedPhase, type Query } from "../../state/index.ts";
import {
  LabelTerm_Operation,
  ResourceSchema,
  type Resource as ResourceMessage,
} from "../../../test/gen/cosi/resource/resource_pb.ts";
import {
  CreateRequestSchema,
  DestroyRequestSchema,
  EventType as WireEventType,
  GetResponseSchema,
  ListRequestSchema,
  TeardownResponseSchema,
  UpdateRequestSchema,
  WatchRequestSchema,
  WatchResponseSchema,
} from "../../../test/gen/cosi/resource/state_pb.ts";
import { EventDecoder } from "./event-decoder.ts";
import { EventEncoder } from "./event-encoder.ts";
import { decodeListRequest, encodeListRequest } from "./list-request.ts";
import { decodePointerRequest, encodePointerRequest } from "./pointer-request.ts";
import { ResourceDecoder, ResourceEncoder, formatInstant, instantOf } from "../../protobuf/index.ts";
import { decodeTeardownResponse, encodeTeardownResponse } from "./teardown-response.ts";
import { decodeWatchRequest, encodeWatchRequest } from "./watch-request.ts";
import { decodeCreateRequest, decodeUpdateRequest, encodeCreateRequest, encodeUpdateRequest } from "./write-request.ts";

// What is coded by hand says the same as the protobuf library, in both directions: our bytes are its bytes, and what it
// writes, with fields that nobody here knows in every place, is read by us as it is by itself.

const encoder = new ResourceEncoder();
const decoder = new ResourceDecoder(new TypeRegistry());
const events = new EventEncoder(encoder);
const eventDecoder = new EventDecoder(decoder);

const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.constantFrom("", "__proto__", "constructor", "\ufeffbom", "～", "😀", "x".repeat(130), "é".repeat(70)),
);
const dictionary = fc
  .array(fc.tuple(text, text), { maxLength: 5 })
  .map((entries): Record<string, string> => Object.fromEntries(entries));
const instant = fc.record({
  seconds: fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }),
  nanos: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 999_999_999 })),
});
const version = fc.oneof(fc.constant("undefined"), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String));
const bytes = fc.uint8Array({ maxLength: 200 });

/** A Resource message such as a well-behaved peer sends. */
const resourceMessage: fc.Arbitrary<ResourceMessage> = fc
  .record({
    namespace: text,
    type: text,
    id: text,
    version,
    owner: text,
    phase: fc.constantFrom(Phase.running, Phase.tearingDown),
    created: instant,
    updated: instant,
    finalizers: fc.uniqueArray(text, { maxLength: 4 }),
    labels: dictionary,
    annotations: dictionary,
    protoSpec: bytes,
    yamlSpec: text,
  })
  .map(({ created, updated, protoSpec, yamlSpec, ...metadata }) =>
    create(ResourceSchema, {
      metadata: {
        ...metadata,
        created: { seconds: BigInt(created.seconds), nanos: created.nanos },
        updated: { seconds: BigInt(updated.seconds), nanos: updated.nanos },
      },
      spec: { protoSpec, yamlSpec },
    }),
  );

/** A resource as it is here, by way of the library alone. */
function resourceOf(message: ResourceMessage): Resource {
  return decoder.decode(toBinary(ResourceSchema, message));
}
const resource = resourceMessage.map(resourceOf);

/** Adds fields that no schema here has, in the message and in all messages inside it. */
function withUnknownFields<M extends Message>(message: M, numbers: readonly number[]): M {
  let next = 0;
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
    Object.values(value).forEach(visit);
    if (!("$typeName" in value)) return;
    const unknown = [];
    for (let i = 0; i < 2; i++) {
      const { wireType, data } = UNKNOWN[next % UNKNOWN.length] ?? UNKNOWN[0];
      unknown.push({ no: 2000 + (numbers[next++ % numbers.length] ?? 0), wireType, data: Uint8Array.from(data) });
    }
    Object.assign(value, { $unknown: unknown });
  };
  visit(message);
  return message;
}

/** Values of each wire type, as they stand behind a tag; the group has an inner one. */
const UNKNOWN = [
  { wireType: 0, data: [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01] },
  { wireType: 1, data: [1, 2, 3, 4, 5, 6, 7, 8] },
  { wireType: 2, data: [3, 0xff, 0xfe, 0xfd] },
  { wireType: 5, data: [1, 2, 3, 4] },
] as const;
const numbers = fc.array(fc.integer({ min: 0, max: 2 ** 29 - 2001 }), { minLength: 1, maxLength: 8 });

function expectSameMessage<Desc extends DescMessage>(desc: Desc, ours: Uint8Array, theirs: MessageShape<Desc>): void {
  expect(Buffer.from(ours)).toEqual(Buffer.from(toBinary(desc, theirs)));
  expect(equals(desc, fromBinary(desc, ours), theirs)).toBe(true);
}

/** What the message of a resource is, by the rules of the wire, for the library to write. */
function messageOf({ metadata, spec }: Resource): ResourceMessage {
  const time = (at: string) => {
    const { seconds, nanos } = instantOf(at);
    return { seconds: BigInt(seconds), nanos };
  };
  const { created, updated, finalizers, labels, annotations, ...rest } = metadata;
  const opaque = spec as OpaqueSpec;
  return create(ResourceSchema, {
    metadata: {
      ...rest,
      created: time(created),
      updated: time(updated),
      finalizers: [...finalizers],
      labels: { ...labels },
      annotations: { ...annotations },
    },
    spec: { protoSpec: opaque.bytes ?? new Uint8Array(0), yamlSpec: opaque.yaml ?? "" },
  });
}

function expectMetadata(metadata: Metadata, message: ResourceMessage): void {
  const wire = message.metadata;
  expect(wire).toBeDefined();
  if (wire === undefined) return;
  const time = (at: { seconds: bigint; nanos: number } | undefined): string =>
    formatInstant(Number(at?.seconds ?? 0n), at?.nanos ?? 0);
  expect(metadata).toEqual({
    namespace: wire.namespace,
    type: wire.type,
    id: wire.id,
    version: wire.version,
    owner: wire.owner,
    phase: wire.phase,
    created: time(wire.created),
    updated: time(wire.updated),
    finalizers: [...new Set(wire.finalizers)],
    labels: Object.assign(Object.create(null), wire.labels),
    annotations: Object.assign(Object.create(null), wire.annotations),
  });
}

describe("resources", () => {
  test.prop([resourceMessage])("are written byte for byte as the library writes them", (message) => {
    const decoded = resourceOf(message);
    expectSameMessage(ResourceSchema, encoder.encode(decoded), message);
    expectSameMessage(
      GetResponseSchema,
      encoder.encodeField(decoded),
      create(GetResponseSchema, { resource: message }),
    );
    expectSameMessage(ResourceSchema, encoder.encode(decoded), messageOf(decoded));
  });

  test.prop([resourceMessage, numbers])(
    "are read as the library reads them, unknown fields or not",
    (message, added) => {
      for (const sent of [message, withUnknownFields(message, added)]) {
        const wire = toBinary(ResourceSchema, sent);
        const theirs = fromBinary(ResourceSchema, wire);
        const ours = decoder.decode(wire);
        expectMetadata(ours.metadata, theirs);
        expect(ours.spec).toBeInstanceOf(OpaqueSpec);
        const spec = ours.spec as OpaqueSpec;
        expect(Buffer.from(spec.bytes ?? [])).toEqual(Buffer.from(theirs.spec?.protoSpec ?? []));
        expect(spec.yaml ?? "").toBe(theirs.spec?.yamlSpec);
      }
    },
  );

  test.prop([resourceMessage, resourceMessage])("in several pieces are merged as the library merges them", (a, b) => {
    const wire = Buffer.concat([toBinary(ResourceSchema, a), toBinary(ResourceSchema, b)]);
    expectMetadata(decoder.decode(wire).metadata, fromBinary(ResourceSchema, wire));
    const field = Buffer.concat(
      [a, b].map((one) => toBinary(GetResponseSchema, create(GetResponseSchema, { resource: one }))),
    );
    const theirs = fromBinary(GetResponseSchema, field).resource;
    expect(theirs).toBeDefined();
    if (theirs !== undefined) expectMetadata(decoder.decodeField(field).metadata, theirs);
  });

  test.prop([resourceMessage])("come back the same through our own code alone", (message) => {
    const one = resourceOf(message);
    const two = decoder.decode(encoder.encode(one));
    expect(sameResource(one, two)).toBe(true);
    expect(two.metadata).toEqual(one.metadata);
  });
});

const pointer = fc.record({ namespace: text, type: text, id: text });

describe("requests", () => {
  const life = fc.option(
    fc.record({
      seconds: fc.bigInt({ min: 0n, max: 4_102_444_800n }),
      nanos: fc.integer({ min: 1, max: 999_999_999 }),
    }),
    { nil: undefined },
  );
  test.prop([pointer, text, life, numbers])("about one resource, or one life of it", (of, owner, at, added) => {
    const message = create(DestroyRequestSchema, { ...of, options: { owner, ...(at && { life: at }) } });
    const created = at && formatInstant(Number(at.seconds), at.nanos);
    expectSameMessage(DestroyRequestSchema, encodePointerRequest(of, owner, created), message);
    const wire = toBinary(DestroyRequestSchema, withUnknownFields(message, added));
    expect(decodePointerRequest(wire)).toEqual({ pointer: { ...of, created }, owner });
  });

  test.prop([resourceMessage, text, numbers])("to create", (resourceSent, owner, added) => {
    const message = create(CreateRequestSchema, { resource: resourceSent, options: { owner } });
    const sent = resourceOf(resourceSent);
    expectSameMessage(CreateRequestSchema, encodeCreateRequest(encoder, sent, owner), message);
    const received = decodeCreateRequest(decoder, toBinary(CreateRequestSchema, withUnknownFields(message, added)));
    expect(received.owner).toBe(owner);
    expect(sameResource(received.resource, sent)).toBe(true);
  });

  const phase = fc.constantFrom<ExpectedPhase>("running", "tearingDown", "any");
  test.prop([resourceMessage, text, phase, numbers])("to update", (resourceSent, owner, expectedPhase, added) => {
    const sent = resourceOf(resourceSent);
    const at = lifeOf(sent.metadata) === undefined ? undefined : resourceSent.metadata?.created;
    const phaseOption = expectedPhase === "any" ? {} : { expectedPhase };
    const options = { owner, ...phaseOption, ...(at && { life: at }) };
    const message = create(UpdateRequestSchema, { newResource: resourceSent, options });
    expectSameMessage(UpdateRequestSchema, encodeUpdateRequest(encoder, sent, owner, expectedPhase), message);
    const received = decodeUpdateRequest(decoder, toBinary(UpdateRequestSchema, withUnknownFields(message, added)));
    expect(received).toMatchObject({ owner, expectedPhase });
    expect(sameResource(received.resource, sent)).toBe(true);
    expect(received.resource.metadata.created).toBe(lifeOf(sent.metadata) ?? EPOCH);
  });

  const WIRE_OPERATION = {
    exists: LabelTerm_Operation.EXISTS,
    equal: LabelTerm_Operation.EQUAL,
    in: LabelTerm_Operation.IN,
    lessThan: LabelTerm_Operation.LT,
    lessOrEqual: LabelTerm_Operation.LTE,
    lessThanNumeric: LabelTerm_Operation.LT_NUMERIC,
    lessOrEqualNumeric: LabelTerm_Operation.LTE_NUMERIC,
  } as const;
  const operatorName = fc.constantFrom(...(Object.keys(WIRE_OPERATION) as (keyof typeof WIRE_OPERATION)[]));
  const term = fc
    .record({
      key: text,
      name: operatorName,
      values: fc.array(text, { minLength: 1, maxLength: 3 }),
      invert: fc.boolean(),
    })
    .map(({ name, values, ...rest }) => ({ ...rest, name, values: name === "exists" ? [] : values }));
  const queries = fc.record({
    labels: fc.array(fc.array(term, { maxLength: 3 }), { maxLength: 3 }),
    ids: fc.option(fc.stringMatching(/^[a-z]{1,8}$/), { nil: undefined }),
  });
  type Queries = {
    labels: readonly (readonly (Omit<LabelTerm, "operator"> & { name: keyof typeof WIRE_OPERATION })[])[];
    ids: string | undefined;
  };

  const toQuery = ({ labels, ids }: Queries): Query => ({
    labels:
      labels.length === 0
        ? undefined
        : labels.map((terms) => terms.map(({ name, ...rest }) => ({ ...rest, operator: LabelOperator[name] }))),
    ids,
  });
  const toWire = ({ labels, ids }: Queries) => ({
    labelQuery: labels.map((terms) => ({
      terms: terms.map(({ key, name, values, invert }) => ({
        key,
        op: WIRE_OPERATION[name],
        value: [...values],
        invert,
      })),
    })),
    ...(ids === undefined ? {} : { idQuery: { regexp: ids } }),
  });

  test.prop([pointer, queries, numbers])("to list", ({ namespace, type }, query, added) => {
    const message = create(ListRequestSchema, { namespace, type, options: toWire(query) });
    const kind = { namespace, type };
    expectSameMessage(ListRequestSchema, encodeListRequest(kind, toQuery(query)), message);
    const received = decodeListRequest(toBinary(ListRequestSchema, withUnknownFields(message, added)));
    expect(received).toEqual({ kind, query: toQuery(query) });
  });

  const watch = fc.record({
    bootstrap: fc.boolean(),
    bootstrapBookmark: fc.boolean(),
    aggregated: fc.boolean(),
    tailEvents: fc.nat(),
    startFromBookmark: fc.option(bytes, { nil: undefined }),
  });
  const id = fc.option(text, { nil: undefined });
  test.prop([pointer, id, queries, watch, numbers])("to watch", ({ namespace, type }, of, query, options, added) => {
    const { bootstrap, startFromBookmark, ...rest } = options;
    const message = create(WatchRequestSchema, {
      namespace,
      type,
      ...(of === undefined ? {} : { id: of }),
      options: {
        ...toWire(query),
        ...rest,
        bootstrapContents: bootstrap,
        ...(startFromBookmark === undefined ? {} : { startFromBookmark }),
      },
      apiVersion: 1,
    });
    const kind = { namespace, type };
    expectSameMessage(WatchRequestSchema, encodeWatchRequest(kind, of, toQuery(query), options), message);
    const received = decodeWatchRequest(toBinary(WatchRequestSchema, withUnknownFields(message, added)));
    expect(received).toEqual({ kind, id: of, query: toQuery(query), options, apiVersion: 1 });
  });
});

describe("answers", () => {
  test.prop([fc.boolean(), fc.boolean(), numbers])("to a teardown", (destroyReady, comparedLife, added) => {
    const message = create(TeardownResponseSchema, { destroyReady, comparedLife });
    expectSameMessage(TeardownResponseSchema, encodeTeardownResponse({ destroyReady, comparedLife }), message);
    const wire = toBinary(TeardownResponseSchema, withUnknownFields(message, added));
    expect(decodeTeardownResponse(wire)).toEqual({ destroyReady, comparedLife });
  });
});

const kind = { namespace: "ns", type: "Things.example.dev" };
const marker = createTombstone({ ...kind, id: "" });
const bookmark = fc.option(bytes, { nil: undefined });

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ type: fc.constant(EventType.created), resource, bookmark }),
  fc.record({ type: fc.constant(EventType.updated), resource, old: resource, bookmark }),
  // What was destroyed had been stored: without version and content it would be a tombstone.
  fc.record({
    type: fc.constant(EventType.destroyed),
    resource: resource.filter(({ metadata }) => metadata.version !== "undefined"),
    bookmark,
  }),
  fc.record({
    type: fc.constant(EventType.destroyed),
    resource: pointer.map((of) => createTombstone(of)),
    bookmark,
  }),
  fc.record({ type: fc.constantFrom(EventType.bootstrapped, EventType.noop), resource: fc.constant(marker), bookmark }),
  fc.record({ type: fc.constant(EventType.errored), error: text.map((message) => new Error(message)) }),
);

const NUMBERS = {
  Created: WireEventType.CREATED,
  Updated: WireEventType.UPDATED,
  Destroyed: WireEventType.DESTROYED,
  Bootstrapped: WireEventType.BOOTSTRAPPED,
  Noop: WireEventType.NOOP,
  Errored: WireEventType.ERRORED,
} as const;

function eventMessageOf(one: Event) {
  const { type } = one;
  if (type === EventType.resynced) throw new TypeError("not in the protocol");
  return {
    eventType: NUMBERS[type],
    ...(one.resource === undefined
      ? {}
      : { resource: isTombstone(one.resource) ? tombstoneMessageOf(one.resource.metadata) : messageOf(one.resource) }),
    ...(one.old === undefined ? {} : { old: messageOf(one.old) }),
    ...(one.error === undefined ? {} : { error: one.error.message }),
    ...(one.bookmark === undefined ? {} : { bookmark: one.bookmark }),
  };
}

function tombstoneMessageOf({ namespace, type, id, version: at, phase }: Metadata): ResourceMessage {
  const metadata = { namespace, type, id, version: at, phase, created: {}, updated: {} };
  return create(ResourceSchema, { metadata, spec: {} });
}

function expectSameEvent(received: unknown, sent: Event): void {
  const ours = received as Event;
  expect(ours.type).toBe(sent.type);
  const told = sent.error && onOneLine(sent.error.message.trim());
  expect(ours.error?.message).toBe(told === "" ? "the watch failed without saying why" : told);
  expect(ours.bookmark && Buffer.from(ours.bookmark)).toEqual(sent.bookmark && Buffer.from(sent.bookmark));
  expect(ours.resource && isTombstone(ours.resource)).toBe(sent.resource && isTombstone(sent.resource));
  if (ours.resource !== undefined && sent.resource !== undefined) {
    expect(ours.resource.metadata).toEqual(sent.resource.metadata);
    if (!isTombstone(ours.resource) && !isTombstone(sent.resource)) {
      expect(sameResource(ours.resource, sent.resource)).toBe(true);
    }
  }
  expect(ours.old === undefined).toBe(sent.old === undefined);
  if (ours.old !== undefined && sent.old !== undefined) expect(sameResource(ours.old, sent.old)).toBe(true);
}

describe("events", () => {
  test.prop([fc.array(event, { minLength: 1, maxLength: 6 }), numbers])("one by one and in batches", (sent, added) => {
    const message = create(WatchResponseSchema, { event: sent.map(eventMessageOf) });
    const [first] = sent;
    if (first !== undefined) {
      const alone = create(WatchResponseSchema, { event: [eventMessageOf(first)] });
      expectSameMessage(WatchResponseSchema, events.encode(first), alone);
    }
    const [batch, ...more] = events.encodeBatch(sent);
    expect(more).toEqual([]);
    expectSameMessage(WatchResponseSchema, batch ?? new Uint8Array(0), message);
    for (const wire of [batch ?? new Uint8Array(0), toBinary(WatchResponseSchema, withUnknownFields(message, added))]) {
      const received = eventDecoder.decode(wire, kind);
      expect(received.length).toBe(sent.length);
      received.forEach((one, i) => {
        const original = sent[i];
        if (original !== undefined) expectSameEvent(one, original);
      });
    }
  });
});
