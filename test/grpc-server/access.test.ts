import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { accessDenied, server, type CallAccess, type Caller } from "../../src/grpc/index.ts";
import { GrpcError, Status, type ServerTls } from "../../src/rpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import { createResource, StateError } from "../../src/resource/index.ts";
import { eventually } from "../../src/testing/index.ts";
import {
  authority,
  clientCertificate,
  clientKey,
  serverCertificate,
  serverKey,
} from "../grpc-transport/certificates.ts";
import { eventsOf, failureOf, Peer, reasonOf, Served, TemporaryFolder } from "./fixture.ts";

const kind = { namespace: "default", type: "os/path" };
const resource = (id: string, more: Record<string, unknown> = {}) => ({
  metadata: { ...kind, id, version: "undefined", phase: "running", ...more },
  spec: {},
});

describe("an access rule", () => {
  test("is asked for each operation, with its address, verb, query and resource", async () => {
    const asked: Partial<CallAccess>[] = [];
    const callers = new Set<Caller["token"]>();
    await using peer = await Served.start(new MemoryState(), {
      access: (access, { token }) => {
        asked.push(access);
        callers.add(token);
      },
    });
    const labelQuery = [{ terms: [{ key: "tier", op: 1 as const, value: ["front"] }] }];
    await peer.create({ resource: resource("a", { labels: { tier: "front" } }) });
    await peer.get({ ...kind, id: "a" });
    await peer.list({ ...kind, options: { labelQuery, idQuery: { regexp: "a" } } });
    await peer.update({ newResource: resource("a", { version: "1" }) });
    await using whole = peer.watch({ ...kind, options: { labelQuery } });
    await whole.next();
    await using single = peer.watch({ ...kind, id: "a" });
    await single.next();
    await peer.teardown({ ...kind, id: "a" });
    await peer.destroy({ ...kind, id: "a" });
    await peer.create({ resource: resource("a") });
    await peer.teardownAndDestroy({ ...kind, id: "a" });

    expect(asked.map(({ verb, id }) => [verb, id])).toEqual([
      ["create", "a"],
      ["get", "a"],
      ["list", ""],
      ["update", "a"],
      ["watch", ""],
      ["watch", "a"],
      ["destroy", "a"],
      ["destroy", "a"],
      ["create", "a"],
      ["destroy", "a"],
    ]);
    for (const { namespace, type } of asked) expect({ namespace, type }).toEqual(kind);
    expect(asked[0]?.resource?.metadata.labels["tier"]).toBe("front");
    expect(asked[2]?.query).toMatchObject({ labels: [[{ key: "tier", values: ["front"] }]], ids: "a" });
    expect(asked[3]?.resource?.metadata.version).toBe("2");
    expect(asked[3]?.stored?.metadata).toMatchObject({ version: "1", labels: { tier: "front" } });
    expect(asked[4]?.query?.labels).toHaveLength(1);
    expect([...callers]).toEqual([undefined]);
  });

  test("that denies keeps the operation from the State, and clients from thinking of a conflict", async () => {
    const state = new MemoryState();
    await using peer = await Served.start(state, {
      access: ({ verb, namespace }) => {
        if (namespace === "broken") throw new Error("the rule failed");
        if (namespace === "odd") throw new StateError("unsupported", "not here");
        if (namespace === "plain") throw new GrpcError(Status.permissionDenied, "no");
        throw accessDenied(`nobody may ${verb}`);
      },
    });
    const pointer = { ...kind, id: "a" };
    const calls = [
      peer.get(pointer),
      peer.list(kind),
      peer.create({ resource: resource("a") }),
      peer.update({ newResource: resource("a") }),
      peer.destroy(pointer),
      peer.teardown(pointer),
      peer.teardownAndDestroy(pointer),
      peer.watch(kind).bytes(),
      peer.watch(pointer).bytes(),
    ];
    for (const call of calls) {
      const error = await failureOf(call);
      expect([error.code, reasonOf(error).reason]).toEqual([Status.permissionDenied, "ACCESS_DENIED"]);
    }
    expect(peer.server.watchCount).toBe(0);
    const plain = await failureOf(peer.create({ resource: resource("a", { namespace: "plain" }) }));
    expect([plain.code, reasonOf(plain).reason]).toEqual([Status.permissionDenied, "ACCESS_DENIED"]);
    const broken = await failureOf(peer.get({ ...pointer, namespace: "broken" }));
    expect([broken.code, broken.message]).toEqual([Status.unknown, "the rule failed"]);
    const odd = await failureOf(peer.list({ ...kind, namespace: "odd" }));
    expect([odd.code, reasonOf(odd).reason]).toEqual([Status.unimplemented, "UNSUPPORTED"]);
    expect(await state.list(kind)).toHaveLength(0);
  });

  test("sees the owner that a write claims, and the resource as it will be stored", async () => {
    const asked: CallAccess[] = [];
    const state = new MemoryState();
    await using peer = await Served.start(state, { access: (access) => void asked.push(access) });
    const long = { seconds: 1n, nanos: 0 };
    const lies = { version: "77", created: long, updated: long };
    await peer.create({ resource: resource("a", lies), options: { owner: "ann" } });
    const stored = await state.get({ ...kind, id: "a" });
    await peer.update({
      newResource: resource("a", { ...lies, version: "1", owner: "bob" }),
      options: { owner: "ann" },
    });
    await failureOf(peer.update({ newResource: resource("b", lies), options: { owner: "eve" } }));
    await failureOf(peer.destroy({ ...kind, id: "a", options: { owner: "eve" } }));
    await failureOf(peer.teardown({ ...kind, id: "a", options: { owner: "eve" } }));
    await failureOf(peer.teardownAndDestroy({ ...kind, id: "a", options: { owner: "eve" } }));

    const [created, updated, missing, ...rest] = asked;
    expect(created?.owner).toBe("ann");
    const epoch = stored.metadata.created.slice(0, 10);
    expect(created?.resource?.metadata).toMatchObject({ owner: "ann", version: "1", phase: "running" });
    expect(created?.resource?.metadata.created.slice(0, 10)).toBe(epoch);
    expect(updated?.owner).toBe("ann");
    expect(updated?.resource?.metadata).toMatchObject({
      owner: "bob",
      version: "2",
      created: stored.metadata.created,
    });
    expect(updated?.resource?.metadata.updated.slice(0, 10)).toBe(epoch);
    expect(updated?.stored).toEqual(stored);
    expect([missing?.owner, missing?.stored]).toEqual(["eve", undefined]);
    expect(rest.map(({ verb, owner }) => [verb, owner])).toEqual(Array.from({ length: 3 }, () => ["destroy", "eve"]));
  });

  test("may take its time, and lets who may only destroy tear down as well [transport X22]", async () => {
    const state = new MemoryState();
    await using peer = await Served.start(state, {
      access: async ({ verb }) => {
        await Promise.resolve();
        if (verb !== "destroy") throw accessDenied(`nobody may ${verb}`);
      },
    });
    await state.create(createResource({ ...kind, id: "a", finalizers: ["held"] }, {}));
    expect(await peer.teardown({ ...kind, id: "a" })).toMatchObject({ destroyReady: false });
    const gone = peer.teardownAndDestroy({ ...kind, id: "a" });
    await state.removeFinalizer({ ...kind, id: "a" }, "held");
    await gone;
    expect((await failureOf(peer.get({ ...kind, id: "a" }))).code).toBe(Status.permissionDenied);
    expect(await state.list(kind)).toHaveLength(0);
  });
});

describe("bearer tokens", () => {
  test("are needed by every call, and name the caller to the rule", async () => {
    const names: (string | undefined)[] = [];
    await using folder = await TemporaryFolder.make();
    await using served = server(new MemoryState(), {
      tokens: [{ token: "s3cret-of-ann", name: "ann" }, "another"],
      access: (_, { token }) => void names.push(token),
    });
    const { address } = await served.listen(`unix:${join(folder.path, "s")}`);
    const list = async (authorization?: string) => {
      await using peer = new Peer(address, authorization === undefined ? {} : { metadata: { authorization } });
      return await peer.list(kind);
    };
    for (const wrong of [
      undefined,
      "",
      "s3cret-of-ann",
      "Basic s3cret-of-ann",
      "Bearer",
      "Bearer s3cret-of-an",
      "Bearer s3cret-of-ann2",
      "Bearer another, x",
    ]) {
      const error = await failureOf(list(wrong));
      expect(error.code).toBe(Status.unauthenticated);
      expect(error.message).not.toContain("s3cret");
    }
    await list("Bearer s3cret-of-ann");
    await list("bearer another");
    expect(names).toEqual(["ann", ""]);
    await using stranger = new Peer(address);
    expect((await failureOf(stranger.watch(kind).bytes())).code).toBe(Status.unauthenticated);
  });

  test.each([[[]], [[""]], [["two words"]], [["ünicode"]]])("%j are none", (tokens) => {
    expect(() => server(new MemoryState(), { tokens })).toThrow(TypeError);
  });
});

describe("TLS", () => {
  const tls: ServerTls = { cert: serverCertificate, key: serverKey, ca: authority };

  test("with certificates of clients tells the rule whose call it is; unix sockets go without", async () => {
    await using folder = await TemporaryFolder.make();
    const callers: (string | undefined)[] = [];
    await using served = server(new MemoryState(), {
      tls,
      access: (_, { peer }) => void callers.push([peer.kind, String(peer.certificate?.subject.CN)].join(" ")),
    });
    const { address } = await served.listen("tcp:127.0.0.1:0");
    expect(address).toMatch(/^tcp:\/\/127\.0\.0\.1:[1-9]\d+$/);
    await using alice = new Peer(address, { tls: { ca: authority, cert: clientCertificate, key: clientKey } });
    await alice.list(kind);
    await using nobody = new Peer(address, { tls: { ca: authority } });
    expect((await failureOf(nobody.list(kind))).code).toBe(Status.unavailable);
    const unix = await served.listen(`unix:${join(folder.path, "s")}`);
    await using local = new Peer(unix.address);
    await local.list(kind);
    expect(callers).toEqual(["tcp alice", "unix undefined"]);
  });

  test("is what others than this machine need, unless the network is said to be trusted", async () => {
    await using closed = server(new MemoryState());
    await expect(closed.listen("tcp:0.0.0.0:0")).rejects.toThrow(/without TLS/);
    await using open = server(new MemoryState(), { allowInsecurePublic: true });
    const { address } = await open.listen("tcp:0.0.0.0:0");
    await using peer = new Peer(address.replace("0.0.0.0", "127.0.0.1"));
    expect(await peer.list(kind)).toEqual([]);
    await expect(closed.listen("somewhere")).rejects.toThrow(TypeError);
  });

  test("a unix socket is this user's alone, and is removed at the end", async () => {
    await using folder = await TemporaryFolder.make();
    const served = server(new MemoryState());
    await served.listen(`unix:${join(folder.path, "s")}`);
    expect(await readdir(folder.path)).toContain("s");
    await served.close();
    expect(await readdir(folder.path)).toEqual([]);
  });
});

describe("a connection is bounded in", () => {
  test("its watches; another connection has its own", async () => {
    await using peer = await Served.start(new MemoryState(), { maxWatchesPerConnection: 2 });
    await using first = peer.watch(kind);
    await using second = peer.watch({ ...kind, id: "a" });
    await Promise.all([first.next(), second.next()]);
    const error = await failureOf(peer.watch(kind).bytes());
    expect([error.code, error.message]).toEqual([
      Status.resourceExhausted,
      "this connection has 2 watches, and may not have more",
    ]);
    await using other = new Peer(peer.address);
    await using third = other.watch(kind);
    await third.next();
    first.stream.cancel();
    await eventually(() => expect(peer.server.watchCount).toBe(2));
    await using fourth = peer.watch(kind);
    await fourth.next();
  });

  test("watches that are refused count no more than those that end", async () => {
    await using peer = await Served.start(new MemoryState(), { maxWatchesPerConnection: 1 });
    const refused = { ...kind, options: { startFromBookmark: Uint8Array.of(1) } };
    for (let i = 0; i < 5; i++) {
      expect((await failureOf(peer.watch(refused).bytes())).code).toBe(Status.failedPrecondition);
    }
    await using watch = peer.watch(kind);
    await watch.next();
  });

  test("the size of its messages", async () => {
    await using peer = await Served.start(new MemoryState(), { maxMessageBytes: 1000 });
    const large = { ...resource("a"), spec: { yamlSpec: "x".repeat(2000) } };
    expect((await failureOf(peer.create({ resource: large }))).code).toBe(Status.resourceExhausted);
    await peer.create({ resource: resource("a") });
  });

  test("its calls at a time: a client waits with more", async () => {
    const state = new MemoryState();
    await using peer = await Served.start(state, { maxCallsPerConnection: 2 });
    // The client learns of the bound with the first answer.
    await peer.list(kind);
    await using first = peer.watch(kind);
    await using second = peer.watch(kind);
    await Promise.all([first.next(), second.next()]);
    const leave = new AbortController();
    const waiting = peer.create({ resource: resource("a") }, { signal: leave.signal });
    await state.create(createResource({ ...kind, id: "b" }, {}));
    await Promise.all([eventsOf(first, 1), eventsOf(second, 1)]);
    expect(peer.server.callCount).toBe(2);
    expect(await state.list(kind)).toHaveLength(1);
    leave.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  test("its calls per second", async () => {
    await using peer = await Served.start(new MemoryState(), { maxCallsPerSecond: 5 });
    const calls = Array.from({ length: 20 }, () => peer.list(kind));
    const outcomes = await Promise.allSettled(calls);
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThanOrEqual(10);
    for (const { reason } of refused as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ code: Status.resourceExhausted, message: /5 calls per second/ });
    }
  });

  test.each([
    "maxMessageBytes",
    "batchBytes",
    "batchEvents",
    "maxWatchesPerConnection",
    "maxCallsPerConnection",
    "maxCallsPerSecond",
    "maxConnections",
  ])("a bound that makes no sense is refused by its name: %s", (name) => {
    for (const value of [0, -1, NaN]) {
      expect(() => server(new MemoryState(), { [name]: value })).toThrow(RangeError);
    }
  });
});
