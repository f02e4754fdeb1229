import { describe, expect, test } from "vitest";
import { accessDenied } from "../../src/grpc/index.ts";
import { GrpcError, isGrpcError, Status, GrpcServer } from "../../src/rpc/index.ts";
import { hasCode, StateError, withSpec } from "../../src/resource/index.ts";
import type { CoreState, State } from "../../src/state/index.ts";
import { InterceptedState } from "../../src/testing/index.ts";
import { SESSION_PATH } from "./raw-session.ts";
import { Int, SessionWorld } from "./session-world.ts";

/** Everything that a session can be asked, and every way in which it is refused, in one namespace. */
async function everyCall(state: State, namespace: string): Promise<readonly unknown[]> {
  const type = Int.in(namespace);
  const results: unknown[] = [];
  const note = async (name: string, call: () => Promise<unknown>): Promise<void> => {
    results.push([name, await call().then(comparable, comparableError)]);
  };
  await note("get nothing", () => state.get(type, "a"));
  await note("create", () => state.create(type.create("a", { value: 1 }), { owner: "me" }));
  await note("create again", () => state.create(type.create("a", { value: 2 })));
  await note("create for another owner", () =>
    state.create(type.create("b", { value: 1 }, { owner: "x" }), { owner: "y" }),
  );
  await note("get", () => state.get(type, "a"));
  const stored = await state.get(type, "a");
  await note("update", () => state.update(withSpec(stored, { value: 2 }), { owner: "me" }));
  await note("update what has changed", () => state.update(withSpec(stored, { value: 3 }), { owner: "me" }));
  await note("update another's", () => state.update(withSpec(stored, { value: 3 })));
  await note("update nothing", () => state.update(type.create("nothing", { value: 3 })));
  await state.addFinalizer(type.ref("a"), "f");
  await note("destroy held", () => state.destroy(type.ref("a"), { owner: "me" }));
  await note("destroy another's", () => state.destroy(type.ref("a")));
  await note("teardown", () => state.teardown(type.ref("a"), { owner: "me" }));
  const current = await state.get(type, "a");
  await note("update in another phase", () => state.update(withSpec(current, { value: 9 }), { owner: "me" }));
  await state.removeFinalizer(type.ref("a"), "f");
  await note("teardown ready", () => state.teardown(type.ref("a"), { owner: "me" }));
  await note("destroy", () => state.destroy(type.ref("a"), { owner: "me" }));
  await note("destroy nothing", () => state.destroy(type.ref("a")));
  return results;
}

function comparable(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("metadata" in value)) return value;
  return { ...value, metadata: { ...(value.metadata as object), namespace: "", created: "", updated: "" } };
}

function comparableError(error: unknown): unknown {
  if (!(error instanceof StateError)) throw error;
  const cause =
    error.cause instanceof GrpcError ? { code: error.cause.code, details: error.cause.details.length > 0 } : {};
  const message = error.message.replaceAll(/created at \S+|\b(streams|session)\b/g, "…");
  return { code: error.code, message, pointer: { ...error.pointer, namespace: "" }, cause };
}

describe("calls on one stream", () => {
  test("[transport Z1] have the responses and errors of calls on streams of their own", async () => {
    await using world = await SessionWorld.open();
    const onSession = await everyCall(await world.connectWithSession(), "session");
    const onStreams = await everyCall(world.connect({ session: false }), "streams");
    expect(onSession).toEqual(onStreams);
    expect(onSession.filter((one) => JSON.stringify(one).includes('"code"'))).not.toHaveLength(0);
  });

  test("[transport Z2] are never tried on a server that does not offer them", async () => {
    await using world = await SessionWorld.open({ sessions: false });
    const state = world.connect();
    for (let i = 0; i < 20; i++) await state.getOrNull(Int, "a");
    expect(world.serving.sessionCount).toBe(0);
    // Not even where the method is there: what counts is the header.
    let asked = 0;
    const handler = async (): Promise<void> => void asked++;
    const silent = new GrpcServer({
      methods: new Map([
        ["/cosi.resource.State/Get", { kind: "unary", handler: () => new Uint8Array(0) }],
        [SESSION_PATH, { kind: "duplex", handler }],
      ]),
    });
    const address = await silent.listen(`${world.address}-silent`);
    const { connect } = await import("../../src/grpc/index.ts");
    const other = connect(address, { types: [Int] });
    for (let i = 0; i < 20; i++) await other.getOrNull(Int, "a").catch(() => {});
    await other[Symbol.asyncDispose]();
    await silent.close();
    expect(asked).toBe(0);
  });

  test("[transport Z2] can be turned off by the client", async () => {
    await using world = await SessionWorld.open();
    const state = world.connect({ session: false });
    for (let i = 0; i < 20; i++) await state.getOrNull(Int, "a");
    expect(world.serving.sessionCount).toBe(0);
  });

  test("[transport Z3] a client that does not read its responses is not read either, and delays no one else", async () => {
    let started = 0;
    const count = (local: CoreState): CoreState =>
      new InterceptedState(local, { before: ({ target }) => void (target.id === "large" && started++) });
    await using world = await SessionWorld.open({}, count);
    await world.local.create(Int.create("large", { value: 1, pad: "x".repeat(1_000_000) }));
    const deaf = await world.raw();
    const calls = 60;
    for (let id = 1; id <= calls; id++) deaf.get(id, "large");
    const other = await world.connectWithSession();
    let before = -1;
    while (before !== started) {
      before = started;
      for (let i = 0; i < 50; i++) await other.getOrNull(Int, "small");
    }
    expect(started).toBeLessThan(30);
    const ids = await deaf.ids(calls);
    expect(ids).toEqual(Array.from({ length: calls }, (_, i) => String(i + 1)));
  });

  test("[transport Z1] may be far larger than any window, several at once", async () => {
    await using world = await SessionWorld.open();
    const state = await world.connectWithSession();
    const pad = "x".repeat(2_000_000);
    const created = Array.from({ length: 5 }, (_, i) => state.create(Int.create(`large-${i}`, { value: i, pad })));
    expect((await Promise.all(created)).map(({ spec }) => spec.pad?.length)).toEqual(created.map(() => pad.length));
    expect((await state.get(Int, "large-3")).spec.pad).toBe(pad);
  });

  test("[transport Z4] are cancelled alone, and end at their deadline; what comes after either is dropped", async () => {
    const release = Promise.withResolvers<void>();
    const aborted: unknown[] = [];
    const reached: string[] = [];
    const slow = (local: CoreState): CoreState =>
      new InterceptedState(local, {
        before: ({ target, options }) => {
          if (target.id?.startsWith("slow") !== true) return undefined;
          reached.push(target.id);
          options.signal?.addEventListener("abort", () => aborted.push(options.signal?.reason));
          return release.promise;
        },
      });
    await using world = await SessionWorld.open({}, slow);
    const state = await world.connectWithSession();
    const stop = new AbortController();
    const cancelled = state.get(Int, "slow-1", { signal: stop.signal });
    const other = state.get(Int, "slow-2");
    await expect.poll(() => reached).toEqual(["slow-1", "slow-2"]);
    stop.abort(new Error("enough"));
    await expect(cancelled).rejects.toThrow("enough");
    await expect.poll(() => aborted).toHaveLength(1);
    expect(aborted[0]).toMatchObject({ code: Status.cancelled });
    const raw = await world.raw();
    raw.get(1, "slow-3", 20);
    raw.get(2, "fast");
    expect(await raw.ids(2)).toEqual([`1: status ${Status.deadlineExceeded}`, `2: status ${Status.notFound}`]);
    raw.cancel(1);
    release.resolve();
    await expect(other).rejects.toSatisfy((error) => hasCode(error, "not_found"));
    raw.get(3, "fast");
    // Nothing more comes for 1.
    expect(await raw.ids(1)).toEqual([`3: status ${Status.notFound}`]);
    expect(world.serving.sessionCount).toBe(2);
  });

  test("[transport Z4] a client's own deadline ends the wait without the server", async () => {
    const never = (local: CoreState): CoreState =>
      new InterceptedState(local, {
        before: ({ target }) => (target.id === "slow" ? new Promise(() => {}) : undefined),
      });
    await using world = await SessionWorld.open({}, never);
    const state = await world.connectWithSession({ timeoutMs: 50 });
    await expect(state.get(Int, "slow")).rejects.toSatisfy((error) => isGrpcError(error, Status.deadlineExceeded));
  });

  test.each([
    ["bytes that are no message", Uint8Array.of(0xff, 0xff, 0xff)],
    ["no call", Uint8Array.of(0x08, 1)],
    ["no id", Uint8Array.of(0x22, 0)],
    ["an id of 2^53", Uint8Array.of(0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10, 0x22, 0)],
    ["two calls", Uint8Array.of(0x08, 1, 0x22, 0, 0x22, 0)],
    ["an id that was used before", Uint8Array.of(0x08, 5, 0x22, 0)],
    ["an id that is smaller than one before it", Uint8Array.of(0x08, 4, 0x22, 0)],
  ])("[transport Z5] %s ends the session, and nothing else", async (_, bytes) => {
    await using world = await SessionWorld.open();
    const other = await world.connectWithSession();
    const raw = await world.raw();
    raw.get(5, "a");
    expect(await raw.ids(1)).toEqual([`5: status ${Status.notFound}`]);
    raw.send(bytes);
    await expect(raw.next()).rejects.toMatchObject({ code: Status.invalidArgument });
    expect(await other.getOrNull(Int, "a")).toBeUndefined();
    expect(world.serving.sessionCount).toBe(1);
  });

  test("[transport Z5] the cancel of a call that is not known does nothing", async () => {
    await using world = await SessionWorld.open();
    const raw = await world.raw();
    raw.cancel(77);
    raw.get(1, "a");
    expect(await raw.ids(1)).toEqual([`1: status ${Status.notFound}`]);
  });

  test("[transport Z6] access is asked for each, and knows the caller", async () => {
    const asked: string[] = [];
    await using world = await SessionWorld.open({
      tokens: [{ token: "secret", name: "ann" }],
      access: ({ verb, id }, caller) => {
        asked.push(`${verb} ${id} by ${caller.token}`);
        if (id === "forbidden") throw accessDenied("not this one");
      },
    });
    const state = await world.connectWithSession({ token: "secret" });
    asked.length = 0;
    await state.getOrNull(Int, "allowed");
    await expect(state.get(Int, "forbidden")).rejects.toSatisfy((error) => isGrpcError(error, Status.permissionDenied));
    await state.getOrNull(Int, "allowed");
    expect(asked).toEqual(["get allowed by ann", "get forbidden by ann", "get allowed by ann"]);
    await expect(world.raw()).rejects.toMatchObject({ code: Status.unauthenticated });
  });

  test.each([
    ["shut down", "done"],
    ["cut", "unavailable"],
  ])("[transport Z7] of a thousand in flight each settles once when the server is %s", async (how, expected) => {
    const release = Promise.withResolvers<void>();
    const held = (local: CoreState): CoreState =>
      new InterceptedState(local, {
        before: ({ operation }) => (operation === "create" ? release.promise : undefined),
      });
    await using world = await SessionWorld.open({}, held);
    const state = await world.connectWithSession();
    let settled = 0;
    const calls = Array.from({ length: 1000 }, (_, i) =>
      state.create(Int.create(`r${i}`, { value: i })).finally(() => settled++),
    );
    const results = Promise.allSettled(calls);
    await state.getOrNull(Int, "behind them");
    const closing = world.serving.close({ graceMs: how === "cut" ? 0 : 600_000 });
    if (how === "shut down") release.resolve();
    const outcomes = (await results).map((one) =>
      one.status === "fulfilled" ? "done" : (one.reason as StateError).code,
    );
    release.resolve();
    await closing;
    expect(settled).toBe(1000);
    expect(new Set(outcomes)).toEqual(new Set([expected]));
  });
});
