import { describe, expect, test } from "vitest";
import { ReconnectBackoff } from "./reconnect-backoff.ts";

describe("ReconnectBackoff", () => {
  test("grows to its longest wait, and starts over after a reset", () => {
    const backoff = new ReconnectBackoff({ initialMs: 100, multiplier: 2, longestMs: 500, random: () => 0.5 });
    expect([1, 2, 3, 4, 5].map(() => backoff.next())).toEqual([100, 200, 400, 500, 500]);
    backoff.reset();
    expect(backoff.next()).toBe(100);
  });

  test("spreads waits to either side", () => {
    expect(new ReconnectBackoff({ initialMs: 100, spread: 0.3, random: () => 0 }).next()).toBeCloseTo(70);
    expect(new ReconnectBackoff({ initialMs: 100, spread: 0.3, random: () => 1 }).next()).toBeCloseTo(130);
  });

  test.each([
    [{ initialMs: -1 }, "backoff.initialMs must be from 0"],
    [{ multiplier: 0.5 }, "backoff.multiplier must be from 1"],
    [{ longestMs: Number.NaN }, "backoff.longestMs must be from 0"],
    [{ spread: 2 }, "backoff.spread must be from 0 to 1"],
  ])("%o is refused", (options, message) => {
    expect(() => new ReconnectBackoff(options)).toThrow(message);
  });
});
