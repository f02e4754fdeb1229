import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ManualClock } from "../clock/index.ts";
import { createResource } from "../resource/index.ts";
import { Collection } from "../store/index.ts";
import { JsonBackingStore, PathResource } from "../testing/index.ts";
import { MemoryNamespace } from "./memory-namespace.ts";
import { MemoryState } from "./memory-state.ts";

const one = PathResource.create("one", {});
const POINTER = PathResource.ref("one");

describe("a State over a backing store", () => {
  async function setUp() {
    const store = new JsonBackingStore();
    await store.put(one);
    const load = vi.spyOn(store, "load");
    return { load, state: new MemoryState({ backingStore: () => store }) };
  }

  test.each([
    ["get", async (state: MemoryState) => (await state.get(POINTER)).metadata.id],
    ["getOrNull", async (state: MemoryState) => (await state.getOrNull(POINTER))?.metadata.id],
    ["list", async (state: MemoryState) => (await state.list(PathResource))[0]?.metadata.id],
    ["watch", async (state: MemoryState) => (await (await state.watch(POINTER)).next()).value?.resource?.metadata.id],
    [
      "watchKind",
      async (state: MemoryState) => {
        const watch = await state.watchKind(PathResource, { bootstrap: true });
        return (await watch.next()).value?.resource?.metadata.id;
      },
    ],
    [
      "watchKindBatches",
      async (state: MemoryState) => {
        const watch = await state.watchKindBatches(PathResource, { bootstrap: true });
        return (await watch.next()).value?.[0]?.resource?.metadata.id;
      },
    ],
  ])("shows what the store holds to %s, when it is the first call", async (_, read) => {
    const { state } = await setUp();
    await using _state = state;
    expect(await read(state)).toBe("one");
  });

  const calls = [
    ["get", (state: MemoryState, signal?: AbortSignal) => state.get(POINTER, { signal })],
    ["getOrNull", (state: MemoryState, signal?: AbortSignal) => state.getOrNull(POINTER, { signal })],
    ["list", (state: MemoryState, signal?: AbortSignal) => state.list(PathResource, { signal })],
    ["create", (state: MemoryState, signal?: AbortSignal) => state.create(PathResource.create("two", {}), { signal })],
    ["update", (state: MemoryState, signal?: AbortSignal) => state.update(one, { signal })],
    ["destroy", (state: MemoryState, signal?: AbortSignal) => state.destroy(POINTER, { signal })],
    ["watch", (state: MemoryState, signal?: AbortSignal) => state.watch(POINTER, { signal })],
    ["watchKind", (state: MemoryState, signal?: AbortSignal) => state.watchKind(PathResource, { signal })],
    [
      "watchKindBatches",
      (state: MemoryState, signal?: AbortSignal) => state.watchKindBatches(PathResource, { signal }),
    ],
  ] as const;

  test.each(calls)("does not load it for an aborted or late %s", async (_, call) => {
    const { state, load } = await setUp();
    await expect(call(state, AbortSignal.abort(new Error("not needed")))).rejects.toThrow("not needed");
    await state.get(POINTER).catch(() => undefined);
    load.mockClear();
    await state[Symbol.asyncDispose]();
    await expect(call(state)).rejects.toThrow('the state of namespace "default" is closed');
    expect(load).not.toHaveBeenCalled();
  });
});

test("a namespace keeps no more than a few types that were only watched", async () => {
  const store = new MemoryNamespace("default");
  for (let i = 0; i < 20; i++) {
    const watch = await store.watchKind({ namespace: "default", type: `T${i}` });
    await watch[Symbol.asyncDispose]();
  }
  const looks = vi.spyOn(Collection.prototype, "isWatched", "get");
  onTestFinished(() => looks.mockRestore());
  expect(store.usage()).toBe("unused");
  expect(looks.mock.calls.length).toBeLessThan(5);
});

test("a refusal for want of a resource points at it", async () => {
  await using state = new MemoryState();
  const pointer = { namespace: "default", type: "T", id: "none" };
  await expect(state.get(pointer)).rejects.toMatchObject({ code: "not_found", pointer });
  await expect(state.destroy(pointer)).rejects.toMatchObject({ code: "not_found", pointer });
});

test("an update carries the time at which it was made, in whole milliseconds", async () => {
  const clock = new ManualClock();
  await using state = new MemoryState({ clock });
  const created = await state.create(createResource({ namespace: "default", type: "T", id: "one" }, {}));
  await clock.advance(1_500.25);
  const updated = await state.update(created);
  expect(updated.metadata.updated).toBe(new Date(Math.floor(clock.now())).toISOString());
  expect(updated.metadata.created).toBe(created.metadata.created);
  expect((await state.update(updated)).metadata.updated).toBe(updated.metadata.updated);
});
