import { describe, expect, test } from "vitest";
import { WatchRetry, resolveWatchRetry } from "../../src/grpc/client/watch/watch-retry.ts";
import { GrpcError, Status } from "../../src/rpc/index.ts";
import { equal, hasCode, isInvalidBookmark } from "../../src/resource/index.ts";
import type { Event, Watch } from "../../src/state/index.ts";
import { Int, RecordingLogger } from "../../src/testing/index.ts";
import { absent, bootstrapped, created, errored, int, noop, updated } from "./events.ts";
import { bookmarkAt, scriptedClient, type ScriptedClient, type ScriptedStream } from "./scripted-wire.ts";

const MINUTE_MS = 60_000;
const lost = new GrpcError(Status.failedPrecondition, "invalid watch bookmark");

/** The events that come next, by type; fails when the watch ends. */
async function typesOf(watch: Watch<Event>, count: number): Promise<readonly string[]> {
  const types: string[] = [];
  while (types.length < count) types.push((await nextOf(watch)).type);
  return types;
}

async function nextOf(watch: Watch<Event>): Promise<Event> {
  const { value, done } = await watch.next();
  if (done === true) throw new Error("the watch ended");
  return value;
}

/** A watch of all numbers that has seen its initial contents, which were none. */
async function openBootstrapped(client: ScriptedClient, overrun?: "resync" | "error") {
  client.wire.script.push((stream) => stream.begin().send(bootstrapped(1)));
  const watch = await client.state.watchKind(Int, { bootstrap: true, overrun });
  expect((await nextOf(watch)).type).toBe("Bootstrapped");
  return { watch, stream: client.wire.last };
}

/** Moves the clock until the next timer has run. */
async function untilRetry({ clock }: ScriptedClient): Promise<number> {
  await clock.settle();
  const waitMs = clock.nextInMs ?? Number.NaN;
  await clock.advance(waitMs);
  return waitMs;
}

const refuse = (stream: ScriptedStream): void => stream.fail(new GrpcError(Status.unavailable, "nobody is there"));

describe("a watch whose connection breaks", () => {
  test("[transport X14] is opened again after 500, 750, 1125 ms and so on up to 60 s, and fails after 15 min", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client);
    client.wire.onStream = refuse;
    stream.fail();
    const next = nextOf(watch);
    const waits: number[] = [];
    for (;;) {
      await client.clock.settle();
      if (client.clock.nextInMs === undefined) break;
      waits.push(await untilRetry(client));
    }
    expect(waits.slice(0, 4)).toEqual([500, 750, 1125, 1687.5]);
    expect(waits.slice(12)).toEqual(waits.slice(12).map(() => 60_000));
    const total = waits.reduce((sum, wait) => sum + wait, 0);
    expect(total).toBeLessThanOrEqual(15 * MINUTE_MS);
    expect(total).toBeGreaterThan(14 * MINUTE_MS);
    const event = await next;
    expect(event.type).toBe("Errored");
    expect(event.error).toMatchObject({ code: "unavailable" });
    expect(event.error?.message).toMatch(/test\/int in "default" failed: nobody is there/);
    expect(await watch.next()).toEqual({ done: true, value: undefined });
  });

  test("[transport X14] waits are spread by half to either side, and the options decide on all of it", () => {
    const waitsOf = (random: number, options = {}): number[] => {
      const retry = new WatchRetry(resolveWatchRetry(options), () => random);
      return Array.from({ length: 4 }, () => retry.next(0) ?? Number.NaN);
    };
    expect(waitsOf(0)).toEqual([250, 375, 562.5, 843.75]);
    expect(waitsOf(1)).toEqual([750, 1125, 1687.5, 2531.25]);
    expect(waitsOf(1, { initialMs: 10, multiplier: 3, jitter: 0, maxMs: 60 })).toEqual([10, 30, 60, 60]);
    expect(waitsOf(0, { giveUpAfterMs: 300 })[1]).toBeNaN();
    const never = new WatchRetry(resolveWatchRetry({ giveUpAfterMs: Infinity }), () => 0.5);
    expect(never.next(0)).toBe(500);
    expect(never.next(1e12)).toBe(750);
    expect(() => resolveWatchRetry({ multiplier: 0.5 })).toThrow(/watchRetry\.multiplier must be from 1 to 100/);
    expect(() => resolveWatchRetry({ jitter: 2 })).toThrow(RangeError);
  });

  test("[transport X13] is tried again for the whole time, however long it was open before", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client);
    await client.clock.advance(60 * MINUTE_MS);
    stream.fail();
    const next = nextOf(watch);
    client.wire.script.push((again) => again.begin().send(created(int("one", 1), 2)));
    expect(await untilRetry(client)).toBe(500);
    expect((await next).type).toBe("Created");
    // the outage before counts no more
    await client.clock.advance(14 * MINUTE_MS);
    client.wire.last.fail();
    const after = nextOf(watch);
    client.wire.script.push(refuse, refuse, (again) => again.begin().send(created(int("two", 2), 3)));
    expect([await untilRetry(client), await untilRetry(client), await untilRetry(client)]).toEqual([500, 750, 1125]);
    expect((await after).type).toBe("Created");
  });

  test("[transport X15] fails when its initial contents were not complete", async () => {
    const client = scriptedClient();
    client.wire.script.push((stream) => stream.begin().send(created(int("one", 1))));
    const watch = await client.state.watchKind(Int, { bootstrap: true });
    expect((await nextOf(watch)).type).toBe("Created");
    client.wire.last.fail();
    expect((await nextOf(watch)).type).toBe("Errored");
    expect(client.wire.streams).toHaveLength(1);
    expect(client.clock.pending).toBe(0);
  });

  test("takes no place from what comes in the middle of its initial contents", async () => {
    const client = scriptedClient();
    const stray = Uint8Array.of(0x0a, 0x07, 0x10, 99, 0x2a, 0x03, ...bookmarkAt(5));
    client.wire.script.push((stream) =>
      stream
        .begin()
        .send(created(int("one", 1)))
        .push(stray),
    );
    const watch = await client.state.watchKind(Int, { bootstrap: true });
    expect((await nextOf(watch)).type).toBe("Created");
    const next = nextOf(watch);
    await client.clock.settle();
    client.wire.last.fail();
    expect((await next).type).toBe("Errored");
    expect(client.wire.streams).toHaveLength(1);
  });

  test("keeps trying while its token cannot be had", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client);
    client.wire.script.push(() => {
      throw new Error("the file of the token is not there");
    });
    stream.fail();
    const next = nextOf(watch);
    expect(await untilRetry(client)).toBe(500);
    expect(await untilRetry(client)).toBe(750);
    client.wire.last.send(created(int("one", 1), 2));
    expect((await next).type).toBe("Created");
    await watch[Symbol.asyncDispose]();
  });

  test("goes on behind its last event, with its filters and in its form, and without asking for contents", async () => {
    const client = scriptedClient();
    client.wire.script.push((stream) => stream.begin().send(bootstrapped(1)));
    const query = { labels: [[equal("tier", "front")]], ids: "^web" };
    await using watch = await client.state.watchKindBatches(Int, {
      bootstrap: true,
      bootstrapBookmark: true,
      ...query,
    });
    expect((await watch.next()).value).toHaveLength(1);
    client.wire.last.send(created(int("web-1", 1), 2), created(int("web-2", 2), 3));
    expect((await watch.next()).value).toHaveLength(2);
    expect(client.wire.last.watch.options).toMatchObject({
      bootstrap: true,
      bootstrapBookmark: true,
      aggregated: true,
    });
    client.wire.last.fail();
    const next = watch.next();
    await untilRetry(client);
    const { options, query: asked, kind, apiVersion } = client.wire.last.watch;
    expect(options).toEqual({
      bootstrap: false,
      bootstrapBookmark: false,
      tailEvents: 0,
      startFromBookmark: bookmarkAt(3),
      aggregated: true,
    });
    expect(asked).toEqual(query);
    expect(kind).toEqual({ namespace: "default", type: "test/int" });
    expect(apiVersion).toBe(1);
    client.wire.last.send(created(int("web-3", 3), 4));
    expect((await next).value).toMatchObject([{ type: "Created" }]);
  });

  test("goes on behind the bookmark that it began with when nothing has come yet", async () => {
    const client = scriptedClient();
    await using watch = await client.state.watchKind(Int, { startFromBookmark: bookmarkAt(5) });
    const next = watch.next();
    client.wire.last.finish();
    await untilRetry(client);
    expect(client.wire.last.watch.options.startFromBookmark).toEqual(bookmarkAt(5));
    client.wire.last.send(created(int("one", 1), 6));
    expect((await next).value).toMatchObject({ type: "Created" });
  });

  test("has a place from the start, also when its reader asked for none", async () => {
    const client = scriptedClient();
    client.wire.script.push((stream) => stream.begin().send(noop(3)));
    await using watch = await client.state.watchKind(Int);
    const next = watch.next();
    await client.clock.settle();
    client.wire.last.fail();
    await untilRetry(client);
    expect(client.wire.last.watch.options.startFromBookmark).toEqual(bookmarkAt(3));
    client.wire.last.send(created(int("one", 1), 4));
    expect((await next).value).toMatchObject({ type: "Created" });
  });

  test("of a server that gives no place fails", async () => {
    const client = scriptedClient();
    const watch = await client.state.watchKind(Int);
    client.wire.last.fail();
    expect((await nextOf(watch)).type).toBe("Errored");
    expect(client.wire.streams).toHaveLength(1);
  });

  test("of one resource that has no place yet begins anew", async () => {
    const client = scriptedClient();
    client.wire.script.push((stream) => stream.begin().send(absent("one")));
    await using watch = await client.state.watch(Int, "one");
    expect(await typesOf(watch, 1)).toEqual(["Destroyed"]);
    client.wire.last.fail();
    client.wire.script.push((stream) => stream.begin().send(created(int("one", 1))));
    const next = typesOf(watch, 2);
    await untilRetry(client);
    expect(await next).toEqual(["Resynced", "Created"]);
    expect(client.wire.last.watch).toMatchObject({
      id: "one",
      options: { bootstrap: false, startFromBookmark: undefined },
    });
    client.wire.last.send(updated(int("one", 1), int("one", 2, 2), 9));
    expect(await typesOf(watch, 1)).toEqual(["Updated"]);
    client.wire.last.fail();
    void watch.next();
    await untilRetry(client);
    expect(client.wire.last.watch.options.startFromBookmark).toEqual(bookmarkAt(9));
  });

  test("[state 161] fails at once when retries are switched off", async () => {
    const client = scriptedClient({ watchRetry: { disabled: true } });
    const { watch, stream } = await openBootstrapped(client);
    stream.fail();
    expect((await nextOf(watch)).type).toBe("Errored");
    expect(client.wire.streams).toHaveLength(1);
  });

  test.each(["unauthenticated", "permissionDenied", "unimplemented", "invalidArgument"] as const)(
    "fails at the answer %s, to the stream or to an attempt",
    async (name) => {
      const denied = new GrpcError(Status[name], "no");
      const client = scriptedClient();
      const first = await openBootstrapped(client);
      first.stream.fail(denied);
      expect((await nextOf(first.watch)).type).toBe("Errored");
      const second = await openBootstrapped(client);
      client.wire.script.push((stream) => stream.fail(denied));
      second.stream.fail();
      const next = nextOf(second.watch);
      await untilRetry(client);
      const { type, error } = await next;
      expect(type).toBe("Errored");
      expect(error?.cause).toBe(denied);
      expect(client.clock.pending).toBe(0);
    },
  );

  test("a stream that breaks before it has proved itself goes on with the waits, one that held begins anew", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client);
    stream.fail();
    void watch.next();
    expect(await untilRetry(client)).toBe(500);
    client.wire.last.fail();
    expect(await untilRetry(client)).toBe(750);
    await client.clock.advance(750);
    client.wire.last.fail();
    expect(await untilRetry(client)).toBe(500);
    client.wire.last.send(created(int("one", 1), 2));
    await client.clock.settle();
    void watch.next();
    client.wire.last.fail();
    expect(await untilRetry(client)).toBe(500);
    await watch[Symbol.asyncDispose]();
  });

  test("tells when it is interrupted and when it goes on, once each, whatever the listeners do", async () => {
    const told: string[] = [];
    const logger = new RecordingLogger();
    const client = scriptedClient({
      logger,
      onWatchInterrupted: ({ kind, id, error }) => {
        told.push(`interrupted ${kind.type} ${id} ${error.message}`);
        throw new Error("a bad listener");
      },
      onWatchResumed: ({ kind, resynced }) => void told.push(`resumed ${kind.type} ${resynced}`),
    });
    const { watch, stream } = await openBootstrapped(client);
    client.wire.script.push(refuse);
    stream.fail();
    const next = nextOf(watch);
    await untilRetry(client);
    await untilRetry(client);
    client.wire.last.send(created(int("one", 1), 2));
    expect((await next).type).toBe("Created");
    expect(told).toEqual(["interrupted test/int undefined the connection broke", "resumed test/int false"]);
    const warnings = logger.lines.filter(({ level }) => level === "warn");
    expect(warnings.map(({ fields }) => fields?.["waitMs"])).toEqual([500, 750]);
    expect(logger.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    client.wire.last.fail();
    const after = nextOf(watch);
    await untilRetry(client);
    client.wire.last.send(created(int("two", 1), 3));
    expect((await after).type).toBe("Created");
    expect(told.slice(2)).toEqual(["interrupted test/int undefined the connection broke", "resumed test/int false"]);
    await watch[Symbol.asyncDispose]();
  });

  test("goes on soon after the connection is back, however long it was to wait", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client);
    client.wire.onStream = refuse;
    stream.fail();
    const next = watch.next();
    for (let attempt = 0; attempt < 15; attempt++) await untilRetry(client);
    const attempts = client.wire.streams.length;
    await client.clock.settle();
    expect(client.clock.nextInMs).toBe(60_000);
    client.wire.onStream = (again) => void again.begin().send(created(int("one", 1), 2));
    client.core.reconnected();
    await client.clock.settle();
    expect(client.wire.streams).toHaveLength(attempts);
    expect(await untilRetry(client)).toBe(250);
    expect((await next).value).toMatchObject({ type: "Created" });
    await watch[Symbol.asyncDispose]();
    expect(client.clock.pending).toBe(0);
  });

  test("is told to stop while it waits for the others to go first", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client);
    stream.fail();
    const next = watch.next();
    await client.clock.settle();
    client.core.reconnected();
    await client.clock.settle();
    expect(client.clock.nextInMs).toBe(250);
    await watch[Symbol.asyncDispose]();
    expect(await next).toEqual({ done: true, value: undefined });
    expect([client.clock.pending, client.wire.streams.length]).toEqual([0, 1]);
  });
});

describe("a watch that loses its place", () => {
  test("begins anew when the history does not reach back to its last event", async () => {
    const resumed: boolean[] = [];
    const client = scriptedClient({ onWatchResumed: ({ resynced }) => void resumed.push(resynced) });
    const { watch, stream } = await openBootstrapped(client);
    client.wire.script.push(
      (again) => again.fail(lost),
      (again) => again.begin().send(created(int("one", 1)), bootstrapped(9)),
    );
    stream.fail();
    const next = typesOf(watch, 3);
    await untilRetry(client);
    expect(await next).toEqual(["Resynced", "Created", "Bootstrapped"]);
    expect(client.wire.last.watch.options).toMatchObject({ bootstrap: true, startFromBookmark: undefined });
    expect(resumed).toEqual([true]);
    // and has a place again
    client.wire.last.fail();
    void watch.next();
    await untilRetry(client);
    expect(client.wire.last.watch.options.startFromBookmark).toEqual(bookmarkAt(9));
    await watch[Symbol.asyncDispose]();
  });

  test("begins anew with its filters, and in its form", async () => {
    const client = scriptedClient();
    client.wire.script.push((stream) => stream.begin().send(bootstrapped(1)));
    const query = { labels: [[equal("tier", "front")]], ids: "^web" };
    await using watch = await client.state.watchKindBatches(Int, { bootstrap: true, ...query });
    await watch.next();
    client.wire.last.send(errored("buffer overrun"));
    expect((await watch.next()).value).toMatchObject([{ type: "Resynced" }]);
    expect(client.wire.last.watch).toMatchObject({ query, options: { bootstrap: true, aggregated: true } });
  });

  test("has not lost it when a stream ends with FAILED_PRECONDITION for a reason of its own", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client);
    stream.fail(new GrpcError(Status.failedPrecondition, "the proxy is being drained"));
    const next = nextOf(watch);
    await untilRetry(client);
    expect(client.wire.last.watch.options.startFromBookmark).toEqual(bookmarkAt(1));
    client.wire.last.send(created(int("one", 1), 2));
    expect((await next).type).toBe("Created");
    await watch[Symbol.asyncDispose]();
  });

  test("fails instead when it was told to, and says that the bookmark was invalid", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client, "error");
    client.wire.script.push((again) => again.fail(lost));
    stream.fail();
    const next = nextOf(watch);
    await untilRetry(client);
    const { type, error } = await next;
    expect(type).toBe("Errored");
    expect(isInvalidBookmark(error)).toBe(true);
  });

  test("begins anew at once after an overrun, and delivers what came before it", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client);
    client.wire.script.push((again) => again.begin().send(bootstrapped(9)));
    stream.send(created(int("one", 1), 2), errored('buffer overrun: namespace "default" type "test/int"'));
    expect(await typesOf(watch, 3)).toEqual(["Created", "Resynced", "Bootstrapped"]);
    expect(stream.cancelled).toBe(true);
    await watch[Symbol.asyncDispose]();
  });

  test("waits before it asks a server again that tells of nothing but overruns", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client);
    client.wire.onStream = (again) => void again.begin().send(errored("buffer overrun"));
    stream.send(errored("buffer overrun"));
    const resyncs = typesOf(watch, 3);
    await client.clock.settle();
    expect(client.wire.streams).toHaveLength(2);
    expect([await untilRetry(client), await untilRetry(client)]).toEqual([500, 750]);
    expect(await resyncs).toEqual(["Resynced", "Resynced", "Resynced"]);
    await watch[Symbol.asyncDispose]();
    expect(client.clock.pending).toBe(0);
  });

  test("fails at an overrun when it was told to", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client, "error");
    stream.send(errored('buffer overrun: namespace "default" type "test/int"'));
    const { type, error } = await nextOf(watch);
    expect(type).toBe("Errored");
    expect(hasCode(error, "watch_overrun")).toBe(true);
    expect(error?.message).toContain('namespace "default"');
    expect((await watch.next()).done).toBe(true);
  });

  test("begins anew once more when it breaks in the middle of that", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client);
    client.wire.script.push((again) => again.begin().send(created(int("one", 1))));
    stream.send(errored("buffer overrun"));
    expect(await typesOf(watch, 2)).toEqual(["Resynced", "Created"]);
    client.wire.last.fail();
    client.wire.script.push((again) => again.begin().send(bootstrapped(4)));
    const next = typesOf(watch, 2);
    await untilRetry(client);
    expect(await next).toEqual(["Resynced", "Bootstrapped"]);
    await watch[Symbol.asyncDispose]();
  });

  test("fails at any other error that the server tells of", async () => {
    const client = scriptedClient();
    const { watch, stream } = await openBootstrapped(client);
    stream.send(errored("the disk is on fire"));
    const { type, error } = await nextOf(watch);
    expect([type, error?.message]).toEqual(["Errored", "the disk is on fire"]);
    expect((await watch.next()).done).toBe(true);
    expect(client.wire.streams).toHaveLength(1);
  });
});
