import { describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import { mapped, queueController, type QueueController, type ReducedMetadata } from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { createTombstone, equal, type Resource } from "../src/resource/index.ts";
import { EventType, wrapState, type Event } from "../src/state/index.ts";
import { Int, Str } from "../src/testing/index.ts";
import { HandWatchedState, startEngine } from "./engine-fixture.ts";

const byLabel = ({ labels }: ReducedMetadata) => {
  const of = labels["of"];
  return of === undefined ? [] : [Int.ref(of)];
};

/** Counts, for each Int, the Strs that carry its id as a label. */
async function counting(options: { map?: typeof byLabel; cache?: (typeof Str)[] } = {}) {
  const clock = new ManualClock();
  const state = new MemoryState({ clock });
  const counts: Record<string, number> = {};
  const me = queueController({
    name: "Counter",
    primary: Int,
    inputs: [mapped(Str, options.map ?? byLabel)],
    async reconcile({ ref, state: view }) {
      counts[ref.id] = (await view.list(Str, { labels: [equal("of", ref.id)] })).length;
    },
  }) as QueueController;
  const engine = await startEngine(state, [me], { clock, random: () => 0.5, cache: options.cache ?? [] });
  for (const id of ["a", "b", "c"]) await state.create(Int.create(id, { value: 1 }));
  const label = (of: string | undefined) =>
    state.modify(Str, "x", (spec, metadata) => {
      spec.value = "";
      if (of === undefined) delete metadata.labels["of"];
      else metadata.labels["of"] = of;
    });
  return { clock, state, counts, engine, label };
}

describe.each([{ cache: [] }, { cache: [Str] }])("a mapped input (cache: $cache.length)", ({ cache }) => {
  test("wakes the primaries of its labels before and after a change, and when it goes", async () => {
    const { clock, state, counts, engine, label } = await counting({ cache });
    await label("a");
    await clock.settle();
    expect(counts).toEqual({ a: 1, b: 0, c: 0 });
    await label("b");
    await clock.settle();
    expect(counts).toEqual({ a: 0, b: 1, c: 0 });
    await label(undefined);
    await clock.settle();
    expect(counts).toEqual({ a: 0, b: 0, c: 0 });
    await label("c");
    await clock.settle();
    await state.destroy(Str.ref("x"));
    await clock.settle();
    expect(counts).toEqual({ a: 0, b: 0, c: 0 });
    await engine.stop();
  });

  test("wakes both when it is destroyed and created anew under another primary in one turn", async () => {
    const { clock, state, counts, engine, label } = await counting({ cache });
    await label("a");
    await clock.settle();
    await state.destroy(Str.ref("x"));
    await label("b");
    await clock.settle();
    expect(counts).toEqual({ a: 0, b: 1, c: 0 });
    await engine.stop();
  });

  test("wakes all that it passed in one turn: each may have been looked at meanwhile", async () => {
    const { clock, engine, label, state } = await counting({ cache });
    await label("a");
    await clock.settle();
    const before = engine.metric("qcontroller_processed", "Counter");
    for (const of of ["b", "c", "a", "b"]) await label(of);
    await clock.settle();
    expect(engine.metric("qcontroller_processed", "Counter") - before).toBe(3);
    await state.modify(Str, "x", (spec) => void (spec.value = "only the spec"));
    await clock.settle();
    expect(engine.metric("qcontroller_processed", "Counter") - before).toBe(4);
    await engine.stop();
  });
});

test("a mapper that sees more than labels is asked before and after as well", async () => {
  const running = ({ phase, labels }: ReducedMetadata) => (phase === "running" ? [Int.ref(labels["of"] ?? "")] : []);
  const { clock, state, engine, label } = await counting({ map: running });
  await label("a");
  await clock.settle();
  const before = engine.metric("qcontroller_processed", "Counter");
  await state.teardown(Str.ref("x"));
  await clock.settle();
  expect(engine.metric("qcontroller_processed", "Counter") - before).toBe(1);
  await engine.stop();
});

test("a mapper that fails forgets nothing that it has to map", async () => {
  let isBroken = false;
  const { clock, counts, engine, label } = await counting({
    map: (input) => {
      if (isBroken) throw new Error("not now");
      return byLabel(input);
    },
  });
  await label("a");
  await clock.settle();
  isBroken = true;
  await label("b");
  await clock.settle();
  await label("c");
  await clock.settle();
  isBroken = false;
  await clock.advance(120_000);
  expect(counts).toEqual({ a: 0, b: 0, c: 1 });
  await engine.stop();
});

test("one that fails through more changes than are kept has all primaries looked at", async () => {
  let isBroken = true;
  const { clock, counts, engine, label } = await counting({
    map: (input) => {
      if (isBroken) throw new Error("not now");
      return byLabel(input);
    },
  });
  await label("a");
  await clock.settle();
  counts["a"] = -1;
  for (let at = 0; at < 200; at++) {
    await label(`of ${at}`);
    await clock.settle();
  }
  isBroken = false;
  await clock.advance(120_000);
  expect(counts["a"]).toBe(0);
  await engine.stop();
});

const created = (resource: Resource): Event => ({ type: EventType.created, resource });
const marker = (type: "Bootstrapped" | "Resynced", of: typeof Int | typeof Str): Event => ({
  type,
  resource: createTombstone({ namespace: of.namespace, type: of.type, id: "" }),
});

describe("through a resync", () => {
  test.each([{ cache: [] }, { cache: [Str] }])(
    "a mapped input that changed its labels wakes the primaries of both (cache: $cache.length)",
    async ({ cache }) => {
      const clock = new ManualClock();
      const memory = new MemoryState({ clock });
      const hand = new HandWatchedState(memory, Str);
      const seen: string[] = [];
      const me = queueController({
        name: "Me",
        primary: Int,
        inputs: [mapped(Str, byLabel)],
        reconcile: ({ ref }) => void seen.push(ref.id),
      }) as QueueController;
      for (const id of ["a", "b", "c"]) await memory.create(Int.create(id, { value: 1 }));
      const old = await memory.create(Str.create("x", { value: "" }, { labels: { of: "a" } }));
      await using engine = await startEngine(wrapState(hand), [me], { clock, cache });
      await clock.settle();
      const watch = hand.watchOf(Str);
      if (cache.length > 0) watch.push([created(old), marker("Bootstrapped", Str)]);
      await clock.settle();
      seen.length = 0;
      const now = await memory.modify(Str, "x", (_, metadata) => void (metadata.labels["of"] = "b"));
      watch.push([marker("Resynced", Str), created(now), marker("Bootstrapped", Str)]);
      await clock.settle();
      expect(seen).toEqual(expect.arrayContaining(["a", "b"]));
      // Without a cache nobody knows where it was: then all of them are looked at.
      expect(seen.includes("c")).toBe(cache.length === 0);
      await engine.stop();
    },
  );

  test("a primary that was looked at through a mapping is told that it vanished", async () => {
    const clock = new ManualClock();
    const memory = new MemoryState({ clock });
    const hand = new HandWatchedState(memory, Int);
    const seen: string[] = [];
    const me = queueController({
      name: "Me",
      primary: Int,
      inputs: [mapped(Str, byLabel)],
      async reconcile({ ref, state }) {
        seen.push(`${ref.id} ${(await state.getOrNull(ref)) === undefined ? "gone" : "there"}`);
      },
    }) as QueueController;
    await using engine = await startEngine(wrapState(hand), [me], { clock });
    await clock.settle();
    // Its watch is blind from here on; only the mapped input leads to it.
    await memory.create(Int.create("a", { value: 1 }));
    await memory.create(Str.create("x", { value: "" }, { labels: { of: "a" } }));
    await clock.settle();
    await memory.destroy(Int.ref("a"));
    await clock.settle();
    expect(seen).toEqual(["a there"]);
    hand.watchOf(Int).push([marker("Resynced", Int), marker("Bootstrapped", Int)]);
    await clock.settle();
    expect(seen).toEqual(["a there", "a gone"]);
    await engine.stop();
  });
});
