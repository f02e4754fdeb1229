import { describe, expect, test } from "vitest";
import { Backoff, resolveBackoff } from "./backoff.ts";

const intervals = (random: () => number, count: number): number[] => {
  const backoff = new Backoff(random);
  return Array.from({ length: count }, () => backoff.next());
};

describe("Backoff", () => {
  test("starts at 500 ms and grows by half each time", () => {
    expect(intervals(() => 0.5, 4)).toEqual([500, 750, 1125, 1687.5]);
  });

  test("spreads each interval by half to either side", () => {
    expect(intervals(() => 0, 2)).toEqual([250, 375]);
    expect(intervals(() => 1, 2)).toEqual([750, 1125]);
  });

  test("caps the base at 60 s before it is spread, and never gives up", () => {
    expect(intervals(() => 0, 5_000).at(-1)).toBe(30_000);
    expect(intervals(() => 0.5, 5_000).at(-1)).toBe(60_000);
    expect(intervals(() => 1, 5_000).at(-1)).toBe(90_000);
  });

  test("starts over after a reset", () => {
    const backoff = new Backoff(() => 0.5);
    backoff.next();
    backoff.next();
    backoff.reset();
    expect(backoff.next()).toBe(500);
  });

  test("takes other options; the first wait is bounded as well", () => {
    const options = resolveBackoff("retry", { initialMs: 800, multiplier: 2, maxMs: 500, jitter: 0.2 });
    const backoff = new Backoff(() => 0, options);
    expect([backoff.next(), backoff.next()]).toEqual([400, 400]);
  });

  test.each([
    [{ initialMs: -1 }, "retry.initialMs must be from 0"],
    [{ multiplier: 0.5 }, "retry.multiplier must be from 1"],
    [{ maxMs: Number.NaN }, "retry.maxMs must be from 0"],
    [{ jitter: 2 }, "retry.jitter must be from 0 to 1, got 2"],
  ])("%o is refused", (options, message) => {
    expect(() => resolveBackoff("retry", options)).toThrow(message);
  });
});
