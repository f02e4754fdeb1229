import { describe, expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import { MemoryState } from "../../memory/index.ts";
import { createTombstone, patchMetadata } from "../../resource/index.ts";
import { EventType, type Event } from "../../state/index.ts";
import { Int } from "../suites/conformance-resources.ts";
import { describeEvent, sameEvent } from "./describe-event.ts";
import { expectEvents } from "./expect-events.ts";
import { foldWatch, WatchFold } from "./watch-fold.ts";
import { WatchReader } from "./watch-reader.ts";

const one = patchMetadata(Int.create("one", { value: 1 }), { version: "1" });
const two = patchMetadata(one, { version: "2" });
const three = patchMetadata(one, { version: "3" });
const { created, updated, destroyed, bootstrapped, resynced, errored } = EventType;
const marker = createTombstone({ namespace: "default", type: "test/int", id: "" });

describe("a fold", () => {
  test("knows what is there, whether that is all, and where to go on", () => {
    const fold = new WatchFold();
    fold.apply({ type: created, resource: one });
    expect([fold.complete, fold.bookmark]).toEqual([false, undefined]);
    fold.apply({ type: bootstrapped, resource: marker, bookmark: Uint8Array.of(7), revision: 7 });
    expect([fold.complete, fold.bookmark]).toEqual([true, Uint8Array.of(7)]);
    fold.apply({ type: updated, resource: two, old: one, bookmark: Uint8Array.of(8), revision: 8 });
    expect([...fold.contents]).toEqual([["one", two]]);
    expect(fold.bookmark).toEqual(Uint8Array.of(8));
    fold.apply({ type: destroyed, resource: two, revision: 9 });
    expect(fold.contents.size).toBe(0);
    fold.apply({ type: resynced, resource: marker, bookmark: Uint8Array.of(12), revision: 12 });
    expect([fold.complete, fold.resyncs, fold.bookmark]).toEqual([false, 1, undefined]);
  });

  test.each<readonly [string, readonly Event[], RegExp]>([
    ["a creation of what is there", [{ type: created, resource: one }], /it is there already/],
    ["an update of a version that was not seen", [{ type: updated, resource: three, old: two }], /@1 was there/],
    ["an update that goes back", [{ type: updated, resource: one, old: one }], /its version does not grow/],
    [
      "an end of what is not there",
      [
        { type: destroyed, resource: one },
        { type: destroyed, resource: one },
      ],
      /it is not there/,
    ],
    [
      "an update of what is not there",
      [
        { type: destroyed, resource: one },
        { type: updated, resource: two, old: one },
      ],
      /it is not there/,
    ],
    [
      "a revision that was there before",
      [
        { type: updated, resource: two, old: one, revision: 5 },
        { type: updated, resource: three, old: two, revision: 5 },
      ],
      /its revision, 5, comes after 5/,
    ],
    ["an error", [{ type: errored, error: new Error("gone") }], /gone/],
  ])("does not accept %s", (_, events, complaint) => {
    const fold = new WatchFold([one]);
    const last = events.at(-1);
    for (const event of events.slice(0, -1)) fold.apply(event);
    expect(() => last && fold.apply(last)).toThrow(complaint);
  });
});

test("foldWatch follows a watch until it is told to stop, or says what it has when time is up", async () => {
  const clock = new ManualClock();
  await using state = new MemoryState();
  for (const id of ["a", "b"]) await state.create(Int.create(id, { value: 1 }));
  await using watch = await state.watchKindBatches(Int, { bootstrap: true });
  expect([...(await foldWatch(watch)).contents.keys()]).toEqual(["a", "b"]);
  const stuck = foldWatch(watch, { clock, timeoutMs: 500, initial: await state.list(Int), until: () => false });
  const outcome = stuck.catch(String);
  const expected = "the watch did not get there within 500 ms; it holds a@1, b@1";
  await clock.advance(500);
  expect(await outcome).toContain(expected);
  await using closed = await state.watchKind(Int);
  const ended = foldWatch(closed).catch(String);

  await closed[Symbol.asyncDispose]();
  expect(await ended).toContain("the watch ended; it holds nothing");
});

describe("a reader", () => {
  test("reads plain watches and batches alike, and remembers what it read", async () => {
    await using state = new MemoryState();
    await using plain = new WatchReader(await state.watchKind(Int, { bootstrap: true }));
    await using batches = new WatchReader(await state.watchKindBatches(Int, { bootstrap: true }));
    for (const id of ["a", "b", "c"]) await state.create(Int.create(id, { value: 1 }));
    for (const reader of [plain, batches]) {
      expect((await reader.take(2)).map(({ type }) => type)).toEqual([bootstrapped, created]);
      const rest = await reader.takeUntil(({ resource }) => resource?.metadata.id === "c");
      expect(rest.map(describeEvent)).toEqual(["Created test/int(default/b@1)", "Created test/int(default/c@1)"]);
      expect(reader.taken).toHaveLength(4);
    }
  });

  test("says after what it waited in vain, and what came before the end", async () => {
    const clock = new ManualClock();
    await using state = new MemoryState();
    await using reader = new WatchReader(await state.watchKind(Int, { bootstrap: true }), { clock, timeoutMs: 500 });
    await reader.next();
    const outcome = reader.next().catch(String);
    const expected = "no event within 500 ms after Bootstrapped tombstone of test/int(default/)";
    await clock.advance(500);
    expect(await outcome).toContain(expected);
    await reader[Symbol.asyncDispose]();
    await expect(reader.next()).rejects.toThrow(/the watch ended after\n {2}Bootstrapped/);
    expect(await reader.nextOrEnd()).toBeUndefined();
  });
});

describe("expectEvents", () => {
  const given = async (
    ...expected: Parameters<typeof expectEvents> extends [unknown, ...infer Rest] ? Rest : never
  ) => {
    await using state = new MemoryState();
    await using reader = new WatchReader(await state.watch(Int.ref("one")));
    const first = await state.create(Int.create("one", { value: 1 }));
    await state.update(first);
    return await expectEvents(reader, ...expected);
  };

  test("gives back the events that are as expected", async () => {
    const events = await given(
      { type: destroyed, id: "one", version: "undefined", bookmark: true },
      { type: created, resource: one, old: null, bookmark: true },
      { type: updated, resource: two, old: one },
    );
    expect(events).toHaveLength(3);
  });

  test.each([
    ["another type", { type: created }, "event 1 of 1: expected Created\ngot: Destroyed tombstone of"],
    ["another id", { type: destroyed, id: "two" }, 'expected Destroyed of "two"'],
    ["another version", { type: destroyed, version: "1" }, "expected version 1"],
    ["other content", { type: destroyed, resource: one }, "expected Destroyed with test/int(default/one@1)"],
    ["content before", { type: destroyed, old: one }, "as content before, got nothing"],
    ["no bookmark", { type: destroyed, bookmark: false }, "expected no bookmark"],
  ] as const)("says when %s was expected", async (_, expected, complaint) => {
    await expect(given(expected)).rejects.toThrow(complaint);
  });
});

test("events are the same when type and resources are, whatever their bookmarks", () => {
  const event: Event = { type: updated, resource: two, old: one, bookmark: Uint8Array.of(1), revision: 1 };
  expect(sameEvent(event, { type: updated, resource: two, old: one })).toBe(true);
  for (const other of [
    { type: created, resource: two },
    { type: updated, resource: three, old: one },
    { type: updated, resource: two, old: three },
    { type: destroyed, resource: createTombstone(two.metadata) },
    { type: errored, error: new Error("gone") },
  ] as const) {
    expect(sameEvent(event, other)).toBe(false);
    expect(sameEvent(other, event)).toBe(false);
    expect(sameEvent(other, other)).toBe(true);
  }
});
