import { describe, expect, test } from "vitest";
import {
  controller,
  destroyReady,
  exclusive,
  mapped,
  mappedDestroyReady,
  queueController,
  weak,
  type Mapper,
} from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { createTombstone, type AnyResourceType, type Resource } from "../src/resource/index.ts";
import { EventType, type Event, type State, wrapState } from "../src/state/index.ts";
import { Int, Str } from "../src/testing/index.ts";
import { HandWatchedState, startEngine, turns } from "./engine-fixture.ts";

const created = (resource: Resource, revision?: number): Event => ({ type: EventType.created, resource, revision });
const updated = (resource: Resource, old: Resource): Event => ({ type: EventType.updated, resource, old });
const destroyed = (resource: Resource): Event => ({ type: EventType.destroyed, resource });
const marker = (type: "Bootstrapped" | "Resynced", of: AnyResourceType): Event => ({
  type,
  resource: createTombstone({ namespace: of.namespace, type: of.type, id: "" }),
});

/** A State with three Ints, whose watch of them the test writes by hand. */
async function threeInts() {
  const memory = new MemoryState();
  const stored: Record<string, Resource> = {};
  for (const id of ["a", "b", "c"]) stored[id] = await memory.create(Int.create(id, { value: 1 }));
  const { a, b, c } = stored;
  if (a === undefined || b === undefined || c === undefined) throw new Error("an Int is missing");
  const handWatched = new HandWatchedState(memory, Int);
  const state: State = wrapState(handWatched);
  return { memory, handWatched, state, a, b, c };
}

describe.each([{ cache: [] }, { cache: [Int] }])("a watch that lost its place (cache: $cache.length)", ({ cache }) => {
  test("every primary is looked at again: what is there, what is new, and what has vanished", async () => {
    const { memory, handWatched, state, a, b, c } = await threeInts();
    const seen: string[] = [];
    const me = queueController({
      name: "Me",
      primary: Int,
      async reconcile({ ref, state: view }) {
        seen.push(`${ref.id} ${(await view.getOrNull(ref)) === undefined ? "gone" : "there"}`);
      },
    });
    await using engine = await startEngine(state, [me as never], { cache });
    await turns();
    const watch = handWatched.watchOf(Int);
    if (cache.length > 0) watch.push([created(a), created(b), created(c), marker("Bootstrapped", Int)]);
    await turns();
    expect(seen).toEqual(["a there", "b there", "c there"]);

    // While the watch is blind, one resource goes and another comes.
    seen.length = 0;
    await memory.destroy(Int.ref("b"));
    const d = await memory.create(Int.create("d", { value: 1 }));
    await turns();
    expect(seen).toEqual([]);
    watch.push([marker("Resynced", Int), created(a), created(c)]);
    await turns();
    watch.push([created(d), marker("Bootstrapped", Int)]);
    await turns();
    expect(seen.toSorted()).toEqual(["a there", "b gone", "c there", "d there"]);

    // Afterwards it is live again, and nothing vanishes twice.
    seen.length = 0;
    watch.push([updated(a, a)]);
    await turns();
    watch.push([marker("Resynced", Int), created(a), created(c), created(d), marker("Bootstrapped", Int)]);
    await turns();
    expect(seen.toSorted()).toEqual(["a there", "a there", "c there", "d there"]);
    await engine.stop();
  });

  test("every classic controller with such an input is woken once, also for destroy-ready ones", async () => {
    const { handWatched, state, a, b, c } = await threeInts();
    const inputs = { Weak: weak(Int), Id: weak(Int, "b"), Ready: destroyReady(Int), Other: weak(Str) };
    const controllers = Object.entries(inputs).map(([name, input]) =>
      controller({ name, inputs: [input as never], reconcile() {} }),
    );
    await using engine = await startEngine(state, controllers as never, { cache });
    await turns();
    const watch = handWatched.watchOf(Int);
    if (cache.length > 0) watch.push([created(a), created(b), created(c), marker("Bootstrapped", Int)]);
    await turns();
    watch.push([marker("Resynced", Int), marker("Bootstrapped", Int)]);
    await turns();
    const woken = Object.keys(inputs).map((name) => [name, engine.metric("controller_wakeups", name)]);
    expect(Object.fromEntries(woken)).toEqual({ Weak: 2, Id: 2, Ready: 2, Other: 1 });
    await engine.stop();
  });

  test.each([
    { kind: "mapped", make: (map: Mapper<"test/str">) => mapped(Int, map) },
    { kind: "mappedDestroyReady", make: (map: Mapper<"test/str">) => mappedDestroyReady(Int, map) },
  ] as const)("no primary that a vanished $kind input concerned is forgotten", async ({ make }) => {
    const { memory, handWatched, state, a, b, c } = await threeInts();
    await memory.create(Str.create("of b", { value: "" }));
    const seen: string[] = [];
    const me = queueController({
      name: "Me",
      primary: Str,
      inputs: [make((int) => [Str.ref(`of ${int.id}`)])],
      reconcile: ({ ref }) => void seen.push(ref.id),
    });
    await using engine = await startEngine(state, [me as never], { cache });
    await turns();
    const watch = handWatched.watchOf(Int);
    if (cache.length > 0) watch.push([created(a), created(b), created(c), marker("Bootstrapped", Int)]);
    await turns();
    expect(seen).toEqual(["of b"]);
    seen.length = 0;
    watch.push([marker("Resynced", Int), created(a), created(c), marker("Bootstrapped", Int)]);
    await turns();
    expect(seen).toContain("of b");
    await engine.stop();
  });
});

describe("a cache", () => {
  test("serves its old contents until the new ones are complete", async () => {
    const { handWatched, state, a, b, c } = await threeInts();
    await using engine = await startEngine(state, [], { cache: [Int] });
    await turns();
    const watch = handWatched.watchOf(Int);
    const cached = wrapState(engine.runtime.cachedState());
    const first = cached.list(Int);
    watch.push([created(a), created(b), marker("Bootstrapped", Int)]);
    const ids = (list: readonly Resource[]) => list.map(({ metadata }) => metadata.id);
    expect(ids(await first)).toEqual(["a", "b"]);
    watch.push([marker("Resynced", Int), created(b)]);
    await turns();
    expect(ids(await cached.list(Int))).toEqual(["a", "b"]);
    watch.push([created(c), marker("Bootstrapped", Int)]);
    await turns();
    expect(ids(await cached.list(Int))).toEqual(["b", "c"]);
    expect(engine.metric("cached_resources", "test/int")).toBe(2);
    await engine.stop();
  });

  test("that lags behind is waited for: a controller reads its own writes", async () => {
    const memory = new MemoryState();
    const lagging = new HandWatchedState(memory, Int);
    const reads: (string | undefined)[] = [];
    const steps: string[] = [];
    const me = controller({
      name: "Me",
      outputs: [exclusive(Int)],
      async reconcile({ state }) {
        await state.create(Int.create("x", { value: 1 }));
        steps.push("created");
        reads.push((await state.getOrNull(Int, "x"))?.metadata.version);
        await state.modify(Int, "x", () => ({ value: 2 }));
        steps.push("modified");
        reads.push(`${(await state.list(Int)).length} of version ${(await state.get(Int, "x")).metadata.version}`);
        await state.destroy(Int.ref("x"));
        steps.push("destroyed");
        reads.push((await state.getOrNull(Int, "x"))?.metadata.version);
      },
    });
    await using engine = await startEngine(wrapState(lagging), [me as never], { cache: [Int] });
    await turns();
    const watch = lagging.watchOf(Int);
    watch.push([marker("Bootstrapped", Int)]);
    await turns();
    expect([steps, reads]).toEqual([["created"], []]);
    const one = await memory.get(Int.ref("x"));
    watch.push([created(one)]);
    await turns();
    expect([steps, reads]).toEqual([["created", "modified"], ["1"]]);
    const two = await memory.get(Int.ref("x"));
    watch.push([updated(two, one)]);
    await turns();
    expect([steps, reads]).toEqual([
      ["created", "modified", "destroyed"],
      ["1", "1 of version 2"],
    ]);
    watch.push([destroyed(two)]);
    await turns();
    expect(reads).toEqual(["1", "1 of version 2", undefined]);
    await engine.stop();
  });

  test("can be asked for a version that somebody else has written", async () => {
    const memory = new MemoryState();
    const lagging = new HandWatchedState(memory, Int);
    const read = Promise.withResolvers<number>();
    const me = controller({
      name: "Me",
      inputs: [weak(Int)],
      async reconcile({ state }) {
        read.resolve((await state.get(Int, "x", { atLeast: "2" })).spec.value);
      },
    });
    const first = await memory.create(Int.create("x", { value: 1 }));
    const second = await memory.updateWithConflicts(Int, "x", () => ({ value: 2 }));
    await using engine = await startEngine(wrapState(lagging), [me as never], { cache: [Int] });
    await turns();
    lagging.watchOf(Int).push([created(first), marker("Bootstrapped", Int)]);
    await turns();
    lagging.watchOf(Int).push([updated(second, first)]);
    expect(await read.promise).toBe(2);
    await engine.stop();
  });

  test("counts changes as the State does: what one has seen can be asked of the other", async () => {
    const state = new MemoryState();
    await state.create(Int.create("x", { value: 1 }));
    await using engine = await startEngine(state, [], { cache: [Int, Str] });
    await turns();
    const cached = wrapState(engine.runtime.cachedState());
    const revisions = async (kind: typeof Int | typeof Str) => [
      (await state.list(kind)).revision,
      (await cached.list(kind)).revision,
    ];
    expect([await revisions(Int), await revisions(Str)]).toEqual([
      [1, 1],
      [0, 0],
    ]);
    await state.updateWithConflicts(Int, "x", () => ({ value: 2 }));
    await state.destroy(Int.ref("x"));
    expect(await revisions(Int)).toEqual([3, 3]);
    expect(await cached.list(Int, { atLeast: 3 })).toHaveLength(0);
    const later = cached.list(Int, { atLeast: 4 });
    await state.create(Int.create("y", { value: 1 }));
    expect((await later).map(({ metadata }) => metadata.id)).toEqual(["y"]);
    await engine.stop();
  });
});
