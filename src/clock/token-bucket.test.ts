import { describe, expect, test } from "vitest";
import { ManualClock } from "./manual-clock.ts";
import { TokenBucket } from "./token-bucket.ts";

describe("TokenBucket", () => {
  test("starts full, and refills with time up to its burst", async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucket(10, 2, clock);
    const takes = (): readonly boolean[] => [bucket.tryTake(), bucket.tryTake(), bucket.tryTake()];
    expect(takes()).toEqual([true, true, false]);
    await clock.advance(100);
    expect(takes()).toEqual([true, false, false]);
    await clock.advance(60_000);
    expect(takes()).toEqual([true, true, false]);
  });

  test("reserves tokens that are still to come, one behind the other, and takes them back", () => {
    const bucket = new TokenBucket(10, 1, new ManualClock());
    expect([bucket.reserve(), bucket.reserve(), bucket.reserve()]).toEqual([0, 100, 200]);
    bucket.giveBack();
    expect(bucket.reserve()).toBe(200);
    expect(bucket.tryTake()).toBe(false);
  });

  test("an endless rate never runs dry", () => {
    const bucket = new TokenBucket(Infinity, 1, new ManualClock());
    expect([bucket.tryTake(), bucket.tryTake(), bucket.reserve(), bucket.reserve()]).toEqual([true, true, 0, 0]);
  });
});
