import { describe, expect, test } from "vitest";
import { controller, exclusive, strong } from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { EventType, wrapState } from "../src/state/index.ts";
import { eventually, InterceptedState, Int, intToStrController, Str } from "../src/testing/index.ts";
import { gate, HandWatchedState, startEngine, turns } from "./engine-fixture.ts";

const createInts = (state: MemoryState, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, value) => state.create(Int.create(String(value), { value }))));

const strCount = async (state: MemoryState): Promise<number> => (await state.list(Str)).length;

describe("a watch that falls behind", () => {
  test("in strict mode it ends the engine, which names the cause [engine T-15]", async () => {
    const memory = new MemoryState({ history: { maxCapacity: 10, gap: 5 }, overrun: "error" });
    // In this process a watch never lags behind: it must look like one of another process.
    const remote = new InterceptedState(memory, { remote: true });
    await using engine = await startEngine(wrapState(remote), []);
    await engine.runtime.register(intToStrController("default", "default"));
    await createInts(memory, 10_000);
    await expect(engine.ended).rejects.toThrow(/^controller runtime watch error.*buffer overrun: namespace "default"/);
    expect(await memory.list(Int)).toHaveLength(10_000);
    expect(remote.openWatches).toEqual([]);
  });

  test("by default it goes on with the present contents, and nothing is missed", async () => {
    const memory = new MemoryState({ history: { maxCapacity: 10, gap: 5 } });
    const remote = new InterceptedState(memory, { remote: true });
    await using engine = await startEngine(wrapState(remote), [intToStrController("default", "default")]);
    await turns();
    await createInts(memory, 1_000);
    await eventually(async () => expect(await strCount(memory)).toBe(1_000));
    // Live events follow the resynchronisation.
    await memory.create(Int.create("one more", { value: 1 }));
    await eventually(async () => expect(await strCount(memory)).toBe(1_001));
    await engine.stop();
  });

  test("updating ten inputs for 2,000 rounds does not overrun the default history [engine T-16]", async () => {
    const rounds = 2_000;
    const memory = new MemoryState({ overrun: "error" });
    await using engine = await startEngine(memory, [intToStrController("default", "default")]);
    const ids = Array.from({ length: 10 }, (_, index) => String(index));
    await createInts(memory, ids.length);
    await eventually(async () => expect((await memory.get(Str, "9")).spec.value).toBe("9"));
    for (let round = 0; round < rounds; round++) {
      await Promise.all(ids.map((id) => memory.updateWithConflicts(Int.ref(id), () => ({ value: round }))));
      await turns(1);
    }
    await eventually(async () => {
      const strs = await memory.list(Str);
      expect(strs.map(({ spec }) => spec.value)).toEqual(ids.map(() => String(rounds - 1)));
    });
    await engine.stop();
  });

  test("a controller that is busy does not hold up the reading of events", async () => {
    const busy = gate();
    const seen: number[] = [];
    const memory = new MemoryState({ overrun: "error" });
    const blocked = controller({
      name: "BlockedController",
      inputs: [strong(Int)],
      outputs: [exclusive(Str)],
      async reconcile({ state }) {
        await busy.opened;
        seen.push((await state.list(Int)).length);
      },
    });
    await using engine = await startEngine(memory, [blocked]);
    await turns();
    for (let value = 0; value < 10_000; value++) await memory.create(Int.create(String(value), { value }));
    await turns();
    expect(engine.metric("controller_wakeups", "BlockedController")).toBe(2);
    busy.open();
    await eventually(() => expect(seen).toEqual([10_000, 10_000]));
    await engine.stop();
  });
});

describe("a watch that fails", () => {
  test("ends the engine: it stops everything, waits for it, and fails with the first error", async () => {
    const hand = new HandWatchedState(new MemoryState(), Int, Str);
    const unwinding = gate();
    let ended = false;
    const slow = controller({
      name: "SlowController",
      inputs: [strong(Int), strong(Str)],
      async run({ signal }) {
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        await unwinding.opened;
        ended = true;
      },
    });
    await using engine = await startEngine(wrapState(hand), [slow]);
    await turns();
    let settled = false;
    engine.ended.then(
      () => (settled = true),
      () => (settled = true),
    );
    hand.watchOf(Int).push([{ type: EventType.errored, error: new Error("the store is gone") }]);
    await turns();
    hand.watchOf(Str).push([{ type: EventType.errored, error: new Error("the other store is gone") }]);
    await turns();
    expect(settled).toBe(false);
    unwinding.open();
    await expect(engine.ended).rejects.toThrow(/^controller runtime watch error.*the store is gone/);
    expect(ended).toBe(true);
  });
});
