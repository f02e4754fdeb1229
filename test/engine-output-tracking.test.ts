import { describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import {
  controller,
  shared,
  strong,
  type Controller,
  type ControllerState,
  type RunContext,
} from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { createTombstone, isConflict } from "../src/resource/index.ts";
import { EventType, wrapState } from "../src/state/index.ts";
import { RecordingLogger, Int, Str } from "../src/testing/index.ts";
import { HandWatchedState, startEngine, turns, type Engine } from "./engine-fixture.ts";

type View = ControllerState<typeof Int | typeof Str, typeof Str, typeof Int>;
type Step = (
  context: Pick<RunContext, "startTrackingOutputs" | "cleanupOutputs"> & { readonly state: View },
) => Promise<void>;

/** Runs one step per wake-up, in order, and notes what each threw: "ok" if nothing. */
async function runSteps(
  state: MemoryState,
  ...steps: readonly Step[]
): Promise<{ engine: Engine; outcomes: unknown[] }> {
  const outcomes: unknown[] = [];
  const left = [...steps];
  const tracked: Controller = controller({
    name: "Tracker",
    inputs: [strong(Int)],
    outputs: [shared(Str)],
    async run({ state: view, wakeups, startTrackingOutputs, cleanupOutputs, queueReconcile }) {
      for await (const _ of wakeups) {
        const step = left.shift();
        if (step === undefined) continue;
        queueReconcile();
        try {
          await step({ state: view, startTrackingOutputs, cleanupOutputs });
          outcomes.push("ok");
        } catch (error) {
          outcomes.push(error);
          throw error;
        }
      }
    },
  });
  const clock = new ManualClock();
  const engine = await startEngine(state, [tracked], { clock });
  for (let step = 0; step < steps.length; step++) await clock.advance(60_000);
  return { engine, outcomes };
}

const ids = async (state: MemoryState, type = Str): Promise<string[]> =>
  (await state.list(type)).map(({ metadata }) => metadata.id);

const write = (view: View, id: string) => view.modify(Str, id, () => ({ value: "x" }));

describe("output tracking", () => {
  test("starting it twice, or cleaning up without it, is a failure of the controller [engine X-9]", async () => {
    const state = new MemoryState();
    const { engine, outcomes } = await runSteps(
      state,
      async ({ startTrackingOutputs }) => {
        startTrackingOutputs();
        startTrackingOutputs();
      },
      async ({ cleanupOutputs }) => cleanupOutputs(Str),
      // The first failure ended the tracking: it can start again.
      async ({ startTrackingOutputs, cleanupOutputs }) => {
        startTrackingOutputs();
        await cleanupOutputs(Str);
      },
    );
    expect(outcomes).toEqual([expect.any(Error), expect.any(Error), "ok"]);
    expect(engine.metric("controller_crashes", "Tracker")).toBe(2);
    await engine.stop();
  });

  test("what a write that failed was about still counts as wanted [engine X-9]", async () => {
    const state = new MemoryState();
    const { engine, outcomes } = await runSteps(
      state,
      async ({ state: view }) => {
        await write(view, "failing");
        await write(view, "unwanted");
      },
      async ({ state: view, startTrackingOutputs, cleanupOutputs }) => {
        startTrackingOutputs();
        const failing = view.modify(Str, "failing", () => {
          throw new Error("cannot say");
        });
        await expect(failing).rejects.toThrow("cannot say");
        await cleanupOutputs(Str);
      },
    );
    expect(outcomes).toEqual(["ok", "ok"]);
    expect(await ids(state)).toEqual(["failing"]);
    await engine.stop();
  });

  test("resources of others survive it, and so do kinds that are not named [engine X-9]", async () => {
    const state = new MemoryState();
    await state.create(Str.create("nobody's", { value: "" }));
    await state.create(Str.create("foreign", { value: "" }), { owner: "SomebodyElse" });
    const { engine, outcomes } = await runSteps(
      state,
      async ({ state: view }) => {
        await write(view, "unwanted");
        await view.create(Str.in("elsewhere").create("kept", { value: "" }));
      },
      async ({ state: view, startTrackingOutputs, cleanupOutputs }) => {
        startTrackingOutputs();
        await write(view, "wanted");
        await cleanupOutputs(Str);
      },
    );
    expect(outcomes).toEqual(["ok", "ok"]);
    expect(await ids(state)).toEqual(["foreign", "nobody's", "wanted"]);
    expect(await ids(state, Str.in("elsewhere"))).toEqual(["kept"]);
    await engine.stop();
  });

  test("a finalizer on an output makes the clean-up fail, and tracking goes on [engine X-9]", async () => {
    const state = new MemoryState();
    const failures: unknown[] = [];
    const { engine, outcomes } = await runSteps(
      state,
      async ({ state: view }) => void (await write(view, "held")),
      async ({ startTrackingOutputs, cleanupOutputs }) => {
        await state.addFinalizer(Str.ref("held"), "somebody");
        startTrackingOutputs();
        await cleanupOutputs(Str).catch((error: unknown) => failures.push(error));
        expect(() => startTrackingOutputs()).toThrow(/track/);
        await state.removeFinalizer(Str.ref("held"), "somebody");
        await cleanupOutputs(Str);
      },
    );
    expect(outcomes).toEqual(["ok", "ok"]);
    expect(failures).toHaveLength(1);
    expect(isConflict(failures[0])).toBe(true);
    expect(await ids(state)).toEqual([]);
    await engine.stop();
  });

  test("an output that is gone already, though the cache still lists it, does not make the clean-up fail", async () => {
    const hand = new HandWatchedState(new MemoryState(), Str);
    const outcomes: string[] = [];
    await using engine = await startEngine(
      wrapState(hand),
      [
        controller({
          name: "Tracker",
          outputs: [shared(Str)],
          async run({ state: view, wakeups, startTrackingOutputs, cleanupOutputs }) {
            for await (const _ of wakeups) {
              startTrackingOutputs();
              outcomes.push(`lists ${(await view.list(Str)).length}`);
              await cleanupOutputs(Str);
              outcomes.push("cleaned up");
            }
          },
        }),
      ],
      { cache: [Str] },
    );
    await turns();
    const ghost = Str.create("ghost", { value: "" }, { owner: "Tracker" });
    hand.watchOf(Str).push([
      { type: EventType.created, resource: ghost },
      { type: EventType.bootstrapped, resource: createTombstone(Str.ref("")) },
    ]);
    await turns();
    expect(outcomes).toEqual(["lists 1", "cleaned up"]);
    expect(hand.calls.filter(({ operation }) => operation === "destroy")).toHaveLength(1);
    await engine.stop();
  });

  test("teardown and destroy do not make a resource wanted; create and update do", async () => {
    const state = new MemoryState();
    const { engine, outcomes } = await runSteps(
      state,
      async ({ state: view }) => {
        await write(view, "torn down");
        await write(view, "updated");
      },
      async ({ state: view, startTrackingOutputs, cleanupOutputs }) => {
        startTrackingOutputs();
        await view.teardown(Str.ref("torn down"));
        await view.create(Str.create("created", { value: "" }));
        await view.update(await view.get(Str, "updated"));
        await cleanupOutputs(Str);
      },
    );
    expect(outcomes).toEqual(["ok", "ok"]);
    expect(await ids(state)).toEqual(["created", "updated"]);
    await engine.stop();
  });
});

describe("trackOutputs", () => {
  test("cleans up after a reconcile that went well, and not after one that failed", async () => {
    const state = new MemoryState();
    const clock = new ManualClock();
    const log = new RecordingLogger();
    let fail = true;
    for (const id of ["a", "b"]) await state.create(Int.create(id, { value: 1 }));
    await using engine = await startEngine(
      state,
      [
        controller({
          name: "Tracker",
          inputs: [strong(Int)],
          outputs: [shared(Str)],
          async reconcile({ state: view, trackOutputs }) {
            trackOutputs(Str);
            for (const int of await view.list(Int)) await view.modify(Str, int.metadata.id, () => ({ value: "x" }));
            if (fail) throw new Error("not yet");
          },
        }),
      ],
      { clock, logger: log },
    );
    await clock.settle();
    await state.destroy(Int.ref("a"));
    await clock.advance(750);
    expect(await ids(state)).toEqual(["a", "b"]);
    fail = false;
    await clock.advance(2_000);
    await turns();
    expect(await ids(state)).toEqual(["b"]);
    await engine.stop();
  });
});
