import { describe, expect, test } from "vitest";
import { Deadlines, type Expiring } from "./deadlines.ts";
import { ManualClock } from "./manual-clock.ts";

describe("deadlines", () => {
  const world = () => {
    const clock = new ManualClock();
    const expired: string[] = [];
    const one = (name: string, deadlineAt: number): Expiring => ({ deadlineAt, expire: () => expired.push(name) });
    return { clock, deadlines: new Deadlines(clock), expired, one };
  };

  test("end what is not over at its time, each at its own, the earlier first however they were added", async () => {
    const { clock, deadlines, expired, one } = world();
    deadlines.add(one("late", clock.monotonic() + 300));
    deadlines.add(one("early", clock.monotonic() + 100));
    deadlines.add(one("between", clock.monotonic() + 200));
    await clock.advance(99);
    expect(expired).toEqual([]);
    await clock.advance(1);
    expect(expired).toEqual(["early"]);
    await clock.advance(100);
    expect(expired).toEqual(["early", "between"]);
    await clock.advance(1000);
    expect(expired).toEqual(["early", "between", "late"]);
  });

  test("do not end what was deleted, and hold no timer when nothing is left", async () => {
    const { clock, deadlines, expired, one } = world();
    const first = one("first", clock.monotonic() + 100);
    deadlines.add(first);
    deadlines.delete(first);
    deadlines.delete(first);
    deadlines.add(one("second", clock.monotonic() + 200));
    await clock.advance(150);
    expect(expired).toEqual([]);
    await clock.advance(50);
    expect(expired).toEqual(["second"]);
  });

  test("one that expires may add another", async () => {
    const { clock, deadlines, expired, one } = world();
    const again = one("again", clock.monotonic() + 200);
    deadlines.add({ deadlineAt: clock.monotonic() + 100, expire: () => deadlines.add(again) });
    await clock.advance(1000);
    expect(expired).toEqual(["again"]);
  });
});
