import { describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import {
  controller,
  queueController,
  shared,
  weak,
  type Controller,
  type QueueController,
} from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { wrapState } from "../src/state/index.ts";
import { Int, Sentence, Str } from "../src/testing/index.ts";
import { gate, HandWatchedState, startEngine, turns } from "./engine-fixture.ts";

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe("stopping", () => {
  test("50 controllers that wait for all there is to wait for stop at once, and leave nothing [engine X-15]", async () => {
    const clock = new ManualClock();
    // The contents of its kind never come: whoever reads it from the cache waits.
    const hand = new HandWatchedState(new MemoryState(), Sentence);
    const reached: Record<string, number> = {};
    const reach = (what: string) => {
      reached[what] = (reached[what] ?? 0) + 1;
    };
    const left: string[] = [];
    const idle: Controller[] = times(10, (index) =>
      controller({ name: `idle ${index}`, inputs: [weak(Int)], reconcile: () => reach("idle") }),
    );
    const failing: Controller[] = times(10, (index) =>
      controller({
        name: `backoff ${index}`,
        reconcile() {
          reach("backoff");
          throw new Error("no");
        },
      }),
    );
    const limited: Controller[] = times(10, (index) =>
      controller({
        name: `limiter ${index}`,
        outputs: [shared(Str)],
        async reconcile({ state }) {
          reach("limiter");
          for (let write = 0; ; write++) await state.modify(Str, `${index}/${write}`, () => ({ value: "" }));
        },
      }),
    );
    const reading: Controller[] = times(10, (index) =>
      controller({
        name: `cached read ${index}`,
        inputs: [weak(Sentence)],
        async reconcile({ state }) {
          reach("cached read");
          await state.list(Sentence);
          left.push("a cached read went on");
        },
      }),
    );
    const queues: QueueController[] = times(10, (index) =>
      queueController({
        name: `queue ${index}`,
        primary: Int,
        reconcile: () => reach("queue"),
        runHook: async () => {
          reach("hook");
          if (index % 2 === 0) throw new Error("no");
        },
        shutdownHook: () => reach("shutdown"),
      }),
    );
    await using engine = await startEngine(wrapState(hand), [...idle, ...failing, ...limited, ...reading], {
      clock,
      cache: [Sentence],
      changeRateLimit: { perSecond: 0.001, burst: 3 },
    });
    await turns();
    // They come late and are waited for all the same.
    for (const queue of queues) await engine.runtime.register(queue);
    await turns();
    await hand.create(Int.create("x", { value: 1 }));
    await turns();
    expect(reached).toEqual({ idle: 20, backoff: 10, limiter: 10, "cached read": 10, queue: 10, hook: 10 });
    expect(await hand.list(Str)).toHaveLength(30);
    expect(clock.pending).toBeGreaterThanOrEqual(25);

    // No time passes: nobody waits for the end of a wait.
    await engine.stop();
    expect(clock.pending).toBe(0);
    expect(hand.openWatches).toEqual([]);
    expect(left).toEqual([]);
    expect(reached["shutdown"]).toBe(10);
  });

  test("run() settles only when a controller that was registered late has ended", async () => {
    const unwinding = gate();
    await using engine = await startEngine(new MemoryState(), []);
    await turns();
    await engine.runtime.register(
      controller({
        name: "Late",
        async run({ signal }) {
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
          await unwinding.opened;
        },
      }),
    );
    await turns();
    let settled = false;
    void engine.ended.then(() => (settled = true));
    engine.abort();
    await turns();
    expect(settled).toBe(false);
    unwinding.open();
    await engine.ended;
  });
});
