import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type ConnectOptions } from "../src/grpc/index.ts";
import {
  hasCode,
  isInvalidBookmark,
  isNotFound,
  isTombstone,
  OpaqueSpec,
  sameMetadata,
  type Resource,
} from "../src/resource/index.ts";
import { type Event, type State, type Watch } from "../src/state/index.ts";
import {
  eventually,
  foldWatch,
  Int,
  PathResource,
  runtimeConformance,
  Sentence,
  stateConformance,
  Str,
  type RuntimeVariant,
} from "../src/testing/index.ts";
import { FaultProxy } from "../test/grpc-client/fault-proxy.ts";
import { GoServerProgram, hasGo, type GoServer } from "./go-program.ts";

const types = [Int, PathResource, Sentence, Str];
const Numbers = Int.in("numbers");
const VARIANTS: readonly RuntimeVariant[] = ["defaults", "rateLimited", "cached"];

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

/** The types in the next batch. */
async function batchOf(watch: Watch<readonly Event[]>): Promise<readonly string[]> {
  const { value, done } = await watch.next();
  if (done === true) throw new Error("the watch ended");
  return value.map(({ type }) => type);
}

describe.skipIf(!hasGo)("our client on the Go implementation's server [transport X20]", () => {
  let program: GoServerProgram;
  let shared: GoServer;
  beforeAll(async () => {
    program = await GoServerProgram.build();
    shared = await program.start();
  }, 120_000);
  afterAll(async () => {
    await shared[Symbol.asyncDispose]();
    await program[Symbol.asyncDispose]();
  });

  let suites = 0;

  describe("the State suite", () => {
    const namespaces = (): readonly string[] => {
      suites++;
      return ["default", "controller", "system"].map((name) => `${name}-${suites}`);
    };
    // It compares versions alone, and another life of the same version is the same to it.
    const reason = "the server in Go has no lives: it compares the version alone, in the same step as the write";
    const skip = {
      "an update that was made from an earlier life is a version conflict": reason,
      "a change of an earlier life starts over when it is written": reason,
      "a watch of a resource can go on from its first event, however quiet the resource and its kind":
        "Go's State in memory gives the first event of such a watch no bookmark",
      "a watch of a resource tells its position when asked, behind the present state and before what it replays":
        "Go's server knows bootstrapBookmark for watches of a kind alone; ours fails such a watch with unsupported",
    };
    stateConformance({ test }, { newState: () => connect(shared.address, { types }), namespaces, skip });
  });

  for (const variant of VARIANTS) {
    describe.concurrent(`the engine's suite, ${variant}`, () => {
      const newState = async (): Promise<State> => {
        const server = await program.start();
        const state = connect(server.address, { types });
        const dispose = state[Symbol.asyncDispose].bind(state);
        state[Symbol.asyncDispose] = async () => {
          await dispose();
          await server[Symbol.asyncDispose]();
        };
        return state;
      };
      runtimeConformance({ test }, { newState, variant });
    });
  }

  /** A server of its own, a path with faults, and two clients: one on the path, one beside it. */
  async function openWorld(options: ConnectOptions = {}) {
    const server = await program.start();
    const path = program.newPath();
    const proxy = await FaultProxy.open(path, server.path);
    const client = connect(`unix:${path}`, { types, watchRetry: { initialMs: 10, maxMs: 50 }, ...options });
    const behind = connect(server.address, { types });
    const dispose = async (): Promise<void> => {
      await client[Symbol.asyncDispose]();
      await behind[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    };
    return { server, proxy, client, behind, [Symbol.asyncDispose]: dispose };
  }

  test("without retries, a watch ends with one error when the server dies", async () => {
    await using world = await openWorld({ watchRetry: { disabled: true } });
    await using watch = await world.client.watchKindBatches(Numbers, { bootstrap: true });
    expect(await batchOf(watch)).toEqual(["Bootstrapped"]);
    await world.server[Symbol.asyncDispose]();
    expect(await batchOf(watch)).toEqual(["Errored"]);
    expect((await watch.next()).done).toBe(true);
  });

  test.each([
    { options: { bootstrap: true }, first: "Bootstrapped" },
    { options: { bootstrapBookmark: true }, first: "Noop" },
    { options: {}, first: undefined },
  ])("a watch that begins with $first goes on over another connection, once each", async ({ options, first }) => {
    await using world = await openWorld();
    const { proxy, behind, client } = world;
    const ref = PathResource.ref("var/run");
    await using watch = await client.watchKindBatches(PathResource, options);
    if (first === undefined) await behind.create(PathResource.create("first", {}));
    expect(await batchOf(watch)).toEqual([first ?? "Created"]);
    const behindItsBack = async (change: () => Promise<unknown>): Promise<void> => {
      proxy.swallows = true;
      await change();
      proxy.cut();
      proxy.swallows = false;
    };
    await behindItsBack(() => behind.create(PathResource.create("var/run", {})));
    expect(await batchOf(watch)).toEqual(["Created"]);
    await behindItsBack(() => behind.addFinalizer(ref, "keeper"));
    expect(await batchOf(watch)).toEqual(["Updated"]);
    await behind.removeFinalizer(ref, "keeper");
    expect(await batchOf(watch)).toEqual(["Updated"]);
    await behindItsBack(() => behind.destroy(ref));
    expect(await batchOf(watch)).toEqual(["Destroyed"]);
  });

  test("a watch of a server that was replaced begins anew, or fails when told to", async () => {
    await using world = await openWorld();
    const { client } = world;
    await client.create(Numbers.create("one", { value: 1 }));
    await using watch = await client.watchKindBatches(Numbers, { bootstrap: true });
    await using strict = await client.watchKindBatches(Numbers, { bootstrap: true, overrun: "error" });
    expect(await batchOf(watch)).toEqual(["Created", "Bootstrapped"]);
    expect(await batchOf(strict)).toEqual(["Created", "Bootstrapped"]);
    await world.server[Symbol.asyncDispose]();
    await using again = await program.startAt(world.server.path);
    const other = connect(again.address, { types });
    expect(await batchOf(watch)).toEqual(["Resynced"]);
    expect(await batchOf(watch)).toEqual(["Bootstrapped"]);
    const { value: [last] = [] } = await strict.next();
    expect(isInvalidBookmark(last?.error)).toBe(true);
    await other.create(Numbers.create("two", { value: 2 }));
    expect(await batchOf(watch)).toEqual(["Created"]);
    await other[Symbol.asyncDispose]();
  });

  test("cut at random during 2,000 writes, a watch loses and repeats nothing", async () => {
    await using world = await openWorld({ watchRetry: { initialMs: 1, maxMs: 5 } });
    const { proxy, behind, client } = world;
    await using watch = await client.watchKindBatches(Numbers, { bootstrap: true });
    const write = async (): Promise<void> => {
      for (let i = 0; i < 2_000; i++) {
        const id = `n${i % 37}`;
        if (i % 13 === 0) await behind.destroy(Numbers.ref(id)).catch(() => undefined);
        else await behind.modify(Numbers, id, () => ({ value: i }));
        if (i % 50 > 0) continue;
        await eventually(() => expect(proxy.openCount).toBe(1), { intervalMs: 1 });
        proxy.cutAfterBytes = 100 + ((i * 7919) % 2_000);
      }
      proxy.cutAfterBytes = Infinity;
      await behind.create(Numbers.create("end", { value: 0 }));
    };
    const [fold] = await Promise.all([
      foldWatch(watch, { until: ({ contents }) => contents.has("end"), timeoutMs: 25_000 }),
      write(),
    ]);
    const text = ({ metadata, spec }: Resource): string => `${metadata.id}@${metadata.version} ${JSON.stringify(spec)}`;
    const expected = (await behind.list(Numbers)).map(text);
    expect([...fold.contents.values()].map(text).toSorted()).toEqual(expected.toSorted());
    expect(fold.resyncs).toBe(0);
    expect(proxy.connectionCount).toBeGreaterThan(5);
  });

  test("pings that the server finds too frequent become less frequent; a watch survives them", async () => {
    let interruptions = 0;
    const onWatchInterrupted = (): void => void interruptions++;
    await using world = await openWorld({ keepaliveMs: 20, onWatchInterrupted });
    await using watch = await world.client.watchKindBatches(Numbers, { bootstrap: true });
    expect(await batchOf(watch)).toEqual(["Bootstrapped"]);
    const next = batchOf(watch);
    await eventually(() => expect(interruptions).toBe(2));
    await world.behind.create(Numbers.create("one", { value: 1 }));
    expect(await next).toEqual(["Created"]);
  });

  test("a bookmark with one bit changed is invalid", async () => {
    await using world = await openWorld();
    await using watch = await world.client.watchKindBatches(Numbers, { bootstrap: true });
    const { value: [event] = [] } = await watch.next();
    const bookmark = event?.bookmark ?? new Uint8Array();
    bookmark[0] = (bookmark[0] ?? 0) ^ 1;
    const refusal = await failureOf(world.client.watchKind(Numbers, { startFromBookmark: bookmark }));
    expect(isInvalidBookmark(refusal)).toBe(true);
  });

  test("teardown says whether something keeps the resource; with a destroy it waits for the finalizers", async () => {
    await using world = await openWorld();
    const { client, behind } = world;
    const { metadata } = await client.create(PathResource.create("var/run", {}));
    expect(await client.teardown(metadata)).toBe(true);
    expect((await behind.get(metadata)).metadata.phase).toBe("tearingDown");
    expect(await client.teardown(metadata)).toBe(true);
    const { metadata: kept } = await client.create(PathResource.create("var/lib", {}, { finalizers: ["keeper"] }));
    expect(await client.teardown(kept)).toBe(false);
    const ending = client.teardownAndDestroy(kept);
    await behind.removeFinalizer(kept, "keeper");
    await ending;
    expect(isNotFound(await failureOf(client.get(kept)))).toBe(true);
    expect(isNotFound(await failureOf(client.teardown(kept)))).toBe(true);
    expect(isNotFound(await failureOf(client.teardownAndDestroy(kept)))).toBe(true);
  });

  test("skipping decoding gives resources as they were sent, with equal metadata", async () => {
    await using world = await openWorld({ skipDecoding: true });
    const { client, behind } = world;
    const stored = await behind.create(Numbers.create("one", { value: 1 }, { labels: { tier: "front" } }));
    const kind = { namespace: Numbers.namespace, type: Numbers.type };
    await using watch = await client.watchKind(kind, { bootstrap: true });
    const [listed] = await client.list(kind);
    for (const seen of [await client.get({ ...kind, id: "one" }), listed, (await watch.next()).value?.resource]) {
      expect(seen?.spec).toBeInstanceOf(OpaqueSpec);
      expect(seen !== undefined && sameMetadata(seen.metadata, stored.metadata)).toBe(true);
      expect((seen?.spec as OpaqueSpec | undefined)?.yaml).toBe("value: 1\n");
    }
    await client.modify(await client.get({ ...kind, id: "one" }), (_spec, metadata) => {
      metadata.labels["seen"] = "yes";
    });
    const after = await behind.get(Numbers, "one");
    expect([after.spec, after.metadata.labels]).toEqual([{ value: 1 }, { tier: "front", seen: "yes" }]);
  });

  test("errors have their categories, though the server sends no details", async () => {
    await using world = await openWorld();
    const { client } = world;
    const stored = await client.create(Numbers.create("one", { value: 1 }), { owner: "me" });
    await client.addFinalizer(stored.metadata, "keeper");
    const codes = async (call: Promise<unknown>): Promise<unknown> => (await failureOf(call)) as { code?: unknown };
    expect(await codes(client.create(stored, { owner: "me" }))).toMatchObject({ code: "already_exists" });
    expect(await codes(client.update(stored, { owner: "me" }))).toMatchObject({ code: "version_conflict" });
    expect(await codes(client.update(stored, { owner: "you" }))).toMatchObject({ code: "owner_conflict" });
    expect(await codes(client.destroy(stored.metadata, { owner: "me" }))).toMatchObject({ code: "pending_finalizers" });
    await client.teardown(stored.metadata, { owner: "me" });
    const current = await client.get(stored.metadata);
    expect(await codes(client.update(current, { owner: "me" }))).toMatchObject({ code: "phase_conflict" });
    expect(isNotFound(await failureOf(client.get(Numbers, "none")))).toBe(true);
    await world.server[Symbol.asyncDispose]();
    expect(hasCode(await failureOf(client.list(Numbers)), "unavailable")).toBe(true);
  });

  test("a wait outlives the connection it began on", async () => {
    await using world = await openWorld();
    const begun = Promise.withResolvers<void>();
    const waiting = world.client.watchFor(Numbers, "one", {
      where: (resource) => {
        begun.resolve();
        return !isTombstone(resource);
      },
    });
    await begun.promise;
    world.proxy.cut();
    await world.behind.create(Numbers.create("one", { value: 1 }));
    expect((await waiting).spec).toEqual({ value: 1 });
  });
});
