import { describe, expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import { queueController, requeueAfter, RequeueError, type ReconcileResult } from "../../controller/index.ts";
import { silentLogger } from "../../log/index.ts";
import { MemoryState } from "../../memory/index.ts";
import { Int } from "../../testing/index.ts";
import { Runtime } from "../runtime.ts";

const again: Readonly<Record<string, () => ReconcileResult>> = {
  "requeueAfter(0)": () => requeueAfter(0),
  "RequeueError(0)": () => {
    throw new RequeueError(0);
  },
};

describe.each(Object.entries(again))("%s", (_, ask) => {
  test("is at once, behind what is due already, and counts as a requeue", async () => {
    const clock = new ManualClock();
    const state = new MemoryState({ clock });
    const runs: string[] = [];
    const me = queueController({
      name: "Me",
      primary: Int,
      reconcile({ ref }) {
        runs.push(ref.id);
        return runs.length < 6 ? ask() : undefined;
      },
    });
    await using runtime = new Runtime(state, { controllers: [me], clock, logger: silentLogger });
    for (const id of ["a", "b"]) await state.create(Int.create(id, { value: 1 }));
    void runtime.run();
    await clock.settle();
    expect(runs).toEqual(["a", "b", "a", "b", "a", "b", "a"]);
    expect(clock.monotonic()).toBe(0);
    expect(runtime.metrics.value("qcontroller_requeues", "Me")).toBe(5);
    const [explanation] = (await runtime.explain(Int.ref("a"))).controllers;
    expect(explanation?.outcomes.map(({ kind, againAfterMs }) => [kind, againAfterMs])).toEqual([
      ["requeued", 0],
      ["requeued", 0],
      ["requeued", 0],
      ["done", undefined],
    ]);
  });

  test("for ever leaves timers their turn", async () => {
    const state = new MemoryState();
    const stop = new AbortController();
    let runs = 0;
    const me = queueController({ name: "Me", primary: Int, reconcile: () => (runs++, ask()) });
    await using runtime = new Runtime(state, { controllers: [me], logger: silentLogger });
    const running = runtime.run({ signal: stop.signal });
    await state.create(Int.create("a", { value: 1 }));
    for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    expect(runs).toBeGreaterThan(20);
    stop.abort();
    await running;
  });
});

test("with a failure behind it, RequeueError(0) leaves the time to the backoff", async () => {
  const clock = new ManualClock();
  const state = new MemoryState({ clock });
  const runs: number[] = [];
  const me = queueController({
    name: "Me",
    primary: Int,
    reconcile() {
      runs.push(clock.monotonic());
      throw new RequeueError(0, new Error("broken"));
    },
  });
  await using runtime = new Runtime(state, { controllers: [me], clock, random: () => 0.5, logger: silentLogger });
  await state.create(Int.create("a", { value: 1 }));
  void runtime.run();
  await clock.advance(1_300);
  expect(runs).toEqual([0, 500, 1_250]);
});
