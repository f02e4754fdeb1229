import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { exists, hasCode, patchMetadata, type Resource } from "../resource/index.ts";
import { EventType, type Event, type State, type Watch } from "../state/index.ts";
import { describeEvent, PathResource, Str, WatchFold } from "../testing/index.ts";
import { MemoryState } from "./memory-state.ts";

const strict = { overrun: "error", history: { maxCapacity: 10, gap: 5 } } as const;
const lenient = { history: { maxCapacity: 10, gap: 5 } } as const;
const BUFFER_OVERRUN = /buffer overrun: namespace "default" type "os\/path"/;

/** Ten creates, then twenty updates of the first, each with one finalizer more: three times the history. */
async function flood(state: State): Promise<void> {
  for (let id = 0; id < 10; id++) await state.create(PathResource.create(String(id), {}));
  for (let time = 0; time < 20; time++) await state.addFinalizer(PathResource.ref("0"), `Finalizer${time}`);
}

/** Everything up to the end of the watch, or until it has nothing more to say. */
async function readAll(watch: Watch<Event> | Watch<readonly Event[]>): Promise<Event[]> {
  const events: Event[] = [];
  for (let next = watch.takePending?.(); next !== undefined; next = watch.takePending?.())
    events.push(...[next].flat());
  return events;
}

const texts = (events: readonly Event[]): readonly string[] => events.map(describeEvent);

describe("with the strict policy", () => {
  test("a watch of a kind that falls behind ends with an overrun [state 70]", async () => {
    await using state = new MemoryState(strict);
    const watch = await state.watchKind(PathResource);
    const batches = await state.watchKindBatches(PathResource);
    await flood(state);
    const events: Event[] = [];
    for await (const event of watch) events.push(event);
    const last = events.pop();
    for (const { type } of events) expect([EventType.created, EventType.updated]).toContain(type);
    expect(last?.type).toBe(EventType.errored);
    expect(last?.error?.message).toMatch(BUFFER_OVERRUN);
    expect(hasCode(last?.error, "watch_overrun")).toBe(true);
    expect(last).not.toHaveProperty("bookmark");
    expect((await watch.next()).done).toBe(true);

    const { value: batch } = await batches.next();
    expect((batch ?? []).map(({ type }: Event) => type)).toEqual([EventType.errored]);
    expect((await batches.next()).done).toBe(true);
  });

  test("a watch of one resource that falls behind ends with an overrun [state 71]", async () => {
    await using state = new MemoryState(strict);
    const watch = await state.watch(PathResource.ref("0"));
    await flood(state);
    const events: Event[] = [];
    for await (const event of watch) events.push(event);
    expect(events[0]?.type).toBe(EventType.destroyed);
    const last = events.pop();
    expect(last?.type).toBe(EventType.errored);
    expect(last?.error?.message).toMatch(BUFFER_OVERRUN);
    expect(events.slice(1).map(({ type }) => type)).toEqual(events.slice(1).map(() => EventType.created));
    expect(events.length).toBeLessThanOrEqual(2);
  });

  test("a watch of one resource falls behind because of the others", async () => {
    await using state = new MemoryState(strict);
    const stored = await state.create(PathResource.create("mine", {}));
    const watch = await state.watch(stored.metadata);
    expect((await watch.next()).value?.type).toBe(EventType.created);
    await flood(state);
    expect((await watch.next()).value?.type).toBe(EventType.errored);
  });

  test("a history that grows as it fills loses nothing [state 72]", async () => {
    const history = { initialCapacity: 4, maxCapacity: 4095, gap: 5 };
    await using state = new MemoryState({ overrun: "error", history });
    const watch = await state.watchKind(PathResource);
    const ids = Array.from({ length: 4095 }, (_, id) => String(id));
    for (const id of ids) await state.create(PathResource.create(id, {}));
    for (const id of ids) {
      const { value } = await watch.next();
      expect([value?.type, value?.resource?.metadata.id]).toEqual([EventType.created, id]);
    }
    // One more is one too many.
    const late = await state.watchKind(PathResource);
    for (let time = 0; time <= 4095; time++) await state.create(PathResource.create(`late${time}`, {}));
    expect((await late.next()).value?.type).toBe(EventType.errored);
  });

  test("what a plain watch has begun to deliver cannot be lost, only what came meanwhile", async () => {
    await using state = new MemoryState(strict);
    const watch = await state.watchKind(PathResource);
    for (const id of ["a", "b", "c"]) await state.create(PathResource.create(id, {}));
    expect((await watch.next()).value?.resource?.metadata.id).toBe("a");
    await flood(state);
    expect((await watch.next()).value?.resource?.metadata.id).toBe("b");
    expect((await watch.next()).value?.resource?.metadata.id).toBe("c");
    expect((await watch.next()).value?.type).toBe(EventType.errored);
  });

  test("a watch may ask for another policy than the State's", async () => {
    await using state = new MemoryState(strict);
    await using other = new MemoryState(lenient);
    const watches = [
      await state.watchKind(PathResource, { overrun: "resync" }),
      await other.watchKind(PathResource, { overrun: "error" }),
    ];
    await flood(state);
    await flood(other);
    const types = await Promise.all(watches.map(async (watch) => (await watch.next()).value?.type));
    expect(types).toEqual([EventType.resynced, EventType.errored]);
  });
});

describe("by default", () => {
  test("a watch that falls behind is told to forget, then gets the present contents, then goes on", async () => {
    await using state = new MemoryState(lenient);
    const watch = await state.watchKind(PathResource);
    await flood(state);
    const present = await state.list(PathResource);
    expect(texts(await readAll(watch))).toEqual([
      "Resynced tombstone of os/path(default/)",
      ...present.map(({ metadata }) => `Created os/path(default/${metadata.id}@${metadata.version})`),
      "Bootstrapped tombstone of os/path(default/)",
    ]);
    const next = await state.create(PathResource.create("next", {}));
    expect((await watch.next()).value?.resource).toBe(next);
  });

  test("one that is read in batches gets all of that as one batch", async () => {
    await using state = new MemoryState(lenient);
    const watch = await state.watchKindBatches(PathResource);
    await flood(state);
    const { value: batch } = await watch.next();
    expect((batch ?? []).map(({ type }: Event) => type)).toEqual([
      EventType.resynced,
      ...Array.from({ length: 10 }, () => EventType.created),
      EventType.bootstrapped,
    ]);
  });

  test("one with a query gets what matches it", async () => {
    await using state = new MemoryState(lenient);
    const watch = await state.watchKind(PathResource, { labels: [exists("tier")], bootstrap: true });
    expect((await watch.next()).value?.type).toBe(EventType.bootstrapped);
    await flood(state);
    const first = await state.get(PathResource, "3");
    const labelled = await state.update(patchMetadata(first, { labels: { tier: "front" } }));
    const events = await readAll(watch);
    expect(events.map(({ type }) => type)).toEqual([EventType.resynced, EventType.created, EventType.bootstrapped]);
    expect(events[1]?.resource).toBe(labelled);
  });

  test("one of a single resource gets its present state, whether it exists or not", async () => {
    await using state = new MemoryState(lenient);
    const watch = await state.watch(PathResource.ref("0"));
    const other = await state.watch(PathResource.ref("none"));
    await watch.next();
    await other.next();
    await flood(state);
    expect(texts(await readAll(watch))).toEqual([
      "Resynced tombstone of os/path(default/)",
      "Created os/path(default/0@21)",
    ]);
    expect(texts(await readAll(other))).toEqual([
      "Resynced tombstone of os/path(default/)",
      "Destroyed tombstone of os/path(default/none)",
    ]);
  });

  test("one that falls behind again and again still adds up", async () => {
    await using state = new MemoryState(lenient);
    const watch = await state.watchKind(PathResource, { bootstrap: true });
    const fold = new WatchFold();
    for (let round = 1; round <= 5; round++) {
      for (let id = 0; id < 15; id++) await state.create(PathResource.create(`${round}/${id}`, {}));
      await state.destroy(PathResource.ref(`${round}/0`));
      for (const event of await readAll(watch)) fold.apply(event);
      expect(fold.resyncs).toBe(round);
    }
    const present: readonly Resource[] = await state.list(PathResource);
    expect([...fold.contents.values()]).toEqual([...present]);
  });

  test("the marker at the end of a resync is a place to go on from", async () => {
    await using state = new MemoryState(lenient);
    const watch = await state.watchKind(PathResource);
    await flood(state);
    const last = (await readAll(watch)).at(-1);
    expect(last?.type).toBe(EventType.bootstrapped);
    const resumed = await state.watchKind(PathResource, { startFromBookmark: last?.bookmark });
    const next = await state.create(PathResource.create("next", {}));
    expect((await resumed.next()).value?.resource).toBe(next);
  });

  test.each([
    ["specs", (text: string) => Str.create("one", { value: text })],
    ["labels", (text: string) => Str.create("one", { value: "" }, { labels: { text } })],
    ["annotations", (text: string) => Str.create("one", { value: "" }, { annotations: { text } })],
    ["finalizers", (text: string) => Str.create("one", { value: "" }, { finalizers: [text] })],
  ])("a history is bounded in the bytes of %s, whatever the number of events", async (_, resourceWith) => {
    await using state = new MemoryState({ history: { initialCapacity: 1000, maxCapacity: 1000, maxBytes: 20_000 } });
    const watch = await state.watchKind(Str);
    let newest = await state.create(resourceWith("x".repeat(3000)));
    for (let time = 0; time < 20; time++) newest = await state.update(newest);
    const events = await readAll(watch);
    expect(events.map(({ type }) => type)).toEqual([EventType.resynced, EventType.created, EventType.bootstrapped]);
    expect(events[1]?.resource).toBe(newest);
  });
});

test("ten thousand watches that were opened and closed leave nothing behind", async () => {
  await using state = new MemoryState();
  const { signal } = new AbortController();
  for (let round = 0; round < 10; round++) {
    const watches = await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        index % 2 === 0
          ? state.watchKind(PathResource, { bootstrap: true, signal })
          : state.watch(PathResource.ref("one"), { signal }),
      ),
    );
    const waits = watches.map(async (watch) => [await watch.next(), await watch.next()]);
    await new Promise<void>((resolve) => setImmediate(resolve));
    await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()));
    for (const [, second] of await Promise.all(waits)) expect(second?.done).toBe(true);
  }
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
