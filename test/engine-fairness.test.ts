import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import {
  controller,
  exclusive,
  queueController,
  weak,
  type Controller,
  type QueueController,
} from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { defineResource, shape, type ResourceType } from "../src/resource/index.ts";
import { eventually, Int, type IntSpec } from "../src/testing/index.ts";
import { startEngine } from "./engine-fixture.ts";

/** By how much 10 ms timers come late, sorted. */
async function timerDelaysMs(count: number): Promise<number[]> {
  const delays: number[] = [];
  for (let index = 0; index < count; index++) {
    const start = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 10));
    delays.push(performance.now() - start - 10);
  }
  return delays.sort((a, b) => a - b);
}

describe("a controller that rewrites its own input for ever", () => {
  const classic: Controller = controller({
    name: "Ouroboros",
    inputs: [weak(Int)],
    outputs: [exclusive(Int)],
    async reconcile({ state }) {
      await state.modify(Int, "x", (spec) => ({ value: spec.value + 1 }));
    },
  });
  const queue: QueueController = queueController({
    name: "Ouroboros",
    primary: Int,
    outputs: [exclusive(Int)],
    async reconcile({ ref, state }) {
      await state.modify(Int, ref.id, (spec) => ({ value: spec.value + 1 }));
    },
  });

  test.each([
    ["a classic one", classic, "controller_wakeups"],
    ["a queue one", queue, "qcontroller_processed"],
  ] as const)("%s delays a 10 ms timer by less than 5 ms, and shows in the metrics", async (_, self, metric) => {
    const state = new MemoryState();
    await state.create(Int.create("x", { value: 0 }), { owner: "Ouroboros" });
    await using engine = await startEngine(state, [self]);
    await eventually(() => expect(engine.metric(metric, "Ouroboros")).toBeGreaterThan(10));
    const before = engine.metric(metric, "Ouroboros");
    const delaysMs = await timerDelaysMs(40);
    // The median: what else this machine does must not decide.
    expect(delaysMs[delaysMs.length / 2]).toBeLessThan(5);
    expect(engine.metric(metric, "Ouroboros")).toBeGreaterThan(before + 40);
    expect(engine.metric("controller_writes", "Ouroboros")).toBeGreaterThan(40);
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
