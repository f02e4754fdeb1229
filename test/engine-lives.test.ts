import { expect, test } from "vitest";
import { controller, strong } from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { createTombstone, type Resource } from "../src/resource/index.ts";
import { EventType, wrapState, type Event, type TeardownSignal } from "../src/state/index.ts";
import { Int } from "../src/testing/index.ts";
import { HandWatchedState, startEngine, turns } from "./engine-fixture.ts";

// Waits and writes of a life whose cache lags behind, or lost its place.

const ref = Int.ref("one");
const created = (resource: Resource): Event => ({ type: EventType.created, resource });
const marker = (type: "Bootstrapped" | "Resynced"): Event => ({
  type,
  resource: createTombstone({ namespace: Int.namespace, type: Int.type, id: "" }),
});

/** An engine whose cache of Ints shows what the test writes, and a controller that opens signals. */
async function cachedInts() {
  const memory = new MemoryState();
  const handWatched = new HandWatchedState(memory, Int);
  const first = await memory.create(Int.create("one", { value: 1 }));
  const open: { signal?: (resource?: Resource) => Promise<TeardownSignal> } = {};
  const me = controller({
    name: "Me",
    inputs: [strong(Int)],
    async run({ state, signal }) {
      open.signal = (resource) => state.signalWithTeardown(resource === undefined ? ref : (resource.metadata as never));
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  const engine = await startEngine(wrapState(handWatched), [me as never], { cache: [Int] });
  await turns();
  const watch = handWatched.watchOf(Int);
  watch.push([created(first), marker("Bootstrapped")]);
  await turns();
  const recreate = async (): Promise<Resource> => {
    await memory.destroy(ref);
    return memory.create(Int.create("one", { value: 2 }));
  };
  const signalFor = async (resource?: Resource): Promise<TeardownSignal> => {
    if (open.signal === undefined) throw new Error("the controller does not run");
    return open.signal(resource);
  };
  return { engine, watch, first, recreate, signalFor };
}

test("a cached signal aborts when a resync shows another life at its address", async () => {
  const { engine, watch, recreate, signalFor } = await cachedInts();
  await using _ = engine;
  await using signal = await signalFor();
  const second = await recreate();
  watch.push([marker("Resynced"), created(second), marker("Bootstrapped")]);
  await turns();
  expect(signal.signal.aborted).toBe(true);
  await using next = await signalFor(second);
  expect(next.signal.aborted).toBe(false);
});

test("a signal for a life that a cache lags behind is served by the State", async () => {
  const { engine, first, recreate, signalFor } = await cachedInts();
  await using _ = engine;
  const second = await recreate();
  await using present = await signalFor(second);
  await using late = await signalFor(first);
  await turns();
  expect(present.signal.aborted).toBe(false);
  // The cache still has it, and will learn of its end.
  expect(late.signal.aborted).toBe(false);
});

test("what names a life that the cache lags behind acts on the State", async () => {
  const { engine, first, recreate } = await cachedInts();
  await using _ = engine;
  const second = await recreate();
  const view = engine.runtime.cachedState();
  expect((await view.get(ref)).metadata.created).toBe(first.metadata.created);
  const lives = wrapState(view);
  await lives.addFinalizer(second.metadata, "f");
  expect((await view.get(second.metadata)).metadata.finalizers).toEqual(["f"]);
  await expect(lives.update(first)).rejects.toMatchObject({ code: "version_conflict" });
});

test("the finalizer of a life that is over is gone: to remove it is fine, to add one is not", async () => {
  const memory = new MemoryState();
  const first = await memory.create(Int.create("one", { value: 1 }));
  await memory.destroy(ref);
  const second = await memory.create(Int.create("one", { value: 2 }, { finalizers: ["Me"] }));
  const outcomes: unknown[] = [];
  const me = controller({
    name: "Me",
    inputs: [strong(Int)],
    async run({ state, signal }) {
      outcomes.push(await state.removeFinalizer(first.metadata as never, "Me"));
      outcomes.push(await state.addFinalizer(first.metadata as never, "Me").catch((error: unknown) => error));
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  await using _ = await startEngine(memory, [me as never]);
  await turns();
  expect(outcomes).toEqual([undefined, expect.objectContaining({ code: "version_conflict" })]);
  expect(await memory.get(ref)).toBe(second);
});
