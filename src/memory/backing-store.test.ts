import { describe, expect, test } from "vitest";
import { ManualClock } from "../clock/index.ts";
import { createResource, isConflict, isNotFound, patchMetadata, StateError } from "../resource/index.ts";
import { EventType, type Event, type Watch } from "../state/index.ts";
import { Int, JsonBackingStore, PathResource } from "../testing/index.ts";
import { MemoryState } from "./memory-state.ts";

const over = (store: JsonBackingStore) => new MemoryState({ backingStore: () => store });
const failing = () => Promise.reject(new Error("disk full"));
const pending = (watch: Watch): Event | undefined => watch.takePending?.();

test("resources survive a restart, and so does their end [state 75]", async () => {
  const store = new JsonBackingStore();
  await using first = over(store);
  const one = await first.create(Int.create("one", { value: 1 }, { labels: { tier: "front" }, finalizers: ["A"] }));
  await first.create(Int.create("two", { value: 2 }));
  await first.update(patchMetadata(one, { labels: { tier: "back" } }));
  const before = await first.list(Int);

  await using second = over(store);
  expect([...(await second.list(Int))]).toEqual([...before]);
  expect((await second.get(Int, "one")).metadata.version).toBe("2");
  expect((await second.get(Int, "two")).spec.value).toBe(2);
  await second.destroy(Int.ref("two"));

  await using third = over(store);
  expect(isNotFound(await third.get(Int, "two").catch((error: unknown) => error))).toBe(true);
  expect((await third.get(Int, "one")).spec.value).toBe(1);
  // Versions go on where they were.
  expect((await third.update(await third.get(Int, "one"))).metadata.version).toBe("3");
});

describe("a write that the store refuses [state 171]", () => {
  test("rejects with the store's own error, changes nothing and tells nobody", async () => {
    const store = new JsonBackingStore();
    await using state = over(store);
    const stored = await state.create(PathResource.create("one", {}));
    const watch = await state.watchKind(PathResource);
    store.before = failing;
    const offered = PathResource.create("two", {});
    await expect(state.create(offered)).rejects.toThrow("disk full");
    expect(offered.metadata.version).toBe("undefined");
    expect(await state.getOrNull(PathResource, "two")).toBeUndefined();

    await expect(state.update(patchMetadata(stored, { labels: { a: "b" } }))).rejects.toThrow("disk full");
    expect(await state.get(PathResource, "one")).toBe(stored);
    await expect(state.destroy(stored.metadata)).rejects.toThrow("disk full");
    expect(await state.get(PathResource, "one")).toBe(stored);
    expect(pending(watch)).toBeUndefined();

    store.before = undefined;
    expect((await state.update(stored)).metadata.version).toBe("2");
    expect(pending(watch)).toMatchObject({ type: EventType.updated, old: stored });
    await state.destroy(stored.metadata);
  });

  test("never reaches the store when the State refuses it", async () => {
    const store = new JsonBackingStore();
    await using state = over(store);
    const stored = await state.create(PathResource.create("one", {}, { finalizers: ["A"] }));
    const steps: string[] = [];
    store.before = ({ operation }) => void steps.push(operation);
    await expect(state.create(PathResource.create("one", {}))).rejects.toThrow(StateError);
    await expect(state.update(PathResource.create("one", {}))).rejects.toThrow(StateError);
    await expect(state.destroy(stored.metadata)).rejects.toThrow(StateError);
    expect(steps).toEqual([]);
  });
});

test("while the store works, nobody sees the write, and a second one of the same version conflicts [state 172]", async () => {
  const store = new JsonBackingStore();
  await using state = over(store);
  const stored = await state.create(PathResource.create("one", {}));
  const watch = await state.watchKind(PathResource);
  const gate = Promise.withResolvers<void>();
  store.before = () => gate.promise;
  const first = state.update(patchMetadata(stored, { labels: { by: "first" } }));
  const second = state.update(patchMetadata(stored, { labels: { by: "second" } }));
  const third = state.updateWithConflicts(
    stored.metadata,
    (_, metadata) => void (metadata.annotations["by"] = "third"),
  );
  const other = state.create(Int.create("other", { value: 1 }));
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(await state.get(PathResource, "one")).toBe(stored);
  expect([...(await state.list(PathResource))]).toEqual([stored]);
  expect(pending(watch)).toBeUndefined();
  gate.resolve();
  expect((await first).metadata.version).toBe("2");
  expect(isConflict(await second.catch((error: unknown) => error))).toBe(true);
  const { metadata } = await third;
  expect([metadata.version, metadata.labels["by"], metadata.annotations["by"]]).toEqual(["3", "first", "third"]);
  expect((await other).metadata.version).toBe("1");
  expect((await state.get(PathResource, "one")).metadata.version).toBe("3");
});

describe("loading", () => {
  test("that fails is tried again by the next call [state 173]", async () => {
    const store = new JsonBackingStore();
    await using before = over(store);
    await before.create(PathResource.create("one", {}));
    await using state = over(store);
    store.before = failing;
    await expect(state.get(PathResource, "one")).rejects.toThrow("disk full");
    await expect(state.watchKind(PathResource)).rejects.toThrow("disk full");
    await expect(state.create(PathResource.create("one", {}))).rejects.toThrow("disk full");
    store.before = undefined;
    expect((await state.get(PathResource, "one")).metadata.version).toBe("1");
  });

  test("that fails half-way leaves nothing behind", async () => {
    const full = new JsonBackingStore();
    await full.put(PathResource.create("one", {}));
    await full.put(PathResource.create("two", {}));
    let attempts = 0;
    const backingStore = {
      put: full.put.bind(full),
      destroy: full.destroy.bind(full),
      load: async (handler: (resource: typeof one) => void) => {
        if (++attempts === 1) {
          await full.load((resource) => {
            if (resource.metadata.id === "two") throw new Error("unreadable");
            handler(resource);
          });
        }
        await full.load(handler);
      },
    };
    const one = (await new MemoryState().create(PathResource.create("x", {}))) as Parameters<
      Parameters<JsonBackingStore["load"]>[0]
    >[0];
    await using state = new MemoryState({ backingStore: () => backingStore });
    await expect(state.list(PathResource)).rejects.toThrow("unreadable");
    const watch = await state.watchKind(PathResource, { tailEvents: 10 });
    expect([pending(watch), pending(watch), pending(watch)].map((event) => event?.resource?.metadata.id)).toEqual([
      "one",
      "two",
      undefined,
    ]);
  });

  test("of what a schema refuses leaves nothing behind either, and is tried again", async () => {
    const store = new JsonBackingStore();
    await store.put(Int.create("good", { value: 1 }));
    await store.put(createResource(Int.ref("odd"), { value: "odd" }));
    await using state = new MemoryState({ types: [Int], backingStore: () => store });
    for (let attempt = 0; attempt < 2; attempt++) await expect(state.list(Int)).rejects.toThrow("spec.value");
    await store.destroy(Int.ref("odd"));
    const watch = await state.watchKind(Int, { tailEvents: 10 });
    expect(pending(watch)?.resource?.metadata.id).toBe("good");
    expect(pending(watch)).toBeUndefined();
    expect(await state.list(Int)).toHaveLength(1);
  });

  test("refuses a store that gives one resource twice", async () => {
    const one = PathResource.create("one", {});
    const backingStore = {
      load: async (handler: (resource: typeof one) => void) => {
        handler(one);
        handler(one);
      },
      put: async () => undefined,
      destroy: async () => undefined,
    };
    await using state = new MemoryState({ backingStore: () => backingStore });
    await expect(state.list(PathResource)).rejects.toThrow("os/path(default/one) twice");
  });

  test("happens once, before the first call of any kind, however many come at once", async () => {
    const store = new JsonBackingStore();
    await store.put(patchMetadata(PathResource.create("one", {}), { version: "7" }));
    let loads = 0;
    const gate = Promise.withResolvers<void>();
    store.before = ({ operation }) => {
      if (operation !== "load") return undefined;
      loads++;
      return gate.promise;
    };
    await using state = over(store);
    expect(loads).toBe(0);
    const calls = [
      state.get(PathResource, "one"),
      state.list(PathResource),
      state.watchKind(PathResource, { bootstrap: true }),
      state.create(PathResource.create("two", {})),
    ] as const;
    gate.resolve();
    const [one, list] = await Promise.all(calls);
    expect(one.metadata.version).toBe("7");
    expect(list).toContainEqual(one);
    expect(loads).toBe(1);
  });

  test("of another namespace waits for its own first call", async () => {
    const loaded: string[] = [];
    const backingStore = (namespace: string) => {
      const store = new JsonBackingStore();
      store.before = ({ operation }) => void (operation === "load" && loaded.push(namespace));
      return store;
    };
    await using state = new MemoryState({ backingStore });
    await state.list(PathResource);
    expect(loaded).toEqual(["default"]);
    await state.list(PathResource.in("other"));
    expect(loaded).toEqual(["default", "other"]);
  });
});

describe("disposal", () => {
  test("waits for every write that was called before, those in line and those before the load included", async () => {
    for (const loaded of [true, false]) {
      const store = new JsonBackingStore();
      const state = over(store);
      if (loaded) await state.list(PathResource);
      const gate = Promise.withResolvers<void>();
      store.before = () => gate.promise;
      const writes = ["one", "two"].map((id) => state.create(PathResource.create(id, {})));
      let disposed = false;
      const disposal = Promise.resolve(state[Symbol.asyncDispose]()).then(() => (disposed = true));
      await expect(state.create(PathResource.create("late", {}))).rejects.toMatchObject({ code: "unavailable" });
      expect(disposed).toBe(false);
      gate.resolve();
      await disposal;
      expect([...store.texts.keys()].map((key) => key.slice(-4))).toEqual(["one)", "two)"]);
      for (const write of writes) expect((await write).metadata.version).toBe("1");
    }
  });

  test.each(["put", "load"] as const)(
    "ends within its grace when a %s never returns, and says what it was",
    async (hung) => {
      const clock = new ManualClock();
      const store = new JsonBackingStore();
      const gate = Promise.withResolvers<void>();
      store.before = ({ operation }) => (operation === hung ? gate.promise : undefined);
      const state = new MemoryState({ backingStore: () => store, clock, disposeGraceMs: 3_000 });
      const calls =
        hung === "put"
          ? ["one", "two"].map((id) => state.create(PathResource.create(id, {})))
          : [state.get(PathResource, "one"), state.list(PathResource), state.watchKind(PathResource)];
      const ends = calls.map((call) => call.then(String, String));
      await clock.settle();
      let disposed: unknown;
      const disposal = state[Symbol.asyncDispose]().catch((error: unknown) => (disposed = error));
      await clock.advance(2_999);
      expect(disposed).toBeUndefined();
      await clock.advance(1);
      await disposal;
      expect(disposed).toMatchObject({ code: "unavailable" });
      const names = hung === "put" ? "create of os/path(default/one), create of os/path(default/two)" : "its load";
      expect(String(disposed)).toContain(`did not finish within 3000 ms; perhaps not stored: ${names}`);
      expect(await Promise.all(ends)).toEqual(calls.map(() => String(disposed)));
      // What was in line behind it is not written when the store comes back.
      gate.resolve();
      await clock.settle();
      expect([...store.texts.keys()]).toEqual(hung === "put" ? ["os/path(default/one)"] : []);
      expect(clock.pending).toBe(0);
    },
  );

  test("waits for a write that its caller has left, the first of its namespace", async () => {
    const clock = new ManualClock();
    const store = new JsonBackingStore();
    const gate = Promise.withResolvers<void>();
    store.before = ({ operation }) => (operation === "put" ? gate.promise : undefined);
    const state = new MemoryState({ backingStore: () => store, clock });
    const stop = new AbortController();
    const write = state.create(PathResource.create("one", {}), { signal: stop.signal });
    await clock.settle();
    stop.abort();
    await expect(write).rejects.toBe(stop.signal.reason);
    let isDisposed = false;
    const disposal = state[Symbol.asyncDispose]().then(() => (isDisposed = true));
    await clock.settle();
    expect(isDisposed).toBe(false);
    gate.resolve();
    await disposal;
    expect([...store.texts.keys()]).toEqual(["os/path(default/one)"]);
  });

  test("names ten of the writes that hang, and counts the rest", async () => {
    const clock = new ManualClock();
    const store = new JsonBackingStore();
    const state = new MemoryState({ backingStore: () => store, clock, disposeGraceMs: 0 });
    store.before = () => new Promise<void>(() => undefined);
    for (let id = 0; id < 13; id++) state.create(PathResource.create(`p${id}`, {})).catch(() => undefined);
    const disposal = state[Symbol.asyncDispose]().catch(String);
    await clock.advance(0);
    expect(await disposal).toMatch(/p9\), 3 more$/);
    expect(() => new MemoryState({ disposeGraceMs: -1 })).toThrow(RangeError);
  });

  test("ends a watch that is consumed by its listener, and says so", async () => {
    const state = new MemoryState();
    const ends: string[] = [];
    const watch = await state.watchKind(PathResource);
    watch.onPending?.(
      () => undefined,
      () => ends.push("listened"),
    );
    const ended = await state.watchKind(PathResource);
    await state[Symbol.asyncDispose]();
    expect(ends).toEqual(["listened"]);
    ended.onPending?.(
      () => undefined,
      () => ends.push("too late to listen"),
    );
    await watch[Symbol.asyncDispose]();
    expect(ends).toEqual(["listened", "too late to listen"]);
  });
});

describe("an aborted call of a store that does not answer", () => {
  test("rejects at once; a write that was in line does not happen", async () => {
    const store = new JsonBackingStore();
    const gate = Promise.withResolvers<void>();
    store.before = () => gate.promise;
    const state = over(store);
    const stop = new AbortController();
    const { signal } = stop;
    const loading = [state.get(PathResource, "one", { signal }), state.list(PathResource, { signal })];
    const reason = new Error("enough");
    stop.abort(reason);
    for (const call of loading) await expect(call).rejects.toBe(reason);

    const second = new AbortController();
    const first = state.create(PathResource.create("first", {}));
    const inLine = state.create(PathResource.create("second", {}), { signal: second.signal });
    second.abort(reason);
    await expect(inLine).rejects.toBe(reason);
    gate.resolve();
    await first;
    await state[Symbol.asyncDispose]();
    expect([...store.texts.keys()]).toHaveLength(1);
  });
});
