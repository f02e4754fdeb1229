import { describe, expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import { ControllerMetrics } from "../metrics/metrics.ts";
import { WakeUpFlag } from "./wake-up-flag.ts";

function setUp() {
  const metrics = new ControllerMetrics();
  const clock = new ManualClock();
  return { metrics, clock, slot: new WakeUpFlag(clock, metrics) };
}

describe("WakeUpFlag", () => {
  test("holds one wake-up however often it is filled", async () => {
    const { slot, metrics } = setUp();
    for (let i = 0; i < 5; i++) slot.fill();
    expect(metrics.wakeups).toBe(1);
    expect(await slot.take()).toBe(true);
    expect(slot.full).toBe(false);
  });

  test("is emptied when its controller resumes: two changes of one turn are one wake-up", async () => {
    const { slot, metrics } = setUp();
    const taken = slot.take();
    slot.fill();
    slot.fill();
    expect(slot.full).toBe(true);
    expect(await taken).toBe(true);
    expect(metrics.wakeups).toBe(1);
    expect(slot.full).toBe(false);
    slot.fill();
    expect(metrics.wakeups).toBe(2);
  });

  test("one that is full when it is asked answers in a later turn", async () => {
    const { slot } = setUp();
    slot.fill();
    let turn = "this";
    setImmediate(() => {
      turn = "next";
    });
    await slot.take();
    expect(turn).toBe("next");
  });

  test("tells who waits that it is closed, and keeps what it has", async () => {
    const { slot } = setUp();
    const waiting = slot.take();
    slot.close();
    expect(await waiting).toBe(false);
    slot.fill();
    expect(slot.full).toBe(false);
    expect(await slot.take()).toBe(false);
  });

  test("gives nothing to the waits of a run that is over", async () => {
    const { slot } = setUp();
    const stale = slot.take();
    slot.abandon();
    slot.fill();
    expect(await stale).toBe(false);
    expect(slot.full).toBe(true);
    expect(await slot.take()).toBe(true);
  });

  test("ends a wait of a run that is over at once, without a wake-up, also one that is about to take it", async () => {
    const { slot } = setUp();
    const waiting = slot.take();
    slot.abandon();
    expect(await waiting).toBe(false);
    slot.fill();
    const taking = slot.take();
    slot.abandon();
    expect(await taking).toBe(false);
    expect(slot.full).toBe(true);
    expect(await slot.take()).toBe(true);
  });

  test("keeps a wake-up that came during a run, and one that the run took is gone", async () => {
    const { slot } = setUp();
    slot.fill();
    slot.begin();
    slot.done();
    expect(slot.full).toBe(false);
    slot.fill();
    slot.begin();
    slot.fill();
    slot.done();
    expect(slot.full).toBe(true);
    slot.begin();
    await slot.take();
    slot.fill();
    slot.begin();
    expect(await slot.take()).toBe(true);
    slot.done();
    expect(slot.full).toBe(false);
  });

  test("tells in a later turn that there is something to take, or nothing any more", async () => {
    for (const event of ["fill", "close"] as const) {
      const { slot } = setUp();
      let told = false;
      const waiting = slot.untilFull().then(() => (told = true));
      await new Promise<void>((resolve) => setImmediate(resolve));
      expect(told).toBe(false);
      slot[event]();
      await waiting;
      expect(slot.full).toBe(event === "fill");
    }
  });
});
