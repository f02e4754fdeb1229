import { describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import {
  controller,
  queueController,
  requeueAfter,
  shared,
  strong,
  weak,
  type Controller,
  type ControllerState,
  type QueueController,
  type RunContext,
} from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { createTombstone } from "../src/resource/index.ts";
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

  test("an output that others hold is torn down, and destroyed once it is released [engine X-9]", async () => {
    const state = new MemoryState();
    const { engine, outcomes } = await runSteps(
      state,
      async ({ state: view }) => void (await write(view, "held")),
      async ({ startTrackingOutputs, cleanupOutputs }) => {
        await state.addFinalizer(Str.ref("held"), "somebody");
        startTrackingOutputs();
        await cleanupOutputs(Str);
        // It was a success: tracking can start again.
        startTrackingOutputs();
        await cleanupOutputs(Str);
      },
      async ({ startTrackingOutputs, cleanupOutputs }) => {
        expect((await state.get(Str, "held")).metadata.phase).toBe("tearingDown");
        await state.removeFinalizer(Str.ref("held"), "somebody");
        startTrackingOutputs();
        await cleanupOutputs(Str);
      },
    );
    expect(outcomes).toEqual(["ok", "ok", "ok"]);
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

describe("an output that another controller holds by a finalizer", () => {
  /** Makes a Str of each Int, and notes the phases that it saw. */
  const producer = (reads = false) =>
    controller({
      name: "Producer",
      inputs: reads ? [weak(Int), weak(Str)] : [weak(Int)],
      outputs: [shared(Str)],
      async reconcile({ state, trackOutputs }) {
        trackOutputs(Str);
        for (const int of await state.list(Int)) await state.modify(Str, int.metadata.id, () => ({ value: "x" }));
      },
    }) as Controller;

  const holder = (letsGo: () => boolean) =>
    queueController({
      name: "Holder",
      primary: Str,
      async reconcile({ ref, state }) {
        const str = await state.getOrNull(ref);
        if (str === undefined) return undefined;
        if (str.metadata.phase === "running") await state.addFinalizer(ref, "Holder");
        else if (letsGo()) await state.removeFinalizer(ref, "Holder");
        else return requeueAfter(1_000);
        return undefined;
      },
    }) as QueueController;

  test.each([[{ reads: false }], [{ reads: true }]])(
    "is torn down, released and destroyed, by nothing but the two of them (%o)",
    async ({ reads }) => {
      const clock = new ManualClock();
      const state = new MemoryState({ clock });
      await using engine = await startEngine(state, [producer(reads), holder(() => true)], { clock });
      for (const id of ["a", "b"]) await state.create(Int.create(id, { value: 0 }));
      await clock.settle();
      expect((await state.get(Str, "a")).metadata.finalizers).toEqual(["Holder"]);
      await state.destroy(Int.ref("a"));
      await clock.settle();
      expect(await ids(state)).toEqual(["b"]);
      expect(engine.metric("controller_crashes", "Producer")).toBe(0);
      await engine.stop();
    },
  );

  test("comes back when it is wanted again before it is released", async () => {
    const clock = new ManualClock();
    const state = new MemoryState({ clock });
    let released = false;
    await using engine = await startEngine(state, [producer(), holder(() => released)], { clock });
    await state.create(Int.create("a", { value: 0 }));
    await clock.settle();
    const first = await state.get(Str, "a");
    await state.destroy(Int.ref("a"));
    await clock.settle();
    expect((await state.get(Str, "a")).metadata.phase).toBe("tearingDown");
    await state.create(Int.create("a", { value: 1 }));
    await clock.advance(5_000);
    released = true;
    await clock.advance(120_000);
    const second = await state.get(Str, "a");
    expect(second.metadata.phase).toBe("running");
    expect(second.metadata.created).not.toBe(first.metadata.created);
    await engine.stop();
  });

  test("survives an updateInputs in between: the wake-up for its release stays", async () => {
    const clock = new ManualClock();
    const state = new MemoryState({ clock });
    let released = false;
    const switching = controller({
      name: "Producer",
      inputs: [weak(Int)],
      outputs: [shared(Str)],
      dynamicInputs: [Int],
      async reconcile({ state: view, trackOutputs, updateInputs }) {
        trackOutputs(Str);
        await updateInputs([strong(Int)]);
        for (const int of await view.list(Int)) await view.modify(Str, int.metadata.id, () => ({ value: "x" }));
      },
    }) as Controller;
    await using engine = await startEngine(state, [switching, holder(() => released)], { clock });
    await state.create(Int.create("a", { value: 0 }));
    await clock.settle();
    await state.destroy(Int.ref("a"));
    await clock.settle();
    await state.create(Int.create("other", { value: 0 }));
    await clock.settle();
    released = true;
    await clock.advance(2_000);
    expect(await ids(state)).toEqual(["other"]);
    expect(engine.runtime.graph().edges.map(({ edge, type }) => `${edge} ${type}`)).toContain("destroyReady test/str");
    await engine.stop();
  });
});
