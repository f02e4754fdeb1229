import { describe, expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import {
  controller,
  requeueAfter,
  RequeueError,
  skip,
  SkipError,
  weak,
  type Controller,
  type ReconcileResult,
} from "../../controller/index.ts";
import { silentLogger } from "../../log/index.ts";
import { MemoryState } from "../../memory/index.ts";
import { Int } from "../../testing/index.ts";
import { Runtime } from "../runtime.ts";

const toss = (error: unknown): never => {
  throw error;
};

/** Runs a controller for four seconds; says when it ran, and how that ended. */
async function runsOf(make: (ran: () => number) => Controller) {
  const clock = new ManualClock();
  const state = new MemoryState({ clock });
  const runs: number[] = [];
  const me = make(() => runs.push(clock.monotonic()));
  await using runtime = new Runtime(state, { controllers: [me], clock, random: () => 0.5, logger: silentLogger });
  const running = runtime.run();
  await clock.advance(4_000);
  const [explanation] = (await runtime.explain(Int.ref("a"))).controllers;
  if (explanation === undefined) throw new Error("the controller is not there");
  const kinds = explanation.outcomes.map(({ kind }) => kind);
  const value = (metric: string) => runtime.metrics.value(metric, "Me");
  const atFour = runs.slice();
  await state.create(Int.create("a", { value: 1 }));
  await clock.settle();
  const wokenBy = runs.length - atFour.length;
  await runtime[Symbol.asyncDispose]();
  await running;
  expect(clock.pending).toBe(0);
  return {
    runs: atFour,
    kinds,
    wokenBy,
    explanation,
    crashes: value("controller_crashes"),
    skips: value("controller_skips"),
    requeues: value("controller_requeues"),
  };
}

const reconciling = (say: (run: number) => ReconcileResult | Promise<ReconcileResult>) =>
  runsOf((ran) => controller({ name: "Me", inputs: [weak(Int)], reconcile: () => say(ran()) }) as Controller);

const looping = (say: (run: number) => void) =>
  runsOf(
    (ran) =>
      controller({
        name: "Me",
        inputs: [weak(Int)],
        async run({ wakeups }) {
          for await (const _ of wakeups) say(ran());
        },
      }) as Controller,
  );

describe("a classic controller runs again when it asked for it", () => {
  test.each([
    ["reconcile returns requeueAfter", () => reconciling(() => requeueAfter(1_500))],
    ["reconcile resolves to requeueAfter", () => reconciling(async () => requeueAfter(1_500))],
    ["reconcile throws RequeueError", () => reconciling(() => toss(new RequeueError(1_500)))],
    ["run throws RequeueError", () => looping(() => toss(new RequeueError(1_500)))],
  ])("%s", async (_, run) => {
    const { runs, kinds, crashes, requeues, wokenBy, explanation } = await run();
    expect(runs).toEqual([0, 1_500, 3_000]);
    expect(kinds).toEqual(["requeued", "requeued", "requeued"]);
    expect(crashes).toBe(0);
    expect(requeues).toBe(4);
    expect(wokenBy).toBe(1);
    expect(explanation).toMatchObject({ state: "waiting", dueInMs: 500, lastError: undefined });
  });

  test.each([
    ["reconcile returns", (limit: number) => reconciling((run) => (run < limit ? requeueAfter(0) : undefined))],
    [
      "reconcile throws",
      (limit: number) => reconciling((run) => (run < limit ? toss(new RequeueError(0)) : undefined)),
    ],
    ["run throws", (limit: number) => looping((run) => void (run < limit && toss(new RequeueError(0))))],
  ])("at once, if that is what it asked for: %s", async (_, run) => {
    const { runs, requeues } = await run(4);
    expect(runs).toEqual([0, 0, 0, 0]);
    expect(requeues).toBe(3);
  });

  test("a change comes first, and what was asked for before then no longer counts", async () => {
    const clock = new ManualClock();
    const state = new MemoryState({ clock });
    const runs: number[] = [];
    const me = controller({
      name: "Me",
      inputs: [weak(Int)],
      reconcile: () => (runs.push(clock.monotonic()) === 1 ? requeueAfter(1_000) : undefined),
    });
    await using runtime = new Runtime(state, { controllers: [me as Controller], clock, logger: silentLogger });
    void runtime.run();
    await clock.advance(400);
    await state.create(Int.create("a", { value: 1 }));
    await clock.advance(4_000);
    expect(runs).toEqual([0, 400]);
  });

  test("after a failure with a time of its own, in place of the backoff, which stays where it was", async () => {
    const say = (run: number) => toss(run === 2 ? new Error("broken") : new RequeueError(1_000, new Error("broken")));
    for (const run of [reconciling, looping]) {
      const { runs, kinds, crashes, explanation } = await run(say);
      expect(runs).toEqual([0, 1_000, 1_500, 2_500, 3_500]);
      expect(new Set(kinds)).toEqual(new Set(["failed"]));
      expect(crashes).toBe(5);
      expect(explanation.lastError?.message).toBe("broken");
    }
  });
});

describe("a classic controller that skips has not failed, and goes on with the next wake-up", () => {
  test.each([
    ["reconcile returns skip", () => reconciling(() => skip("no address yet"))],
    ["reconcile throws SkipError", () => reconciling(() => toss(new SkipError("no address yet")))],
    ["run throws SkipError", () => looping(() => toss(new SkipError("no address yet")))],
    [
      "run throws SkipError before it waits",
      () =>
        runsOf(
          (ran) =>
            controller({
              name: "Me",
              inputs: [weak(Int)],
              run: async () => void (ran(), toss(new SkipError("no address yet"))),
            }) as Controller,
        ),
    ],
  ])("%s", async (_, run) => {
    const { runs, kinds, crashes, skips, wokenBy, explanation } = await run();
    expect(runs).toEqual([0]);
    expect(kinds).toEqual(["skipped"]);
    expect({ crashes, skips, wokenBy }).toEqual({ crashes: 0, skips: 2, wokenBy: 1 });
    expect(explanation.outcomes[0]?.reason).toBe("no address yet");
    expect(explanation.state).toBe("idle");
  });
});

test("a success ends what a failure left behind", async () => {
  const { runs, explanation } = await reconciling((run) => (run === 1 ? toss(new Error("broken")) : skip("fine")));
  expect(runs).toEqual([0, 500]);
  expect(explanation.lastError).toBeUndefined();
});

test("a change that comes while a run fails to take its wake-up is not lost", async () => {
  const clock = new ManualClock();
  const state = new MemoryState({ clock });
  let runs = 0;
  const me = controller({
    name: "Me",
    inputs: [weak(Int)],
    async run() {
      if (++runs === 1) await clock.sleep(1_000);
      throw new SkipError("no address yet");
    },
  });
  await using runtime = new Runtime(state, { controllers: [me as Controller], clock, logger: silentLogger });
  void runtime.run();
  await clock.advance(500);
  await state.create(Int.create("a", { value: 1 }));
  await clock.advance(2_000);
  expect(runs).toBe(2);
});
