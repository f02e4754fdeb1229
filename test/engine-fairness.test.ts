import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import {
  controller,
  exclusive,
  queueController,
  requeueAfter,
  weak,
  type Controller,
  type QueueController,
} from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { defineResource, shape, type ResourceType } from "../src/resource/index.ts";
import { eventually, Int, type IntSpec } from "../src/testing/index.ts";
import { startEngine, turns } from "./engine-fixture.ts";

describe("a controller that keeps itself busy for ever", () => {
  const rewriting: Controller = controller({
    name: "Busy",
    inputs: [weak(Int)],
    outputs: [exclusive(Int)],
    async reconcile({ state }) {
      await state.modify(Int, "x", ({ value = 0 }) => ({ value: value + 1 }));
    },
  });
  const rewritingItsKey: QueueController = queueController({
    name: "Busy",
    primary: Int,
    outputs: [exclusive(Int)],
    async reconcile({ ref, state }) {
      await state.modify(Int, ref.id, ({ value = 0 }) => ({ value: value + 1 }));
    },
  });
  const wakingItself: Controller = controller({
    name: "Busy",
    reconcile({ queueReconcile }) {
      queueReconcile();
    },
  });

  test.each([
    ["a classic one that rewrites its input", rewriting, ["controller_wakeups", "controller_writes"]],
    ["a queue one that rewrites its key", rewritingItsKey, ["qcontroller_processed", "controller_writes"]],
    ["one that wakes itself", wakingItself, ["controller_wakeups"]],
  ] as const)("%s has a share of each turn of the event loop, and shows in the metrics", async (_, self, metrics) => {
    const yieldEvery = 5;
    const state = new MemoryState();
    await state.create(Int.create("x", { value: 0 }), { owner: "Busy" });
    await using engine = await startEngine(state, [self], { yieldEvery });
    const counts = () => metrics.map((metric) => engine.metric(metric, "Busy"));
    await eventually(() => expect(Math.min(...counts())).toBeGreaterThan(10));
    // Timers and sockets have their turn in between: each turn of the loop comes after no more than a share of runs.
    const shares: number[] = [];
    for (let turn = 0; turn < 100; turn++) {
      const before = counts();
      await turns(1);
      shares.push(...counts().map((count, index) => count - (before[index] ?? NaN)));
    }
    expect(Math.max(...shares)).toBeLessThanOrEqual(2 * yieldEvery);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeGreaterThanOrEqual(50);
    await engine.stop();
  });

  test("a long queue is worked on in many turns of the event loop, however short its runs", async () => {
    const state = new MemoryState();
    const keys = 5_000;
    let done = 0;
    for (let value = 0; value < keys; value++) await state.create(Int.create(String(value), { value }));
    await using engine = await startEngine(
      state,
      [
        queueController({
          name: "Q",
          primary: Int,
          async reconcile() {
            done++;
          },
        }),
      ],
      { yieldEvery: 50 },
    );
    let turnsTaken = 0;
    while (done < keys) {
      await turns(1);
      turnsTaken++;
    }
    expect(turnsTaken).toBeGreaterThanOrEqual(keys / 50);
    await engine.stop();
  });
});

describe("queue controllers that always have something to do", () => {
  test.each([1, 10])("leave others their share, with %s workers", async (concurrency) => {
    const state = new MemoryState();
    const runs: Record<string, number> = {};
    // Each has more keys that are due than may run in one turn of the event loop.
    const names = ["A", "B", "C"];
    for (const name of names) {
      for (let key = 0; key < 20; key++) await state.create(Int.in(name).create(String(key), { value: 0 }));
    }
    const busy = names.map((name) =>
      queueController({
        name,
        primary: Int.in(name),
        concurrency,
        async reconcile() {
          runs[name] = (runs[name] ?? 0) + 1;
          await Promise.resolve();
          // Due again at once: the time that passes is none.
          return requeueAfter(Number.MIN_VALUE);
        },
      }),
    );
    await using engine = await startEngine(state, busy, { yieldEvery: 5 });
    await eventually(() => expect(runs).toMatchObject({ A: expect.any(Number) }));
    await turns(300);
    const least = Math.min(...names.map((name) => runs[name] ?? 0));
    const most = Math.max(...names.map((name) => runs[name] ?? 0));
    expect(most).toBeGreaterThan(100);
    expect(least).toBeGreaterThan(most / 2);
    await engine.stop();
  });
});

describe("2,000 resources with 4 dependants each that change all at once", () => {
  const PARENTS = 2_000;
  const ROUNDS = 10;
  const dependants: readonly ResourceType<IntSpec, string>[] = ["A", "B", "C", "D"].map((letter) =>
    defineResource({ type: `Dependants${letter}.test`, spec: shape({ value: "integer" }) }),
  );

  function heapBytes(): number {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    collect();
    return process.memoryUsage().heapUsed;
  }

  test("converge, with the default history and bounded memory", async () => {
    const state = new MemoryState();
    const controllers = dependants.map((type) =>
      queueController({
        name: `${type.type} controller`,
        primary: Int,
        outputs: [exclusive(type)],
        concurrency: 8,
        async reconcile({ ref, state: view }) {
          const parent = await view.getOrNull(ref);
          if (parent !== undefined) await view.modify(type, ref.id, () => ({ value: parent.spec.value }));
        },
      }),
    );
    await using engine = await startEngine(state, controllers);
    const ids = Array.from({ length: PARENTS }, (_, index) => String(index));
    await Promise.all(ids.map((id) => state.create(Int.create(id, { value: 0 }))));
    const converged = (value: number) =>
      eventually(
        async () => {
          for (const type of dependants) {
            const list = await state.list(type);
            expect(list.length).toBe(PARENTS);
            expect(list.filter(({ spec }) => spec.value !== value).length).toBe(0);
          }
        },
        { timeoutMs: 20_000, intervalMs: 100 },
      );
    await converged(0);
    const before = heapBytes();
    for (let round = 1; round <= ROUNDS; round++) {
      await Promise.all(ids.map((id) => state.updateWithConflicts(Int.ref(id), () => ({ value: round }))));
    }
    await converged(ROUNDS);
    // 10,000 resources changed, most of them several times; what stays is one of each and the bounded histories.
    expect(heapBytes() - before).toBeLessThan(20 * 2 ** 20);
    for (const type of dependants) {
      expect(engine.metric("qcontroller_queue_length", `${type.type} controller`)).toBe(0);
      expect(engine.metric("qcontroller_crashes", `${type.type} controller`)).toBe(0);
    }
    // The engine is alive: one more change goes through.
    await state.create(Int.create("one more", { value: 7 }));
    for (const type of dependants) {
      await eventually(async () => expect((await state.get(type, "one more")).spec.value).toBe(7));
    }
    await engine.stop();
  });
});
