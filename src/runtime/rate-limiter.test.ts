import { describe, expect, test } from "vitest";
import { ManualClock } from "../clock/index.ts";
import { RateLimiter } from "./rate-limiter.ts";

describe("RateLimiter", () => {
  test("lets a burst pass at once, then so many a second, first come first served", async () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter({ perSecond: 10, burst: 3 }, clock);
    const passed: number[] = [];
    for (let i = 0; i < 6; i++) {
      const wait = limiter.take();
      if (wait === undefined) passed.push(i);
      else void wait.then(() => passed.push(i));
    }
    expect(passed).toEqual([0, 1, 2]);
    await clock.advance(99);
    expect(passed).toEqual([0, 1, 2]);
    await clock.advance(1);
    expect(passed).toEqual([0, 1, 2, 3]);
    await clock.advance(200);
    expect(passed).toEqual([0, 1, 2, 3, 4, 5]);
    expect(clock.pending).toBe(0);
  });

  test("saves no more than a burst while nothing is taken", async () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter({ perSecond: 1000, burst: 2 }, clock);
    await clock.advance(60_000);
    expect([limiter.take(), limiter.take()]).toEqual([undefined, undefined]);
    const third = limiter.take();
    expect(third).toBeInstanceOf(Promise);
    await clock.advance(1);
    await third;
  });

  test("an aborted wait gives its token back", async () => {
    const clock = new ManualClock();
    const limiter = new RateLimiter({ perSecond: 1, burst: 1 }, clock);
    expect(limiter.take()).toBeUndefined();
    const stop = new AbortController();
    const waiting = limiter.take(stop.signal);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(clock.pending).toBe(0);
    const next = limiter.take();
    await clock.advance(1000);
    await expect(next).resolves.toBeUndefined();
  });

  test("never lets anything pass when its burst is less than 1", () => {
    const limiter = new RateLimiter({ perSecond: 10, burst: 0 }, new ManualClock());
    expect(() => limiter.take()).toThrow(/burst of 0/);
  });

  test.for([0, -1, Number.NaN])("refuses a rate of %d", (perSecond) => {
    expect(() => new RateLimiter({ perSecond, burst: 1 }, new ManualClock())).toThrow(RangeError);
  });
});
