import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { GrpcError, isGrpcError, Status } from "../../src/rpc/index.ts";
import { WireWriter } from "../../src/wire/wire-writer.ts";
import {
  createResource,
  createTombstone,
  defineResource,
  hasCode,
  isInvalidBookmark,
  isTombstone,
  isUnsupported,
  OpaqueSpec,
  shape,
} from "../../src/resource/index.ts";
import { EventType, type Event } from "../../src/state/index.ts";
import { encodeErrorDetails } from "../../src/grpc/error-details.ts";
import { Int } from "../../src/testing/index.ts";
import { absent, bootstrapped, created, int, noop, updated } from "./events.ts";
import { bookmarkAt, scriptedClient } from "./scripted-wire.ts";

/** A message with an event of a type that nobody knows, with or without a place. */
function unknownEvent(bookmark: Uint8Array | undefined): Uint8Array {
  const writer = new WireWriter();
  const mark = writer.open(0x0a);
  writer.uint32Field(0x10, 99);
  if (bookmark !== undefined) writer.bytesField(0x2a, bookmark);
  writer.close(mark);
  return writer.finish();
}

describe("opening a watch", () => {
  test("takes until the first message, which is passed over, whatever it holds", async () => {
    const { state, wire } = scriptedClient();
    wire.onStream = () => {};
    let opened = false;
    const opening = state.watchKind(Int).then((watch) => {
      opened = true;
      return watch;
    });
    await Promise.resolve();
    await Promise.resolve();
    expect(opened).toBe(false);
    wire.last.send(created(int("lost", 1), 1)).send(created(int("one", 1), 2));
    await using watch = await opening;
    expect((await watch.next()).value).toMatchObject({ resource: { metadata: { id: "one" } } });
  });

  test("fails with what the server says, and is not tried again", async () => {
    const { state, wire, core } = scriptedClient();
    wire.onStream = (stream) => stream.fail(new GrpcError(Status.failedPrecondition, "bad bookmark"));
    const startFromBookmark = bookmarkAt(1);
    const refusal = await state.watchKind(Int, { startFromBookmark }).catch((error: unknown) => error);
    expect(isInvalidBookmark(refusal)).toBe(true);
    const details = encodeErrorDetails(Status.unimplemented, "no", "unsupported", undefined);
    wire.onStream = (stream) => stream.fail(new GrpcError(Status.unimplemented, "no tails here", { details }));
    const unsupported = await state.watchKind(Int, { tailEvents: 5 }).catch((error: unknown) => error);
    expect(isUnsupported(unsupported)).toBe(true);
    wire.onStream = (stream) => stream.finish();
    await expect(state.watch(Int, "one")).rejects.toMatchObject({ code: "unavailable" });
    expect(wire.streams).toHaveLength(3);
    expect(core.openWatches).toBe(0);
  });

  test("fails after a time when the server says nothing, and tells it that nobody listens any more", async () => {
    const { state, wire, clock, core } = scriptedClient({ timeoutMs: 2_000 });
    wire.onStream = () => {};
    const refusal = state.watchKind(Int).catch((error: unknown) => error);
    await clock.advance(2_000);
    expect(isGrpcError(await refusal, Status.deadlineExceeded)).toBe(true);
    expect(wire.last.cancelled).toBe(true);
    expect([core.openWatches, clock.pending]).toEqual([0, 0]);
  });

  test("ends with its signal, before and while it waits", async () => {
    const { state, wire, core } = scriptedClient();
    const reason = new Error("enough");
    await expect(state.watchKind(Int, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(wire.streams).toHaveLength(0);
    wire.onStream = () => {};
    const stopper = new AbortController();
    const opening = state.watch(Int.ref("one"), { signal: stopper.signal });
    stopper.abort(reason);
    await expect(opening).rejects.toBe(reason);
    expect(core.openWatches).toBe(0);
  });

  test("ends with its signal when that aborts at the moment of success, and leaves no stream", async () => {
    const { state, wire, core } = scriptedClient();
    const stopper = new AbortController();
    const reason = new Error("enough");
    wire.onStream = (stream) => {
      stream.begin();
      queueMicrotask(() => stopper.abort(reason));
    };
    await expect(state.watchKind(Int, { signal: stopper.signal })).rejects.toBe(reason);
    expect([wire.last.cancelled, core.openWatches]).toEqual([true, 0]);
  });

  test("asks for no place twice, and never for one that the reader did not want to see", async () => {
    const { state, wire } = scriptedClient();
    const asked = async (options: Parameters<typeof state.watchKind>[1]) => {
      await (await state.watchKind(Int, options))[Symbol.asyncDispose]();
      return wire.last.watch.options.bootstrapBookmark;
    };
    expect(await asked({})).toBe(true);
    expect(await asked({ bootstrapBookmark: true })).toBe(true);
    expect(await asked({ bootstrap: true })).toBe(false);
    expect(await asked({ tailEvents: 3 })).toBe(false);
    expect(await asked({ startFromBookmark: bookmarkAt(1) })).toBe(false);
    wire.script.push((stream) =>
      stream
        .begin()
        .send(noop(1))
        .send(created(int("one", 1), 2)),
    );
    await using watch = await state.watchKind(Int);
    expect((await watch.next()).value).toMatchObject({ type: "Created" });
    wire.script.push((stream) => stream.begin().send(noop(1)));
    await using marked = await state.watchKind(Int, { bootstrapBookmark: true });
    expect((await marked.next()).value).toMatchObject({ type: "Noop", bookmark: bookmarkAt(1) });
  });

  test("contradictions are refused before anything is sent", async () => {
    const { state, wire } = scriptedClient();
    const startFromBookmark = bookmarkAt(1);
    const calls = [
      state.watchKind(Int, { bootstrap: true, tailEvents: 1 }),
      state.watchKind(Int, { bootstrap: true, startFromBookmark }),
      state.watchKindBatches(Int, { tailEvents: 1, startFromBookmark }),
      state.watch(Int, "one", { tailEvents: 1, startFromBookmark }),
      state.watch(Int, "one", { tailEvents: 0.5 }),
      state.watchKind(Int, { overrun: "panic" as "error" }),
      state.watchKind(Int, { ids: "(" }),
      state.list(Int, { ids: "(" }),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "invalid" });
    expect(wire.streams).toHaveLength(0);
  });
});

describe("the events of a watch", () => {
  test("[transport X17] an event of an unknown type is passed over, but its place is kept", async () => {
    const { state, wire, clock } = scriptedClient();
    wire.script.push((stream) => stream.begin().send(created(int("one", 1), 4)));
    const watch = await state.watchKind(Int);
    await watch.next();
    wire.last.push(unknownEvent(bookmarkAt(5)), unknownEvent(undefined));
    const next = watch.next();
    await clock.settle();
    wire.last.fail();
    await clock.advance(500);
    expect(wire.last.watch.options.startFromBookmark).toEqual(bookmarkAt(5));
    wire.last.send(created(int("two", 2), 6));
    expect((await next).value).toMatchObject({ type: "Created", resource: { metadata: { id: "two" } } });
    await watch[Symbol.asyncDispose]();
  });

  test("[transport X18] a tombstone of a type whose codec refuses empty bytes does not break it", async () => {
    const Picky = defineResource({
      type: "Pickies.example.dev",
      spec: shape({ name: "string" }),
      codec: {
        encode: ({ name }) => new TextEncoder().encode(name),
        decode: (bytes) => {
          if (bytes.length === 0) throw new Error("there must be bytes");
          return { name: new TextDecoder().decode(bytes) };
        },
      },
    });
    const { state, wire } = scriptedClient({ types: [Picky] });
    const missing = { type: EventType.destroyed, resource: createTombstone(Picky.ref("one")) };
    wire.script.push((stream) =>
      stream
        .begin()
        .send(missing)
        .send(created(Picky.create("one", { name: "x" }), 1)),
    );
    await using watch = await state.watch(Picky, "one");
    const { value: first } = await watch.next();
    expect(first?.type).toBe("Destroyed");
    expect(isTombstone(first?.resource)).toBe(true);
    const { value: second } = await watch.next();
    expect(second?.resource?.spec).toEqual({ name: "x" });
  });

  test("may come in any number in a message, none included, in both forms", async () => {
    const { state, wire } = scriptedClient();
    const script = (): void => {
      wire.script.push((stream) => {
        stream
          .begin()
          .begin()
          .send(created(int("a", 1), 1), created(int("b", 2), 2));
        stream.begin().send(created(int("c", 3), 3));
      });
    };
    script();
    const plain = await state.watchKind(Int);
    const ids: unknown[] = [];
    for await (const { resource } of plain) if (ids.push(resource?.metadata.id) === 3) break;
    expect(ids).toEqual(["a", "b", "c"]);
    script();
    const batches = await state.watchKindBatches(Int);
    expect((await batches.next()).value).toHaveLength(2);
    expect((await batches.next()).value).toHaveLength(1);
    await batches[Symbol.asyncDispose]();
    expect(wire.streams.every(({ cancelled }) => cancelled)).toBe(true);
  });

  test("are frozen, typed where the type is known, and opaque otherwise", async () => {
    const known = scriptedClient();
    known.wire.script.push((stream) => stream.begin().send(created(int("one", 7), 1)));
    await using typed = await known.state.watchKindBatches(Int);
    const { value: [event] = [] } = await typed.next();
    expect(event?.resource?.spec).toEqual({ value: 7 });
    expect([event, event?.resource, event?.resource?.spec].every(Object.isFrozen)).toBe(true);
    const ignorant = scriptedClient({ skipDecoding: true });
    ignorant.wire.script.push((stream) => stream.begin().send(created(int("one", 7), 1)));
    await using opaque = await ignorant.state.watchKind({ namespace: "default", type: "test/int" });
    const { value: raw } = await opaque.next();
    expect(raw?.resource?.spec).toBeInstanceOf(OpaqueSpec);
  });

  test("that cannot be read end the watch with an error, not with a retry that would read them again", async () => {
    const { state, wire, clock } = scriptedClient();
    wire.script.push((stream) => stream.begin().send(bootstrapped(1)).push(Uint8Array.of(0x0a, 0xff)));
    const watch = await state.watchKind(Int, { bootstrap: true });
    expect((await watch.next()).value).toMatchObject({ type: "Bootstrapped" });
    const { value } = await watch.next();
    expect(value?.type).toBe("Errored");
    expect(value?.error?.message).toMatch(/test\/int in "default" failed: malformed message/);
    expect((await watch.next()).done).toBe(true);
    expect([wire.streams.length, clock.pending]).toEqual([1, 0]);
  });

  test.each<[string, Event]>([
    ["of another kind", created(createResource({ namespace: "default", type: "test/str", id: "a" }, {}), 2)],
    ["of another namespace", created(createResource({ ...Int.ref("a"), namespace: "other" }, {}), 2)],
    ["whose old resource is another", updated(int("b", 1), int("a", 1), 2)],
  ])("%s than was asked for end the watch with an error", async (_, event) => {
    const { state, wire } = scriptedClient({ skipDecoding: true });
    wire.script.push((stream) => stream.begin().send(bootstrapped(1)).send(event));
    const watch = await state.watchKind(Int.ref("x"), { bootstrap: true });
    expect((await watch.next()).value).toMatchObject({ type: "Bootstrapped" });
    const { value } = await watch.next();
    expect(value?.error?.message).toMatch(/^the watch of test\/int in "default" failed: the server gave test\//);
    expect((await watch.next()).done).toBe(true);
    expect(wire.streams).toHaveLength(1);
  });

  test("of another resource than the one that is watched end the watch with an error", async () => {
    const { state, wire } = scriptedClient();
    wire.script.push((stream) => stream.begin().send(created(int("b", 1), 1)));
    const watch = await state.watch(Int, "a");
    const { value } = await watch.next();
    expect(value?.error?.message).toContain("the server gave test/int(default/b) instead of test/int(default/a)");
    expect((await watch.next()).done).toBe(true);
  });

  test("are read only when they are asked for", async () => {
    const { state, wire } = scriptedClient();
    wire.script.push((stream) => stream.begin().send(created(int("a", 1), 1)));
    const watch = await state.watchKind(Int);
    const { readCount } = wire.last;
    wire.last.send(created(int("b", 1), 2)).send(created(int("c", 1), 3));
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(wire.last.readCount).toBe(readCount);
    await watch[Symbol.asyncDispose]();
  });
});

describe("the end of a watch", () => {
  test.each(["disposal", "return", "signal", "State"] as const)(
    "by its %s: it waits for nothing and delivers nothing more",
    async (way) => {
      const { state, wire, core, clock } = scriptedClient();
      const stopper = new AbortController();
      const { signal } = stopper;
      wire.script.push((stream) => stream.begin().send(created(int("a", 1), 1), created(int("b", 2), 2)));
      const watch = await state.watchKind(Int, { signal });
      await watch.next();
      const other = await state.watchKindBatches(Int, { signal });
      const waiting = other.next();
      if (way === "disposal") await Promise.all([watch[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
      if (way === "return") await Promise.all([watch.return?.(), other.return?.()]);
      if (way === "signal") stopper.abort(new Error("enough"));
      if (way === "State") await state[Symbol.asyncDispose]();
      expect(await waiting).toEqual({ done: true, value: undefined });
      expect(await watch.next()).toEqual({ done: true, value: undefined });
      expect(await watch.next()).toEqual({ done: true, value: undefined });
      expect([core.openWatches, clock.pending, getEventListeners(signal, "abort").length]).toEqual([0, 0, 0]);
      expect(wire.streams.map(({ cancelled }) => cancelled)).toEqual([true, true]);
    },
  );

  test("while it waits to be opened again leaves no timer", async () => {
    const { state, wire, clock, core } = scriptedClient();
    wire.script.push((stream) => stream.begin().send(noop(1)));
    const watch = await state.watchKind(Int);
    const waiting = watch.next();
    await clock.settle();
    wire.last.fail();
    await clock.settle();
    expect(clock.pending).toBe(1);
    await watch[Symbol.asyncDispose]();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect([core.openWatches, clock.pending]).toEqual([0, 0]);
  });

  test("while it is being opened again cancels the attempt", async () => {
    const { state, wire, clock } = scriptedClient();
    wire.script.push(
      (stream) => stream.begin().send(noop(1)),
      () => {},
    );
    const stopper = new AbortController();
    const watch = await state.watchKind(Int, { signal: stopper.signal });
    const waiting = watch.next();
    await clock.settle();
    wire.last.fail();
    await clock.settle();
    await clock.advance(500);
    expect(wire.streams).toHaveLength(2);
    stopper.abort(new Error("enough"));
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(clock.pending).toBe(0);
  });

  test("calls of next that overlap get one event each, in order", async () => {
    const { state, wire } = scriptedClient();
    const watch = await state.watchKind(Int);
    const three = Promise.all([watch.next(), watch.next(), watch.next()]);
    wire.last.send(created(int("a", 1), 1)).send(created(int("b", 1), 2), created(int("c", 1), 3));
    expect((await three).map(({ value }) => value?.resource?.metadata.id)).toEqual(["a", "b", "c"]);
    const left = Promise.all([watch.next(), watch.next()]);
    await watch[Symbol.asyncDispose]();
    expect((await left).map(({ done }) => done)).toEqual([true, true]);
  });

  test("offers nothing that only a State in this process can do", async () => {
    const { state } = scriptedClient();
    await using watch = await state.watchKindBatches(Int);
    expect("takePending" in watch || "onPending" in watch).toBe(false);
  });
});

describe("waits on a watch", () => {
  test("survive a break", async () => {
    const { state, wire, clock } = scriptedClient();
    wire.script.push((stream) => stream.begin().send(absent("one")));
    const waiting = state.watchFor(Int, "one", { events: [EventType.created] });
    await clock.settle();
    wire.last.fail();
    wire.script.push((stream) => stream.begin().send(created(int("one", 5))));
    await clock.settle();
    await clock.advance(500);
    expect((await waiting).spec).toEqual({ value: 5 });
    expect(wire.last.cancelled).toBe(true);
  });

  test("fail with the watch", async () => {
    const { state, wire, clock } = scriptedClient({ watchRetry: { giveUpAfterMs: 100 } });
    wire.script.push((stream) => stream.begin().send(absent("one")));
    const waiting = state.watchFor(Int, "one", { events: [EventType.created] }).catch((error: unknown) => error);
    await clock.settle();
    wire.last.fail();
    expect(hasCode(await waiting, "unavailable")).toBe(true);
    expect(clock.pending).toBe(0);
  });
});
