import { createServer } from "node:net";
import { getEventListeners, once } from "node:events";
import { describe, expect, test } from "vitest";
import { connect, server } from "../../src/grpc/index.ts";
import { isGrpcError, Status, GrpcServer, type ServerMethod } from "../../src/rpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import { equal, hasCode, isNotFound, isTombstone, type Resource, type Tombstone } from "../../src/resource/index.ts";
import { EventType, type Event, type State, type Watch } from "../../src/state/index.ts";
import { eventually, foldWatch, Int, InterceptedState, Str, WatchReader } from "../../src/testing/index.ts";
import {
  authority,
  clientCertificate,
  clientKey,
  expiredClientCertificate,
  expiredClientKey,
  expiredServerCertificate,
  expiredServerKey,
  serverCertificate,
  serverKey,
} from "../grpc-transport/certificates.ts";
import { openDirectory, serverStream, unary } from "../grpc-transport/fixture.ts";
import { RemoteWorld, type WorldOptions } from "./remote-world.ts";

const Numbers = Int.in("numbers");
const Texts = Str.in("texts");
const history = { initialCapacity: 20_000, maxCapacity: 20_000, gap: 10 };
/** Who says nothing is found out within a second; who is only slow is not. */
const vigilant = { keepaliveMs: 200, keepaliveTimeoutMs: 600 } as const;

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

const isUnavailable = (error: unknown): boolean => hasCode(error, "unavailable");

/** Watches of all forms, each of which has had its first event. */
async function openWatches(client: State): Promise<readonly WatchReader[]> {
  const watches: (Watch<Event> | Watch<readonly Event[]>)[] = [
    await client.watchKind(Numbers, { bootstrap: true }),
    await client.watchKindBatches(Numbers, { bootstrapBookmark: true }),
    await client.watch(Numbers.ref("one")),
  ];
  const readers = watches.map((watch) => new WatchReader(watch));
  for (const reader of readers) await reader.next();
  return readers;
}

/** Every watch sees the resource come next; one that had no place yet may begin anew with it. */
async function expectCreated(readers: readonly WatchReader[], id: string): Promise<void> {
  for (const reader of readers) {
    const event = await reader.next();
    const change = event.type === EventType.resynced ? await reader.next() : event;
    expect([change.type, change.resource?.metadata.id]).toEqual(["Created", id]);
  }
}

/** Waits for the number "one" to be created; resolves when the wait has seen that it is not there yet. */
async function beginWait(client: State): Promise<{ readonly wait: Promise<Resource | Tombstone> }> {
  const begun = Promise.withResolvers<void>();
  const wait = client.watchFor(Numbers, "one", {
    where: (resource) => {
      begun.resolve();
      return !isTombstone(resource);
    },
  });
  await Promise.race([begun.promise, wait]);
  return { wait };
}

async function close(readers: readonly WatchReader[]): Promise<void> {
  for (const reader of readers) await reader[Symbol.asyncDispose]();
}

describe("a server that is killed and comes back", () => {
  test("fails calls that are under way, keeps watches and waits, and takes calls again", async () => {
    await using world = await RemoteWorld.open();
    const client = world.connect();
    const readers = await openWatches(client);
    const { metadata } = await client.create(Int.create("kept", { value: 1 }, { finalizers: ["keeper"] }));
    const { wait } = await beginWait(client);
    const ending = failureOf(client.teardownAndDestroy(metadata));
    await client.watchFor(metadata, { phases: ["tearingDown"] });
    await world.stop();
    expect(isUnavailable(await ending)).toBe(true);
    expect(isUnavailable(await failureOf(client.get(metadata)))).toBe(true);
    await world.start();
    await world.local.create(Numbers.create("one", { value: 1 }));
    await expectCreated(readers, "one");
    expect((await wait).spec).toEqual({ value: 1 });
    expect((await eventually(() => client.get(metadata))).metadata.phase).toBe("tearingDown");
    await close(readers);
  });

  test("while it is gone, calls fail at once instead of waiting for it", async () => {
    await using world = await RemoteWorld.open();
    const client = world.connect({ direct: true });
    await world.stop();
    expect(isUnavailable(await failureOf(client.list(Numbers)))).toBe(true);
    expect(isUnavailable(await failureOf(client.watchKind(Numbers)))).toBe(true);
    expect(isUnavailable(await failureOf(client.watchFor(Numbers, "one")))).toBe(true);
    expect(isUnavailable(await failureOf(client.create(Numbers.create("one", { value: 1 }))))).toBe(true);
  });
});

describe("a connection that swallows everything", () => {
  test("is found out: calls fail, watches and waits go on over another one and miss nothing", async () => {
    await using world = await RemoteWorld.open({ server: vigilant });
    const client = world.connect(vigilant);
    const readers = await openWatches(client);
    const { wait } = await beginWait(client);
    const { metadata: kept } = await client.create(Int.create("kept", { value: 1 }, { finalizers: ["keeper"] }));
    const ending = failureOf(client.teardownAndDestroy(kept));
    await client.watchFor(kept, { phases: ["tearingDown"] });
    await eventually(() => expect(world.server.watchCount).toBe(4));
    world.proxy.swallows = true;
    await world.local.create(Numbers.create("one", { value: 1 }));
    expect(isUnavailable(await failureOf(client.get(Numbers, "one")))).toBe(true);
    expect(isUnavailable(await ending)).toBe(true);
    // The server finds out as well, and lets go of what it held for the client.
    await eventually(() => expect(world.server.watchCount).toBe(0));
    world.proxy.swallows = false;
    world.proxy.cut();
    await expectCreated(readers, "one");
    await wait;
    await close(readers);
    await eventually(() => expect(world.server.watchCount).toBe(0));
  });

  test("cannot make a call outlast its own bound", async () => {
    await using world = await RemoteWorld.open();
    const client = world.connect({ timeoutMs: 50, keepaliveMs: Infinity });
    await client.list(Numbers);
    world.proxy.swallows = true;
    const failures = [
      client.get(Numbers, "one"),
      client.list(Numbers),
      client.create(Numbers.create("one", { value: 1 })),
      client.teardown(Numbers.ref("one")),
      client.watch(Numbers.ref("one")),
      client.watchKind(Numbers),
      client.watchKindBatches(Numbers),
      client.watchFor(Numbers, "one"),
    ].map(failureOf);
    for (const failure of failures) expect(isGrpcError(await failure, Status.deadlineExceeded)).toBe(true);
    const signal = AbortSignal.timeout(20);
    expect(await failureOf(client.teardownAndDestroy(Numbers.ref("one"), { signal }))).toBe(signal.reason);
  });
});

describe("garbage from the server", () => {
  test("in the middle of a connection breaks it; watches go on over another one", async () => {
    await using world = await RemoteWorld.open();
    const client = world.connect();
    const readers = await openWatches(client);
    const { wait } = await beginWait(client);
    await eventually(() => expect(world.server.watchCount).toBe(4));
    world.proxy.inject(Buffer.from("this is no frame of HTTP/2, and nothing else that anyone can read"));
    await world.local.create(Numbers.create("one", { value: 1 }));
    await expectCreated(readers, "one");
    expect((await wait).spec).toEqual({ value: 1 });
    expect((await eventually(() => client.get(Numbers, "one"))).spec.value).toBe(1);
    await close(readers);
  });

  test("from its first byte on makes calls fail", async () => {
    await using directory = await openDirectory();
    const babbler = createServer((socket) => {
      socket.on("error", () => {});
      socket.write("SSH-2.0-OpenSSH_9.9\r\n");
      socket.on("data", () => socket.write("what?"));
    });
    babbler.listen(directory.path("s"));
    await once(babbler, "listening");
    const client = connect(`unix:${directory.path("s")}`, { connectTimeoutMs: 2_000 });
    const calls = [
      client.get(Numbers, "one"),
      client.watch(Numbers.ref("one")),
      client.watchKind(Numbers),
      client.watchKindBatches(Numbers),
      client.watchFor(Numbers, "one"),
    ].map(failureOf);
    for (const call of calls) expect(isUnavailable(await call)).toBe(true);
    await client[Symbol.asyncDispose]();
    babbler.close();
    await once(babbler, "close");
  });

  test("as answers from something that is no State says so", async () => {
    await using directory = await openDirectory();
    const noise = Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f);
    const babbler = new GrpcServer({
      methods: new Map<string, ServerMethod>([
        ["/cosi.resource.State/Get", unary(() => noise)],
        ["/cosi.resource.State/Watch", serverStream((call) => void (call.send(noise), call.send(noise)))],
      ]),
    });
    const address = await babbler.listen(`unix:${directory.path("s")}`);
    const client = connect(address);
    expect(isGrpcError(await failureOf(client.get(Numbers, "one")), Status.internal)).toBe(true);
    expect(isGrpcError(await failureOf(client.list(Numbers)), Status.unimplemented)).toBe(true);
    const watch = await client.watchKind(Numbers);
    expect((await watch.next()).value).toMatchObject({ type: "Errored" });
    await client[Symbol.asyncDispose]();
    await babbler.close({ graceMs: 0 });
  });
});

describe("messages over the limit", () => {
  test("end a call, a list, a wait and a watch with RESOURCE_EXHAUSTED, and the watch does not ask for it again and again", async () => {
    await using world = await RemoteWorld.open({ server: { yaml: false } });
    const client = world.connect({ maxMessageBytes: 2_000 });
    const readers = [
      new WatchReader(await client.watchKind(Texts, { bootstrap: true })),
      new WatchReader(await client.watchKindBatches(Texts)),
    ];
    await world.local.create(Texts.create("small", { value: "x" }));
    for (const reader of readers) await reader.takeUntil(({ resource }) => resource?.metadata.id === "small");
    const wait = failureOf(client.watchFor(Texts, "large", { events: [EventType.created] }));
    await eventually(() => expect(world.server.watchCount).toBe(3));
    await world.local.create(Texts.create("large", { value: "x".repeat(5_000) }));
    expect(isGrpcError(await wait, Status.resourceExhausted)).toBe(true);
    for (const reader of readers) {
      const { type, error } = await reader.next();
      expect(type).toBe("Errored");
      expect(isGrpcError(error, Status.resourceExhausted)).toBe(true);
    }
    for (const call of [client.get(Texts, "large"), client.list(Texts)].map(failureOf)) {
      expect(isGrpcError(await call, Status.resourceExhausted)).toBe(true);
    }
    expect((await client.get(Texts, "small")).spec.value).toBe("x");
    await close(readers);
  });

  test("are refused by the server as well; the connection carries on", async () => {
    await using world = await RemoteWorld.open({ server: { maxMessageBytes: 2_000 } });
    const client = world.connect();
    const readers = await openWatches(client);
    const refused = failureOf(client.create(Texts.create("large", { value: "x".repeat(5_000) })));
    expect(isGrpcError(await refused, Status.resourceExhausted)).toBe(true);
    await client.create(Numbers.create("one", { value: 1 }));
    await expectCreated(readers, "one");
    expect(world.proxy.connectionCount).toBe(1);
    await close(readers);
  });

  test("[transport X11] contents of 50 MiB come to a client that takes 4 MiB, in order, the end last", async () => {
    await using world = await RemoteWorld.open({ server: { yaml: false } });
    const value = "x".repeat(1024 * 1024);
    const ids = Array.from({ length: 50 }, (_, i) => `text-${String(i).padStart(2, "0")}`);
    for (const id of ids.toReversed()) await world.local.create(Texts.create(id, { value }));
    const client = world.connect({ maxMessageBytes: 4 * 1024 * 1024 });
    await using watch = await client.watchKindBatches(Texts, { bootstrap: true });
    const events: Event[] = [];
    let messages = 0;
    for await (const batch of watch) {
      messages++;
      events.push(...batch);
      if (batch.at(-1)?.type === EventType.bootstrapped) break;
    }
    expect(messages).toBeGreaterThan(10);
    expect(events.slice(0, -1).map(({ resource }) => resource?.metadata.id)).toEqual(ids);
  });
});

describe("a reader that does not read", () => {
  test("makes the server wait, and gets everything when it reads", async () => {
    await using world = await RemoteWorld.open({ history, server: { yaml: false } });
    const client = world.connect();
    const before = world.proxy.answeredBytes;
    await using plain = await client.watchKind(Texts);
    await using batches = await client.watchKindBatches(Texts);
    const value = "x".repeat(10_000);
    const count = 2_000;
    for (let i = 0; i < count; i++) await world.local.create(Texts.create(`text-${i}`, { value }));
    // Other calls and waits on the same connection are served meanwhile.
    expect((await client.get(Texts, "text-7")).metadata.id).toBe("text-7");
    const wait = client.watchFor(Texts, "text-8", { phases: ["tearingDown"] });
    expect(await client.teardown(Texts.ref("text-8"))).toBe(true);
    expect((await wait).metadata.id).toBe("text-8");
    await eventually(() => expect(world.proxy.answeredBytes - before).toBeGreaterThan(100_000));
    const limit = 10 * 1024 * 1024;
    expect(world.proxy.answeredBytes - before).toBeLessThan(limit);
    expect(2 * count * value.length).toBeGreaterThan(3 * limit);
    for (const watch of [plain, batches]) {
      const fold = await foldWatch(watch, { until: ({ contents }) => contents.size === count, timeoutMs: 20_000 });
      expect(fold.resyncs).toBe(0);
    }
  });

  test("[transport X12] and falls behind further than the history reaches gets one error, or the present contents", async () => {
    await using world = await RemoteWorld.open({ server: { yaml: false } });
    const client = world.connect();
    await using strict = await client.watchKindBatches(Texts, { bootstrap: true, overrun: "error" });
    await using patient = await client.watchKindBatches(Texts, { bootstrap: true });
    const value = "x".repeat(20_000);
    await client.create(Texts.create("text", { value }));
    for (let i = 0; i < 1_000; i++) await world.local.modify(Texts, "text", () => ({ value: `${i}${value}` }));
    const types: string[] = [];
    let error: Error | undefined;
    for await (const batch of strict) {
      types.push(...batch.map(({ type }) => type));
      error = batch.at(-1)?.error;
    }
    expect(types.filter((type) => type === "Errored")).toHaveLength(1);
    expect(types.at(-1)).toBe("Errored");
    expect(hasCode(error, "watch_overrun")).toBe(true);
    const last = ({ contents }: { readonly contents: ReadonlyMap<string, Resource> }): boolean =>
      String((contents.get("text")?.spec as { value: string } | undefined)?.value).startsWith("999x");
    const fold = await foldWatch(patient, { until: last, timeoutMs: 20_000 });
    expect(fold.resyncs).toBeGreaterThan(0);
  });
});

describe("connections that are cut at random, every few messages, during 10,000 writes", () => {
  const blue = { labels: [equal("color", "blue")] };

  function randomFrom(start: number): (below: number) => number {
    let seed = start;
    return (below) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 1;
      return seed % below;
    };
  }

  async function writeAndCut({ local, proxy }: RemoteWorld, random: (below: number) => number): Promise<void> {
    for (let i = 0; i < 10_000; i++) {
      const id = `n${random(50)}`;
      const color = random(3) === 0 ? "red" : "blue";
      if (random(10) === 0) await local.destroy(Numbers.ref(id)).catch(() => undefined);
      else {
        await local.modify(Numbers, id, (_spec, metadata) => {
          metadata.labels["color"] = color;
          return { value: i };
        });
      }
      if (i % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (i % 100 > 0) continue;
      // The watch is to be cut again and again, not once and for all.
      await eventually(() => expect(proxy.openCount).toBe(1), { intervalMs: 1 });
      proxy.cutAfterBytes = 100 + random(2_000);
    }
    proxy.cutAfterBytes = Infinity;
    await local.create(Numbers.create("end", { value: 0 }, { labels: { color: "blue" } }));
  }

  /** Follows the blue numbers to the end; returns the number of resyncs. */
  async function follow(form: "plain" | "batches", options: WorldOptions, seed: number): Promise<number> {
    await using world = await RemoteWorld.open({ ...options, server: { yaml: false } });
    const client = world.connect({ watchRetry: { initialMs: 1, maxMs: 5 } });
    const bootstrap = { bootstrap: true, ...blue };
    const watch = await (form === "plain"
      ? client.watchKind(Numbers, bootstrap)
      : client.watchKindBatches(Numbers, bootstrap));
    await foldWatch(watch);
    const [fold] = await Promise.all([
      foldWatch(watch, {
        until: ({ contents, complete, resyncs }) => contents.has("end") && (complete || resyncs === 0),
        timeoutMs: 25_000,
      }),
      writeAndCut(world, randomFrom(seed)),
    ]);
    const versions = (list: Iterable<Resource>): readonly string[] =>
      [...list].map(({ metadata }) => `${metadata.id}@${metadata.version}`).toSorted();
    expect(versions(fold.contents.values())).toEqual(versions(await world.local.list(Numbers, blue)));
    expect(world.proxy.connectionCount).toBeGreaterThan(20);
    await watch[Symbol.asyncDispose]();
    return fold.resyncs;
  }

  test.each(["plain", "batches"] as const)(
    "[transport X16] leave no gap and no repetition where the history is long enough, %s",
    async (form) => {
      expect(await follow(form, { history }, 42)).toBe(0);
    },
  );

  test.each(["plain", "batches"] as const)(
    "lead to the same contents where it is not: the watch begins anew, %s",
    async (form) => {
      const short = { initialCapacity: 20, maxCapacity: 20, gap: 1 };
      expect(await follow(form, { history: short }, 7)).toBeGreaterThan(0);
    },
  );
});

test("a slow path changes nothing but the time", async () => {
  await using world = await RemoteWorld.open();
  const client = world.connect();
  world.proxy.delayMs = 5;
  const readers = await openWatches(client);
  await client.create(Numbers.create("one", { value: 1 }));
  await expectCreated(readers, "one");
  await client.teardownAndDestroy(Numbers.ref("one"));
  expect(isNotFound(await failureOf(client.get(Numbers, "one")))).toBe(true);
  await close(readers);
});

test("10,000 watches and waits that were opened and cancelled leave nothing behind", async () => {
  await using world = await RemoteWorld.open();
  const core = new InterceptedState(world.local);
  await using directory = await openDirectory();
  await using serving = server(core);
  const address = `unix:${directory.path("s")}`;
  await serving.listen(address);
  await using client = connect(address, { types: [Int] });
  for (let round = 0; round < 10; round++) {
    const stop = new AbortController();
    const waits = Array.from({ length: 100 }, (_, i) =>
      failureOf(client.watchFor(Numbers, `n${i}`, { events: [EventType.created] }, { signal: stop.signal })),
    );
    const opening = Array.from({ length: 900 }, (_, i) => {
      if (i % 3 === 0) return client.watchKindBatches(Numbers);
      return i % 3 === 1 ? client.watchKind(Numbers) : client.watch(Numbers.ref(`n${i}`));
    });
    const watches = await Promise.all<AsyncDisposable>(opening);
    await eventually(() => expect(core.openWatches.length).toBeGreaterThanOrEqual(1_000));
    expect(await client.list(Numbers)).toHaveLength(0);
    stop.abort("enough");
    expect(new Set(await Promise.all(waits))).toEqual(new Set(["enough"]));
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
    await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()));
  }
  await eventually(() => expect([core.openWatches.length, serving.watchCount, serving.callCount]).toEqual([0, 0, 0]));
  expect(serving.connectionCount).toBe(1);
});

describe("certificates", () => {
  test.each([
    ["of the server that has expired", { cert: expiredServerCertificate, key: expiredServerKey }, {}],
    [
      "of the client that has expired",
      { cert: serverCertificate, key: serverKey, ca: authority },
      { cert: expiredClientCertificate, key: expiredClientKey },
    ],
    ["that the server wants and the client has not", { cert: serverCertificate, key: serverKey, ca: authority }, {}],
  ])("%s end every call, none hangs", async (_what, serverTls, clientTls) => {
    await using local = new MemoryState({ types: [Int] });
    await using serving = server(local, { tls: serverTls });
    const { address } = await serving.listen("tcp:127.0.0.1:0");
    await using client = connect(address, { tls: { ca: authority, ...clientTls } });
    const failures = [
      client.get(Numbers, "one"),
      client.list(Numbers),
      client.watchKind(Numbers),
      client.watchKindBatches(Numbers),
      client.watchFor(Numbers, "one"),
    ].map(failureOf);
    for (const failure of failures) expect(isUnavailable(await failure)).toBe(true);
    expect(serving.watchCount).toBe(0);
  });

  test("that both sides trust carry everything, tokens included", async () => {
    await using local = new MemoryState({ types: [Int] });
    const tls = { cert: serverCertificate, key: serverKey, ca: authority };
    await using serving = server(local, { tls, tokens: ["a-rather-long-secret-token"], types: [Int] });
    const { address } = await serving.listen("tcp:127.0.0.1:0");
    const mine = { ca: authority, cert: clientCertificate, key: clientKey };
    await using client = connect(address, { types: [Int], tls: mine, token: () => "a-rather-long-secret-token" });
    await client.create(Numbers.create("one", { value: 1 }));
    await using watch = await client.watchKind(Numbers, { bootstrap: true });
    expect((await watch.next()).value).toMatchObject({ resource: { spec: { value: 1 } } });
    await using stranger = connect(address, { tls: mine, token: "not-the-token-at-all-but-long" });
    expect(isGrpcError(await failureOf(stranger.list(Numbers)), Status.unauthenticated)).toBe(true);
    expect(isGrpcError(await failureOf(stranger.watchKind(Numbers)), Status.unauthenticated)).toBe(true);
    expect(() => connect("tcp:example.com:443", { token: "secret" })).toThrow(/a token is only sent over TLS/);
  });
});
