import { describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import {
  controller,
  mapped,
  queueController,
  requeueAfter,
  shared,
  weak,
  type Controller,
  type QueueController,
} from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import type { Resource } from "../src/resource/index.ts";
import { wrapState, type CoreState } from "../src/state/index.ts";
import { InterceptedState, Int, RecordingLogger, Str } from "../src/testing/index.ts";
import { startEngine } from "./engine-fixture.ts";

/** A State whose events come before the responses to the writes that they show, as a network may have it. */
class LateState extends InterceptedState {
  override async create(...args: Parameters<CoreState["create"]>): Promise<Resource> {
    return later(super.create(...args));
  }

  override async update(...args: Parameters<CoreState["update"]>): Promise<Resource> {
    return later(super.update(...args));
  }

  override async destroy(...args: Parameters<CoreState["destroy"]>): Promise<void> {
    return later(super.destroy(...args));
  }
}

async function later<T>(response: Promise<T>): Promise<T> {
  const result = await response;
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  return result;
}

const transports: Readonly<Record<string, (state: MemoryState) => CoreState>> = {
  "in the process": (state) => state,
  "with events in microtasks": (state) => new InterceptedState(state),
  "with responses that come late": (state) => new LateState(state),
};

const failing = (concurrency = 1): QueueController => {
  let attempts = 0;
  return queueController({
    name: "Me",
    primary: Int,
    outputs: [shared(Int)],
    concurrency,
    async reconcile({ ref, state }) {
      attempts++;
      await state.modify(Int, ref.id, (_, metadata) => {
        metadata.annotations["last-error"] = `503 at attempt ${attempts}`;
      });
      throw new Error("the API answers 503");
    },
  }) as QueueController;
};

describe.each(Object.entries(transports))("%s", (_, transport) => {
  const start = async (controllers: readonly (Controller | QueueController)[]) => {
    const clock = new ManualClock();
    const memory = new MemoryState({ clock });
    const logger = new RecordingLogger();
    const engine = await startEngine(wrapState(transport(memory), { clock }), controllers, {
      clock,
      logger,
      random: () => 0.5,
    });
    await clock.settle();
    return { clock, memory, engine, logger };
  };

  test("a controller that fails and writes its own primary waits as long as one that only fails", async () => {
    const { clock, memory, engine } = await start([failing()]);
    await memory.create(Int.create("a", { value: 1 }), { owner: "Me" });
    await clock.advance(2_400);
    // 0, 500, 1250, 2375
    expect(engine.metric("qcontroller_crashes", "Me")).toBe(4);
    expect(engine.metric("controller_own_wakeups", "Me")).toBe(4);
    const { controllers, reasons } = await engine.runtime.explain(Int.ref("a"));
    expect(controllers[0]).toMatchObject({ state: "backoff", ownWakeUps: 4 });
    expect(reasons).toEqual([
      "Me failed: the API answers 503; next attempt in 1663 ms",
      "Me wakes itself: its own writes caused its last 4 wake-ups",
    ]);
    await clock.advance(1_662);
    expect(engine.metric("qcontroller_crashes", "Me")).toBe(4);
    await clock.advance(2);
    expect(engine.metric("qcontroller_crashes", "Me")).toBe(5);
    await engine.stop();
  });

  test("a change by somebody else beats the backoff, also between its own writes", async () => {
    const { clock, memory, engine } = await start([failing()]);
    await memory.create(Int.create("a", { value: 1 }), { owner: "Me" });
    await clock.advance(100);
    for (let change = 1; change <= 3; change++) {
      await memory.modify(Int, "a", (spec) => void (spec.value = 10 + change), { owner: "Me" });
      await clock.settle();
      expect(engine.metric("qcontroller_crashes", "Me")).toBe(1 + change);
    }
    await engine.stop();
  });

  test("a failing controller that destroys and makes its primary anew does not cut its wait either", async () => {
    const me = queueController({
      name: "Me",
      primary: Int,
      outputs: [shared(Int)],
      async reconcile({ ref, state }) {
        if ((await state.getOrNull(ref)) !== undefined) await state.destroy(ref);
        await state.create(Int.create(ref.id, { value: 1 }));
        throw new Error("not yet");
      },
    }) as QueueController;
    const { clock, memory, engine } = await start([me]);
    await memory.create(Int.create("a", { value: 1 }), { owner: "Me" });
    await clock.advance(2_400);
    expect(engine.metric("qcontroller_crashes", "Me")).toBe(4);
    await engine.stop();
  });

  test("neither does one whose writes come back through a mapped input", async () => {
    let attempts = 0;
    const me = queueController({
      name: "Me",
      primary: Int,
      inputs: [mapped(Str, (str) => [Int.ref(str.id)])],
      outputs: [shared(Str)],
      async reconcile({ ref, state }) {
        attempts++;
        await state.modify(Str, ref.id, () => ({ value: String(attempts) }));
        throw new Error("not yet");
      },
    }) as QueueController;
    const { clock, memory, engine } = await start([me]);
    await memory.create(Int.create("a", { value: 1 }));
    await clock.advance(2_400);
    expect(attempts).toBe(4);
    await engine.stop();
  });

  test("a success is followed by another look at what it wrote, which is counted", async () => {
    const runs: number[] = [];
    const me = queueController({
      name: "Me",
      primary: Int,
      outputs: [shared(Int)],
      async reconcile({ ref, state, clock }) {
        runs.push(clock.monotonic());
        await state.modify(Int, ref.id, (spec) => void (spec.value = 7));
        return requeueAfter(1_000);
      },
    }) as QueueController;
    const { clock, memory, engine } = await start([me]);
    await memory.create(Int.create("a", { value: 1 }), { owner: "Me" });
    await clock.advance(1_500);
    expect(runs).toEqual([0, 0, 1_000]);
    expect(engine.metric("controller_own_wakeups", "Me")).toBe(1);
    await engine.stop();
  });

  test("a controller that wakes itself for ever is named in the log, ever less often, and in explain", async () => {
    const queue = queueController({
      name: "Queue",
      primary: Int,
      outputs: [shared(Int)],
      async reconcile({ ref, state }) {
        await state.updateWithConflicts(Int, ref.id, (spec) => void (spec.value = Math.min(spec.value + 1, 400)));
      },
    }) as QueueController;
    const classic = controller({
      name: "Classic",
      inputs: [weak(Str)],
      outputs: [shared(Str)],
      async reconcile({ state }) {
        for (const { metadata } of await state.list(Str)) {
          await state.modify(Str, metadata.id, (spec) => {
            const next = Number(spec.value) + 1;
            if (next <= 400) spec.value = String(next);
          });
        }
      },
    }) as Controller;
    const { clock, memory, engine, logger } = await start([queue, classic]);
    await memory.create(Int.create("a", { value: 0 }), { owner: "Queue" });
    await memory.create(Str.create("a", { value: "0" }), { owner: "Classic" });
    for (let step = 0; step < 400; step++) await clock.settle();
    const warnings = logger.lines.filter(({ level }) => level === "warn");
    expect(warnings.map(({ fields }) => [fields["controller"], fields["times"]])).toEqual(
      expect.arrayContaining([
        ["Classic", 100],
        ["Queue", 100],
      ]),
    );
    expect(warnings).toHaveLength(2);
    expect(engine.metric("controller_own_wakeups", "Queue")).toBe(400);
    expect(engine.metric("controller_own_wakeups", "Classic")).toBe(400);
    const { reasons } = await engine.runtime.explain(Str.ref("a"));
    expect(reasons).toContain("Classic wakes itself: its own writes caused its last 400 wake-ups");
    await engine.stop();
  });
});
