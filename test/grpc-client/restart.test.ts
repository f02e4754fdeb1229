import { describe, expect, test } from "vitest";
import {
  hasCode,
  isInvalidBookmark,
  patchMetadata,
  isNotFound,
  OpaqueSpec,
  sameMetadata,
  withSpec,
} from "../../src/resource/index.ts";
import { silentLogger } from "../../src/log/index.ts";
import { Runtime } from "../../src/runtime/index.ts";
import { connect, server } from "../../src/grpc/index.ts";
import { ResourceEncoder } from "../../src/protobuf/resource-encoder.ts";
import { GrpcServer } from "../../src/rpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import type { Event, State, Watch } from "../../src/state/index.ts";
import {
  assertResource,
  eventually,
  Int,
  intDoublerController,
  intToStrController,
  PathResource,
  Str,
} from "../../src/testing/index.ts";
import { openDirectory, unary } from "../grpc-transport/fixture.ts";
import { RemoteWorld } from "./remote-world.ts";

const Numbers = Int.in("numbers");

/** The types in the next batch. */
async function batchOf(watch: Watch<readonly Event[]>): Promise<readonly string[]> {
  const { value, done } = await watch.next();
  if (done === true) throw new Error("the watch ended");
  return value.map(({ type }) => type);
}

describe("a server that stops", () => {
  test("[state 161] [transport T2] ends a watch without retries by one error", async () => {
    await using world = await RemoteWorld.open();
    const client = world.connect({ watchRetry: { disabled: true } });
    await using watch = await client.watchKindBatches(Numbers, { bootstrap: true });
    expect(await batchOf(watch)).toEqual(["Bootstrapped"]);
    await world.stop();
    expect(await batchOf(watch)).toEqual(["Errored"]);
    expect((await watch.next()).done).toBe(true);
  });

  test.each([
    { options: { bootstrap: true }, first: "Bootstrapped" },
    { options: { bootstrapBookmark: true }, first: "Noop" },
  ])("[state 162] [transport T3] and starts again interrupts a watch that began with $first, no more", async (form) => {
    await using world = await RemoteWorld.open();
    const client = world.connect();
    const { local } = world;
    const ref = PathResource.ref("var/run");
    await using watch = await client.watchKindBatches(PathResource, form.options);
    expect(await batchOf(watch)).toEqual([form.first]);

    await world.stop();
    await local.create(PathResource.create("var/run", {}));
    await world.start();
    expect(await batchOf(watch)).toEqual(["Created"]);

    await world.stop();
    await local.addFinalizer(ref, "keeper");
    await world.start();
    expect(await batchOf(watch)).toEqual(["Updated"]);

    await client.removeFinalizer(ref, "keeper");
    expect(await batchOf(watch)).toEqual(["Updated"]);

    await world.stop();
    await local.destroy(ref);
    await world.start();
    expect(await batchOf(watch)).toEqual(["Destroyed"]);
    // nothing else comes, and nothing comes twice
    await client.create(PathResource.create("last", {}));
    expect(await batchOf(watch)).toEqual(["Created"]);
  });

  test("for good, and another in its place with another history: the watch begins anew", async () => {
    await using world = await RemoteWorld.open();
    await world.local.create(Numbers.create("one", { value: 1 }));
    const resumed: boolean[] = [];
    const client = world.connect({ onWatchResumed: ({ resynced }) => void resumed.push(resynced) });
    await using watch = await client.watchKindBatches(Numbers, { bootstrap: true });
    await using strict = await client.watchKindBatches(Numbers, { bootstrap: true, overrun: "error" });
    expect(await batchOf(watch)).toEqual(["Created", "Bootstrapped"]);
    expect(await batchOf(strict)).toEqual(["Created", "Bootstrapped"]);
    await world.stop();
    // more than the history holds
    for (let value = 2; value < 300; value++) {
      await world.local.modify(Numbers, "one", () => ({ value }));
    }
    await world.start();
    expect(await batchOf(watch)).toEqual(["Resynced"]);
    const { value: contents } = await watch.next();
    expect(contents).toMatchObject([{ type: "Created", resource: { spec: { value: 299 } } }, { type: "Bootstrapped" }]);
    const { value: [last] = [] } = await strict.next();
    expect(last?.type).toBe("Errored");
    expect(isInvalidBookmark(last?.error)).toBe(true);
    expect(resumed).toEqual([true]);
  });
});

test("[state 163] [transport T4] a bookmark with one bit changed is invalid; that of Bootstrapped is a real one", async () => {
  await using world = await RemoteWorld.open();
  const client = world.connect();
  await using watch = await client.watchKindBatches(Numbers, { bootstrap: true });
  const { value: [event] = [] } = await watch.next();
  const bookmark = event?.bookmark ?? new Uint8Array();
  expect(bookmark.length).toBeGreaterThan(0);
  await (await client.watchKindBatches(Numbers, { startFromBookmark: bookmark }))[Symbol.asyncDispose]();
  bookmark[0] = (bookmark[0] ?? 0) ^ 1;
  const refusal = await client
    .watchKindBatches(Numbers, { startFromBookmark: bookmark })
    .catch((error: unknown) => error);
  expect(isInvalidBookmark(refusal)).toBe(true);
});

describe("teardown over the wire", () => {
  test("[state 164] [transport T5] says whether something keeps the resource, however often it is asked for", async () => {
    await using world = await RemoteWorld.open();
    const client = world.connect();
    const { metadata } = await client.create(PathResource.create("var/run", {}));
    expect(await client.teardown(metadata)).toBe(true);
    expect((await world.local.get(metadata)).metadata.phase).toBe("tearingDown");
    expect(await client.teardown(metadata)).toBe(true);
    const kept = await client.create(PathResource.create("var/lib", {}, { finalizers: ["keeper"] }));
    expect(await client.teardown(kept.metadata)).toBe(false);
    await expect(client.teardown(PathResource.ref("none"))).rejects.toSatisfy(isNotFound);
  });

  test("[state 166] [transport T7] with a destroy waits for the finalizers", async () => {
    await using world = await RemoteWorld.open();
    const client = world.connect();
    const { metadata } = await client.create(PathResource.create("var/run", {}));
    await client.teardownAndDestroy(metadata);
    await expect(world.local.get(metadata)).rejects.toSatisfy(isNotFound);
    const { metadata: kept } = await client.create(PathResource.create("var/lib", {}, { finalizers: ["keeper"] }));
    let done = false;
    const ending = client.teardownAndDestroy(kept).then(() => (done = true));
    await client.watchFor(kept, { phases: ["tearingDown"] });
    expect(done).toBe(false);
    await client.removeFinalizer(kept, "keeper");
    await ending;
    await expect(world.local.get(kept)).rejects.toSatisfy(isNotFound);
    await expect(client.teardownAndDestroy(kept)).rejects.toSatisfy(isNotFound);
  });
});

test("[state 168] [transport T9] a client that skips decoding gets everything as it was sent, with equal metadata", async () => {
  await using world = await RemoteWorld.open();
  const typed = world.connect();
  const raw = world.connect({ skipDecoding: true });
  const stored = await typed.create(Numbers.create("one", { value: 1 }, { labels: { tier: "front" } }));
  const kind = { namespace: Numbers.namespace, type: Numbers.type };
  const ref = { ...kind, id: "one" };
  const [listed] = await raw.list(kind);
  await using one = await raw.watch(ref);
  await using all = await raw.watchKind(kind, { bootstrap: true });
  const seen = [await raw.get(ref), listed, (await one.next()).value?.resource, (await all.next()).value?.resource];
  for (const resource of seen) {
    expect(resource?.spec).toBeInstanceOf(OpaqueSpec);
    expect(resource !== undefined && sameMetadata(resource.metadata, stored.metadata)).toBe(true);
    expect((resource?.spec as OpaqueSpec | undefined)?.yaml).toBe("value: 1\n");
  }
  await using typedOne = await typed.watch(ref);
  await using typedAll = await typed.watchKind(kind, { bootstrap: true });
  const [typedListed] = await typed.list(kind);
  const watched = [(await typedOne.next()).value?.resource, (await typedAll.next()).value?.resource];
  for (const resource of [await typed.get(ref), typedListed, ...watched]) expect(resource?.spec).toEqual({ value: 1 });
});

/** Writes until it works: the connection may not be back yet. */
function createEventually(client: State, id: string, value: number): Promise<unknown> {
  const resource = Int.in("another").create(id, { value });
  return eventually(() =>
    client
      .create(resource)
      .catch((error: unknown) => (hasCode(error, "already_exists") ? undefined : Promise.reject(error))),
  );
}

test("[state 169] [transport T10] [engine T-18] controllers on a remote State survive a restart of the server", async () => {
  await using world = await RemoteWorld.open();
  const client = world.connect();
  const stopper = new AbortController();
  const runtime = new Runtime(client, { logger: silentLogger });
  let settled = false;
  const running = runtime.run({ signal: stopper.signal }).finally(() => (settled = true));
  await runtime.register(intToStrController("one", "default"));
  await runtime.register(intDoublerController("another", "default"));
  await client.create(Int.in("one").create("1", { value: 1 }));
  await client.create(Int.in("another").create("4", { value: 4 }));
  await assertResource(world.local, Str.in("default"), "1", ({ spec }) => expect(spec.value).toBe("1"));
  await assertResource(world.local, Int.in("default"), "4", ({ spec }) => expect(spec.value).toBe(8));

  await world.stop();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(settled).toBe(false);
  await world.start();
  await createEventually(client, "2", 2);
  await assertResource(world.local, Int.in("default"), "2", ({ spec }) => expect(spec.value).toBe(4));
  expect(settled).toBe(false);
  stopper.abort();
  await running;
});

test("a write that was read from elsewhere is refused as it is here", async () => {
  await using world = await RemoteWorld.open();
  const client = world.connect();
  const stored = await client.create(Numbers.create("one", { value: 1 }));
  await world.local.modify(Numbers, "one", () => ({ value: 2 }));
  await expect(client.update(withSpec(stored, { value: 3 }))).rejects.toMatchObject({
    code: "version_conflict",
    pointer: Numbers.ref("one"),
  });
});

test("what a server lacks is asked for again when another is in its place", async () => {
  await using directory = await openDirectory();
  const address = `unix:${directory.path("s")}`;
  const going = patchMetadata(Numbers.create("one", { value: 1 }), { version: "1", phase: "tearingDown" });
  const get = unary(() => new ResourceEncoder().encodeField(going));
  const old = new GrpcServer({ methods: new Map([["/cosi.resource.State/Get", get]]) });
  await old.listen(address);
  await using client = connect(address, { types: [Int] });
  expect(await client.teardown(going.metadata)).toBe(true);
  await old.close({ graceMs: 0 });

  await using local = new MemoryState();
  const verbs: string[] = [];
  await using serving = server(local, { access: ({ verb }) => void verbs.push(verb) });
  await serving.listen(address);
  await local.create(Numbers.create("one", { value: 1 }));
  expect(await eventually(() => client.teardown(going.metadata))).toBe(true);
  // The call for it is asked for as a destroy; composed, it would begin with a get.
  expect(verbs).toEqual(["destroy"]);
});
