import { describe, expect, test } from "vitest";
import { MemoryState } from "../src/memory/index.ts";
import {
  compileIdQuery,
  createTombstone,
  definitionOf,
  equal,
  exists,
  lessThanNumeric,
  NamespaceType,
  not,
  oneOf,
  parseLabelSelector,
  ResourceDefinitionType,
  StateError,
  TypeRegistry,
  type AnyResourceType,
  type Resource,
  defineResource,
} from "../src/resource/index.ts";
import { WireError } from "../src/wire/wire-reader.ts";
import { WireWriter } from "../src/wire/index.ts";
import { decodeErrorDetails, encodeErrorDetails } from "../src/grpc/error-details.ts";
import { ResourceDefinitionSpecSchema } from "./gen/cosi/resource/meta/meta_pb.ts";
import { EventDecoder } from "../src/grpc/messages/event-decoder.ts";
import { EventEncoder } from "../src/grpc/messages/event-encoder.ts";
import { decodeListRequest, encodeListRequest } from "../src/grpc/messages/list-request.ts";
import { decodePointerRequest, encodePointerRequest } from "../src/grpc/messages/pointer-request.ts";
import { ResourceDecoder } from "../src/protobuf/resource-decoder.ts";
import { ResourceEncoder } from "../src/protobuf/resource-encoder.ts";
import { decodeTeardownResponse, encodeTeardownResponse } from "../src/grpc/messages/teardown-response.ts";
import {
  readSessionRequest,
  readSessionResponse,
  writeSessionRequest,
  writeSessionResponse,
} from "../src/grpc/session/session-message.ts";
import { decodeWatchRequest, encodeWatchRequest } from "../src/grpc/messages/watch-request.ts";
import {
  decodeCreateRequest,
  decodeUpdateRequest,
  encodeCreateRequest,
  encodeUpdateRequest,
} from "../src/grpc/messages/write-request.ts";
import { protobufSpec } from "../src/protobuf/protobuf-spec.ts";
import { GrpcError } from "../src/rpc/index.ts";
import { EventType } from "../src/state/index.ts";
import { Int, PathResource, seededRandom, Str } from "../src/testing/index.ts";
import { formatResource, parseManifests, parseMetadata, parseResource } from "../src/yaml/index.ts";

// Every decoder gets inputs that are nearly right: encodings of good values, with bits flipped, pieces cut out,
// repeated, swapped and blown up. Whatever comes, it is decoded or refused with one of the errors meant for that.
//
// `FUZZ_RUNS` says how many inputs (`npm run fuzz`: a million), `FUZZ_SEED` which ones.

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 20_000);
const SEED = Number(process.env["FUZZ_SEED"] ?? Date.now() % 2 ** 31);
/** Unit: milliseconds for each input, far above what any of them takes. */
const TIMEOUT_MS = 30_000 + RUNS / 5;
/** What may stay behind after all of them. Unit: bytes. */
const MAX_LEFT_BYTES = 200 * 1024 * 1024;

/** Whole numbers below a bound that a seed decides, so that a failure can be repeated. */
function randomOf(seed: number): (below: number) => number {
  const random = seededRandom(seed);
  return (below) => Math.floor(random() * below);
}

type Random = ReturnType<typeof randomOf>;

/** Numbers that lengths and counts go wrong with. */
const ODD_BYTES = [
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
  [0],
  [0x7f],
  [0x80],
];

function mutated(corpus: readonly Uint8Array[], random: Random): Uint8Array {
  let bytes = Array.from(corpus[random(corpus.length)] ?? []);
  // Now and then an input is good: what follows must not depend on all being bad.
  for (let times = random(5); times > 0; times--) {
    const [at, length] = [random(bytes.length + 1), 1 + random(8)];
    switch (random(7)) {
      case 0:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
        break;
      case 1:
        bytes[at] = random(256);
        break;
      case 2:
        bytes.splice(at, length);
        break;
      case 3:
        bytes.splice(at, 0, ...(ODD_BYTES[random(ODD_BYTES.length)] ?? []));
        break;
      case 4:
        bytes.splice(at, 0, ...bytes.slice(random(bytes.length + 1)).slice(0, 64));
        break;
      case 5:
        bytes = bytes.slice(0, at);
        break;
      case 6: {
        const other = corpus[random(corpus.length)] ?? new Uint8Array(0);
        bytes.splice(at, 0, ...other.subarray(0, random(other.length + 1)));
        break;
      }
    }
    if (bytes.length > 4096) bytes.length = 4096;
  }
  return Uint8Array.from(bytes);
}

interface Target {
  readonly name: string;
  /** Good inputs to start from. */
  readonly corpus: readonly Uint8Array[];
  readonly decode: (bytes: Uint8Array) => unknown;
  /** How much of the runs it gets; decoders of texts are slower. */
  readonly weight: number;
  /** Whether an error is meant for such inputs; never for what reports mistakes in its result. */
  readonly isMeant: (error: unknown) => boolean;
}

const isWireRefusal = (error: unknown): error is Error =>
  error instanceof WireError || error instanceof StateError || error instanceof GrpcError;
const isStateError = (error: unknown): boolean => error instanceof StateError;

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const toText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

async function targets(state: MemoryState): Promise<readonly Target[]> {
  const Copy = defineResource({ type: "Copies.fuzz.example.dev", spec: protobufSpec(ResourceDefinitionSpecSchema) });
  const Plain = defineResource({
    type: "Plains.fuzz.example.dev",
    spec: { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } },
  });
  const types: readonly AnyResourceType[] = [
    Int,
    Str,
    PathResource,
    NamespaceType,
    ResourceDefinitionType,
    Copy,
    Plain,
  ];
  const encoder = new ResourceEncoder();
  const metadata = { labels: { a: "1", "": "é" }, annotations: { note: "x".repeat(130) }, finalizers: ["one", "two"] };
  const resources = [
    Int.create("one", { value: 5 }, metadata),
    Str.create("two", { value: "ä😀" }),
    PathResource.create("three", {}),
    NamespaceType.create("lab", { description: "d" }),
    await definitionOf(ResourceDefinitionType),
    Copy.create("copy", { aliases: ["a", "b"], printColumns: [{ name: "n", jsonPath: "p" }], sensitivity: 1 }),
    Plain.create("plain", { deep: [{ large: 2n ** 70n, bytes: Uint8Array.of(1, 2) }] }),
  ] as unknown as readonly Resource[];
  const decoders = [new ResourceDecoder(new TypeRegistry(types)), new ResourceDecoder(new TypeRegistry())];
  const each = (decode: (decoder: ResourceDecoder) => unknown): void => {
    let refusal: Error | undefined;
    for (const decoder of decoders) {
      try {
        decode(decoder);
      } catch (error) {
        if (!isWireRefusal(error)) throw error;
        refusal = error;
      }
    }
    if (refusal !== undefined) throw refusal;
  };
  const kind = { namespace: "default", type: "test/int" };
  const query = {
    labels: [
      [equal("a", "b"), not(exists("c"))],
      [oneOf("d", "e", "f"), lessThanNumeric("g", "4GiB")],
    ],
    ids: "^a",
  };
  const events = new EventEncoder(encoder);
  const marker = createTombstone({ ...kind, id: "" });
  const [first, second] = resources;
  if (first === undefined || second === undefined) throw new Error("there are no resources");
  const pointer = { ...kind, id: "one" };
  const yaml = resources.map((one) => utf8(formatResource(one)));
  const wire = (name: string, corpus: readonly Uint8Array[], decode: (bytes: Uint8Array) => unknown): Target => ({
    name,
    corpus,
    decode,
    weight: 30,
    isMeant: isWireRefusal,
  });
  await state.create(Int.create("one", { value: 1 }));
  const bookmarks = await bookmarksOf(state);
  const writer = new WireWriter();
  writeSessionRequest(writer, { id: 300, timeoutMs: 60_000, call: "Get", message: encodePointerRequest(pointer) });
  const sessionRequest = writer.finish();
  writeSessionResponse(writer, {
    id: 300,
    response: encodeTeardownResponse({ destroyReady: true, comparedLife: false }),
  });
  const sessionResponse = writer.finish();

  return [
    wire(
      "resources",
      resources.map((one) => encoder.encode(one)),
      (bytes) => each((decoder) => decoder.decode(bytes)),
    ),
    wire(
      "answers",
      resources.map((one) => encoder.encodeField(one)),
      (bytes) => each((decoder) => decoder.decodeField(bytes, { skipDecoding: true })),
    ),
    wire("requests about one resource", [encodePointerRequest(pointer, "owner")], decodePointerRequest),
    wire("requests on a session", [sessionRequest], readSessionRequest),
    wire("responses on a session", [sessionResponse], readSessionResponse),
    wire("requests to list", [encodeListRequest(kind, query)], decodeListRequest),
    wire(
      "requests to watch",
      [
        encodeWatchRequest(kind, undefined, query, { bootstrap: true, bootstrapBookmark: true, aggregated: true }),
        encodeWatchRequest(kind, "one", {}, { tailEvents: 3, startFromBookmark: Uint8Array.of(1, 2, 3) }),
      ],
      decodeWatchRequest,
    ),
    wire(
      "requests to create",
      resources.map((one) => encodeCreateRequest(encoder, one, "owner")),
      (bytes) => each((decoder) => decodeCreateRequest(decoder, bytes)),
    ),
    wire(
      "requests to update",
      resources.map((one) => encodeUpdateRequest(encoder, one, "owner")),
      (bytes) => each((decoder) => decodeUpdateRequest(decoder, bytes)),
    ),
    wire(
      "events",
      [
        ...events.encodeBatch([
          { type: EventType.created, resource: first, bookmark: Uint8Array.of(1) },
          { type: EventType.updated, resource: first, old: second },
          { type: EventType.bootstrapped, resource: marker, bookmark: Uint8Array.of(2) },
          { type: EventType.errored, error: new Error("x") },
        ]),
        events.encode({ type: EventType.destroyed, resource: marker }),
      ],
      (bytes) => each((decoder) => new EventDecoder(decoder).decode(bytes, kind)),
    ),
    wire(
      "answers to a teardown",
      [encodeTeardownResponse({ destroyReady: true, comparedLife: false })],
      decodeTeardownResponse,
    ),
    {
      ...wire("details of errors", [encodeErrorDetails(5, "text", "not_found", pointer)], decodeErrorDetails),
      isMeant: () => false,
    },
    {
      name: "label selectors",
      corpus: ["a=b,c!=d", "e in (f, g),!h", "size<4GiB", "a notin (b)"].map(utf8),
      decode: (bytes) => parseLabelSelector(toText(bytes)),
      weight: 5,
      isMeant: isStateError,
    },
    {
      name: "patterns of ids",
      corpus: ["^a[0-9]+$", "(a|b)*c{2,5}", "(?i)[[:alpha:]]\\z"].map(utf8),
      decode: async (bytes) => (await compileIdQuery(toText(bytes))).matches("a1b2c3"),
      weight: 2,
      isMeant: isStateError,
    },
    {
      name: "bookmarks",
      corpus: bookmarks,
      decode: async (bytes) => (await state.watchKind(Int, { startFromBookmark: bytes })).return?.(),
      weight: 2,
      isMeant: isStateError,
    },
    {
      name: "YAML resources",
      corpus: yaml,
      decode: (bytes) => parseResource(toText(bytes), { types }),
      weight: 1,
      isMeant: isStateError,
    },
    {
      name: "YAML metadata",
      corpus: yaml.map((text) =>
        utf8(
          toText(text)
            .replace(/^metadata:\n/, "")
            .replace(/\nspec:[^]*$/, "\n")
            .replaceAll(/^ {4}/gm, ""),
        ),
      ),
      decode: (bytes) => parseMetadata(toText(bytes)),
      weight: 1,
      isMeant: isStateError,
    },
    {
      name: "manifests",
      corpus: [Uint8Array.from(yaml.flatMap((text) => [...utf8("---\n"), ...text]))],
      decode: (bytes) => parseManifests(toText(bytes), { types }),
      weight: 1,
      isMeant: () => false,
    },
  ];
}

async function bookmarksOf(state: MemoryState): Promise<readonly Uint8Array[]> {
  await using watch = await state.watchKind(Int, { bootstrapBookmark: true });
  for await (const { bookmark } of watch) return bookmark === undefined ? [] : [bookmark];
  return [];
}

describe("decoders", () => {
  test(
    `meet ${RUNS} damaged inputs (seed ${SEED}), and decode or refuse each`,
    async () => {
      const random = randomOf(SEED);
      await using state = new MemoryState({ types: [Int] });
      const all = await targets(state);
      const raffle = all.flatMap((target) => Array.from({ length: target.weight }, () => target));
      const decoded = new Map<string, number>();
      const refused = new Map<string, number>();
      const before = process.memoryUsage().heapUsed;
      for (let run = 0; run < RUNS; run++) {
        const target = raffle[random(raffle.length)];
        if (target === undefined) throw new Error("there is nothing to decode");
        const bytes = mutated(target.corpus, random);
        try {
          const result = target.decode(bytes);
          if (result instanceof Promise) await result;
          decoded.set(target.name, (decoded.get(target.name) ?? 0) + 1);
        } catch (error) {
          if (!target.isMeant(error)) {
            throw new Error(`${target.name}: run ${run} of seed ${SEED}: ${Buffer.from(bytes).toString("hex")}`, {
              cause: error,
            });
          }
          refused.set(target.name, (refused.get(target.name) ?? 0) + 1);
        }
      }
      // A target that refuses everything, or takes everything, was not looked into.
      for (const { name, isMeant } of all) {
        expect(decoded.get(name) ?? 0, `${name}: decoded`).toBeGreaterThan(0);
        const refuses = isMeant(new StateError("invalid", "x"));
        expect((refused.get(name) ?? 0) > 0, `${name}: refused`).toBe(refuses);
      }
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(MAX_LEFT_BYTES);
    },
    TIMEOUT_MS,
  );
});
