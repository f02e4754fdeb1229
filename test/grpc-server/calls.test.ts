import { describe, expect, test } from "vitest";
import type { Resource } from "../gen/cosi/resource/resource_pb.ts";
import { Status } from "../../src/rpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import { createResource, defineResource, OpaqueSpec, shape, StateError } from "../../src/resource/index.ts";
import { wrapState, type CoreState } from "../../src/state/index.ts";
import { eventually } from "../../src/testing/index.ts";
import { failureOf, reasonOf, Served } from "./fixture.ts";

const kind = { namespace: "default", type: "os/path" };
const metadata = (id: string, more: Record<string, unknown> = {}) => ({
  ...kind,
  id,
  version: "undefined",
  phase: "running",
  ...more,
});
const resource = (id: string, more: Record<string, unknown> = {}) => ({ metadata: metadata(id, more), spec: {} });

const specOf = (one: Resource | undefined) => [[...(one?.spec?.protoSpec ?? [])], one?.spec?.yamlSpec];
const idsOf = (resources: readonly Resource[]) => resources.map(({ metadata: { id } = { id: "" } }) => id);

describe("a served State", () => {
  test("creates, gets, lists, updates, tears down and destroys", async () => {
    await using peer = await Served.start(new MemoryState());
    const created = await peer.create({ resource: resource("a", { labels: { tier: "front" } }), options: {} });
    expect(created.resource?.metadata).toMatchObject({ id: "a", version: "1", owner: "", phase: "running" });
    expect(created.resource?.spec).toBeDefined();

    expect(await peer.get({ ...kind, id: "a" })).toEqual({ ...created, $typeName: "cosi.resource.GetResponse" });
    expect(await peer.list(kind)).toEqual([created.resource]);

    const changed = resource("a", { version: "1", annotations: { note: "changed" } });
    const updated = await peer.update({ newResource: changed, options: { expectedPhase: "running" } });
    expect(updated.resource?.metadata).toMatchObject({ version: "2", annotations: { note: "changed" }, labels: {} });
    expect(updated.resource?.metadata?.created).toEqual(created.resource?.metadata?.created);

    expect(await peer.teardown({ ...kind, id: "a" })).toMatchObject({ destroyReady: true });
    expect((await peer.get({ ...kind, id: "a" })).resource?.metadata?.phase).toBe("tearingDown");
    await peer.destroy({ ...kind, id: "a" });
    expect(await peer.list(kind)).toEqual([]);
  });

  test("gives its categories as statuses, with the details that tell them apart", async () => {
    await using peer = await Served.start(new MemoryState());
    await peer.create({ resource: resource("a", { finalizers: ["held"] }), options: { owner: "ann" } });
    const stored = { version: "1", owner: "ann", finalizers: ["held"] };
    const going = { version: "2", phase: "tearingDown", owner: "ann", finalizers: ["held"] };
    const pointer = { ...kind, id: "a" };
    const of = async (call: Promise<unknown>) => {
      const error = await failureOf(call);
      const details = reasonOf(error);
      return [error.code, details.reason, details.pointer["id"]];
    };

    expect(await of(peer.get({ ...kind, id: "b" }))).toEqual([Status.notFound, "NOT_FOUND", "b"]);
    expect(await of(peer.update({ newResource: resource("b", { version: "1" }) }))).toEqual([
      Status.notFound,
      "NOT_FOUND",
      "b",
    ]);
    expect(await of(peer.destroy({ ...kind, id: "b" }))).toEqual([Status.notFound, "NOT_FOUND", "b"]);
    expect(await of(peer.teardown({ ...kind, id: "b" }))).toEqual([Status.notFound, "NOT_FOUND", "b"]);
    expect(await of(peer.teardownAndDestroy({ ...kind, id: "b" }))).toEqual([Status.notFound, "NOT_FOUND", "b"]);

    expect(await of(peer.create({ resource: resource("a") }))).toEqual([Status.alreadyExists, "ALREADY_EXISTS", "a"]);
    expect(await of(peer.update({ newResource: resource("a", stored), options: { owner: "bob" } }))).toEqual([
      Status.permissionDenied,
      "OWNER_CONFLICT",
      "a",
    ]);
    expect(
      await of(peer.update({ newResource: resource("a", { ...stored, version: "7" }), options: { owner: "ann" } })),
    ).toEqual([Status.failedPrecondition, "VERSION_CONFLICT", "a"]);
    expect(await of(peer.destroy({ ...pointer, options: { owner: "bob" } }))).toEqual([
      Status.permissionDenied,
      "OWNER_CONFLICT",
      "a",
    ]);
    expect(await of(peer.teardown({ ...pointer, options: { owner: "bob" } }))).toEqual([
      Status.permissionDenied,
      "OWNER_CONFLICT",
      "a",
    ]);
    expect(await peer.teardown({ ...pointer, options: { owner: "ann" } })).toMatchObject({ destroyReady: false });
    expect(await of(peer.destroy({ ...pointer, options: { owner: "ann" } }))).toEqual([
      Status.failedPrecondition,
      "PENDING_FINALIZERS",
      "a",
    ]);
    const expectRunning = { owner: "ann", expectedPhase: "running" };
    expect(await of(peer.update({ newResource: resource("a", going), options: expectRunning }))).toEqual([
      Status.invalidArgument,
      "PHASE_CONFLICT",
      "a",
    ]);
  });

  test("accepts requests without options; an Update then expects no phase and no owner [transport X8]", async () => {
    await using peer = await Served.start(new MemoryState());
    await peer.create({ resource: resource("a", { phase: "tearingDown" }) });
    expect((await peer.get({ ...kind, id: "a" })).resource?.metadata?.phase).toBe("tearingDown");
    const back = await peer.update({ newResource: resource("a", { version: "1" }) });
    expect(back.resource?.metadata).toMatchObject({ version: "2", phase: "running" });
    expect(idsOf(await peer.list(kind))).toEqual(["a"]);
    await using single = peer.watch({ ...kind, id: "a" });
    expect((await single.next()).event).toEqual([]);
    await using whole = peer.watch(kind);
    expect((await whole.next()).event).toEqual([]);
    expect(await peer.teardown({ ...kind, id: "a" })).toMatchObject({ destroyReady: true });
    await peer.destroy({ ...kind, id: "a" });
    await peer.create({ resource: resource("a") });
    await peer.teardownAndDestroy({ ...kind, id: "a" });
    expect((await failureOf(peer.get({ ...kind, id: "a" }))).code).toBe(Status.notFound);
  });

  test("refuses what is no resource, with a status that no client takes for a conflict [transport X3]", async () => {
    await using peer = await Served.start(new MemoryState());
    await peer.create({ resource: resource("known") });
    const wrong = [
      { metadata: metadata("a") },
      { spec: {} },
      resource("a", { phase: "" }),
      resource("a", { version: "-1" }),
      resource("a", { version: "x" }),
      resource("a", { version: String(2n ** 63n) }),
      undefined,
    ];
    for (const one of wrong) {
      const creation = await failureOf(peer.create(one === undefined ? {} : { resource: one }));
      expect([creation.code, reasonOf(creation).reason]).toEqual([Status.invalidArgument, "INVALID"]);
      const update = await failureOf(peer.update(one === undefined ? {} : { newResource: one }));
      expect([update.code, reasonOf(update).reason]).toEqual([Status.unknown, "INVALID"]);
    }
    const phase = await failureOf(peer.update({ newResource: resource("known"), options: { expectedPhase: "gone" } }));
    expect([phase.code, reasonOf(phase).reason]).toEqual([Status.unknown, "INVALID"]);
    expect(idsOf(await peer.list(kind))).toEqual(["known"]);
  });

  test("never leaves the spec of a resource away, however empty it is [transport X4]", async () => {
    await using peer = await Served.start(new MemoryState());
    await peer.create({ resource: resource("a") });
    // Tag 0x12, length 0, at the very end of the resource, which is the whole message.
    const whole = await peer.channel.unary("/cosi.resource.State/Get", requestFor("a"));
    expect([...whole.subarray(-2)]).toEqual([0x12, 0]);
    await using watch = peer.watch({ ...kind, id: "absent" });
    await watch.next();
    const [event] = (await watch.next()).event;
    expect(event?.resource?.spec).toBeDefined();
  });

  const requestFor = (id: string): Uint8Array =>
    Buffer.concat([
      Buffer.from([0x0a, 7]),
      Buffer.from("default"),
      Buffer.from([0x12, 7]),
      Buffer.from("os/path"),
      Buffer.from([0x1a, id.length]),
      Buffer.from(id),
    ]);

  test("keeps a resource of an unknown type as it came, its order of ids that of bytes [transport X7]", async () => {
    await using peer = await Served.start(new MemoryState());
    const protoSpec = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const yamlSpec = "# a comment\nkey:   'odd spacing'\n";
    const ids = ["\u{1F600}", "\uFF5E", "z", "a"];
    for (const id of ids) {
      await peer.create({ resource: { metadata: metadata(id), spec: { protoSpec, yamlSpec } } });
    }
    expect(idsOf(await peer.list(kind))).toEqual(["a", "z", "\uFF5E", "\u{1F600}"]);

    await using watch = peer.watch({ ...kind, options: { bootstrapContents: true, aggregated: true }, apiVersion: 1 });
    await watch.next();
    const { event } = await watch.next();
    expect(event.map((one) => one.resource?.metadata?.id)).toEqual(["a", "z", "\uFF5E", "\u{1F600}", ""]);
    expect(specOf(event[0]?.resource)).toEqual([[...protoSpec], yamlSpec]);

    const { resource: stored } = await peer.get({ ...kind, id: "a" });
    if (stored?.metadata === undefined) throw new Error("there is no metadata");
    stored.metadata.labels = { seen: "yes" };
    const { resource: labelled } = await peer.update({ newResource: stored });
    expect(labelled?.metadata?.labels).toEqual({ seen: "yes" });
    expect(specOf(labelled)).toEqual([[...protoSpec], yamlSpec]);
  });

  test("judges queries as the evaluator does, and names what it does not know [transport X9]", async () => {
    await using peer = await Served.start(new MemoryState());
    await peer.create({ resource: resource("a", { labels: { tier: "front" } }) });
    await peer.create({ resource: resource("b") });
    const list = (op: number, more: { invert?: boolean; value?: string[] } = {}, regexp = "") =>
      peer.list({
        ...kind,
        options: { labelQuery: [{ terms: [{ key: "tier", op: op as 0, ...more }] }], idQuery: { regexp } },
      });
    const [EXISTS, EQUAL, NOT_EXISTS, LT, LT_NUMERIC] = [0, 1, 2, 4, 6];
    expect(idsOf(await list(EXISTS))).toEqual(["a"]);
    // Without a value it never holds; inverted it always does.
    expect(idsOf(await list(EQUAL))).toEqual([]);
    expect(idsOf(await list(EQUAL, { invert: true }))).toEqual(["a", "b"]);
    // A label that is not there cannot be compared, inverted or not.
    expect(idsOf(await list(LT, { invert: true }))).toEqual(["a"]);
    expect(idsOf(await list(LT_NUMERIC))).toEqual([]);
    expect(idsOf(await list(NOT_EXISTS))).toEqual(["b"]);
    expect(idsOf(await list(NOT_EXISTS, { invert: true }))).toEqual(["b"]);
    expect((await failureOf(list(99))).code).toBe(Status.unimplemented);
    const bad = await failureOf(list(EXISTS, {}, "a(b"));
    expect(bad.code).toBe(Status.invalidArgument);
    expect(bad.message).toContain("a(b");
    const watched = peer.watch({ ...kind, options: { idQuery: { regexp: "a(b" } } });
    expect((await failureOf(watched.next())).code).toBe(Status.invalidArgument);
  });

  test("tears down for many at once: all succeed [transport X21]", async () => {
    await using peer = await Served.start(new MemoryState());
    for (let round = 0; round < 20; round++) {
      await peer.create({ resource: resource(`r${round}`, { finalizers: ["held"] }) });
      const all = Array.from({ length: 10 }, () => peer.teardown({ ...kind, id: `r${round}` }));
      for (const { destroyReady } of await Promise.all(all)) expect(destroyReady).toBe(false);
    }
  });

  test("TeardownAndDestroy waits for the finalizers; a deadline ends the wait and leaves it tearing down", async () => {
    const state = new MemoryState();
    await using peer = await Served.start(state);
    await peer.create({ resource: resource("a", { finalizers: ["held"] }) });
    const late = await failureOf(peer.teardownAndDestroy({ ...kind, id: "a" }, { deadlineMs: 50 }));
    expect(late.code).toBe(Status.deadlineExceeded);
    expect((await peer.get({ ...kind, id: "a" })).resource?.metadata?.phase).toBe("tearingDown");
    const done = peer.teardownAndDestroy({ ...kind, id: "a" });
    await state.removeFinalizer({ ...kind, id: "a" }, "held");
    await done;
    expect(await peer.list(kind)).toEqual([]);
  });

  test("who lets go of a resource is answered before who waits for it", async () => {
    await using peer = await Served.start(new MemoryState());
    const order: string[] = [];
    for (let round = 0; round < 20; round++) {
      const id = `r${round}`;
      await peer.create({ resource: resource(id, { finalizers: ["held"] }) });
      const wait = peer.teardownAndDestroy({ ...kind, id }).then(() => order.push("wait"));
      await eventually(async () => {
        expect((await peer.get({ ...kind, id })).resource?.metadata?.phase).toBe("tearingDown");
      });
      const free = resource(id, { version: "2", phase: "tearingDown" });
      await Promise.all([peer.update({ newResource: free }).then(() => order.push("update")), wait]);
    }
    expect(order).toEqual(Array.from({ length: 20 }, () => ["update", "wait"]).flat());
  });

  test("decodes and checks specs of the types that it knows", async () => {
    const Port = defineResource({
      type: "Ports.example.dev",
      namespace: "default",
      spec: shape({ number: "integer" }),
    });
    const state = new MemoryState({ types: [Port] });
    await using peer = await Served.start(state, { types: [Port] });
    const port = (spec: unknown) => ({
      metadata: { ...metadata("http"), type: Port.type },
      spec: { protoSpec: new TextEncoder().encode(JSON.stringify(spec)) },
    });
    await peer.create({ resource: port({ number: 80 }) });
    expect((await state.get(Port, "http")).spec.number).toBe(80);
    expect((await peer.get({ namespace: "default", type: Port.type, id: "http" })).resource?.spec?.yamlSpec).toBe(
      "number: 80\n",
    );
    const wrong = await failureOf(peer.create({ resource: port({ number: "eighty" }) }));
    expect([wrong.code, reasonOf(wrong).reason]).toEqual([Status.invalidArgument, "INVALID"]);
    expect(wrong.message).toContain("number");
    const garbage = { ...port({}), spec: { protoSpec: Uint8Array.of(0xff, 0xfe) } };
    expect((await failureOf(peer.create({ resource: garbage }))).code).toBe(Status.invalidArgument);
  });

  test("renders YAML or leaves it, by type; opaque YAML travels in any case", async () => {
    const state = new MemoryState();
    await state.create(createResource({ ...kind, id: "plain" }, { value: 1 }));
    await state.create(createResource({ ...kind, type: "other", id: "plain" }, { value: 1 }));
    await state.create(createResource({ ...kind, id: "opaque" }, new OpaqueSpec({ yaml: "kept: true\n" })));
    await using peer = await Served.start(state, { yaml: (type) => type === "other" });
    const yamlOf = async (type: string, id: string) => (await peer.get({ ...kind, type, id })).resource?.spec?.yamlSpec;
    expect(await yamlOf("os/path", "plain")).toBe("");
    expect(await yamlOf("other", "plain")).toBe("value: 1\n");
    expect(await yamlOf("os/path", "opaque")).toBe("kept: true\n");
  });

  test("a long list comes whole and in order, through many pieces", async () => {
    const state = new MemoryState();
    const yaml = "x".repeat(100);
    const ids = Array.from({ length: 5000 }, (_, i) => `r${String(i).padStart(5, "0")}`);
    for (const id of ids) await state.create(createResource({ ...kind, id }, new OpaqueSpec({ yaml })));
    await using peer = await Served.start(state);
    const lists = await Promise.all([peer.list(kind), peer.list(kind), peer.list(kind)]);
    for (const list of lists) expect(idsOf(list)).toEqual(ids);
  });

  test("what cannot be encoded fails its call alone", async () => {
    const state = new MemoryState();
    await state.create(createResource({ ...kind, id: "half\uD800" }, {}));
    await state.create(createResource({ ...kind, id: "whole" }, {}));
    await using peer = await Served.start(state);
    const error = await failureOf(peer.list(kind));
    expect(reasonOf(error).reason).toBe("INVALID");
    expect((await peer.get({ ...kind, id: "whole" })).resource?.metadata?.id).toBe("whole");
  });

  test("errors of a store that no State knows are UNKNOWN with their text, and logged; the server goes on", async () => {
    const logged: unknown[] = [];
    const core: CoreState = new MemoryState();
    const failing = wrapState({
      ...delegate(core),
      get: () => Promise.reject(new Error("the disk is on fire")),
      list: () => Promise.reject(new StateError("unsupported", "no lists here")),
      destroy: () => {
        throw new TypeError("a bug");
      },
    });
    const logger = {
      debug() {},
      info() {},
      warn() {},
      error: (_: string, fields: unknown) => logged.push(fields),
      child: () => logger,
    };
    await using peer = await Served.start(failing, { logger });
    const error = await failureOf(peer.get({ ...kind, id: "a" }));
    expect([error.code, error.message]).toEqual([Status.unknown, "the disk is on fire"]);
    expect((await failureOf(peer.destroy({ ...kind, id: "a" }))).code).toBe(Status.unknown);
    expect(logged).toHaveLength(2);
    expect((await failureOf(peer.list(kind))).code).toBe(Status.unimplemented);
    expect(logged).toHaveLength(2);
    await peer.create({ resource: resource("a") });
  });

  const delegate = (core: CoreState): CoreState => ({
    get: (...args) => core.get(...args),
    list: (...args) => core.list(...args),
    create: (...args) => core.create(...args),
    update: (...args) => core.update(...args),
    destroy: (...args) => core.destroy(...args),
    watch: (...args) => core.watch(...args),
    watchKind: (...args) => core.watchKind(...args),
    watchKindBatches: (...args) => core.watchKindBatches(...args),
  });

  test("has no other service: no reflection", async () => {
    await using peer = await Served.start(new MemoryState());
    const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    expect((await failureOf(peer.channel.unary(path, new Uint8Array(0)))).code).toBe(Status.unimplemented);
  });

  test("bytes that are no message are refused", async () => {
    await using peer = await Served.start(new MemoryState());
    for (const method of ["Get", "Create", "Update", "Destroy", "Teardown", "TeardownAndDestroy"]) {
      const call = peer.channel.unary(`/cosi.resource.State/${method}`, Uint8Array.of(0x0a, 200));
      expect((await failureOf(call)).code).toBe(Status.internal);
    }
    for (const method of ["List", "Watch"]) {
      const stream = peer.channel.serverStream(`/cosi.resource.State/${method}`, Uint8Array.of(0x0a, 200));
      expect((await failureOf(stream.read())).code).toBe(Status.internal);
    }
  });
});
