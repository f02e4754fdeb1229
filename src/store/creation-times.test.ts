import fc from "fast-check";
import { expect, test } from "vitest";
import { compareTimes, isTimestamp, lifeOf } from "../resource/index.ts";
import { CreationTimes } from "./creation-times.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const standing = (ms: number) => new CreationTimes({ now: () => ms });

/** Each is later than the one before, in time and as text, and names a life. */
function expectAscending(times: readonly string[]): void {
  for (const [i, time] of times.entries()) {
    expect(isTimestamp(time)).toBe(true);
    expect(lifeOf({ namespace: "n", type: "t", id: "i", created: time } as never)).toBe(time);
    const before = times[i - 1];
    if (before === undefined) continue;
    expect(compareTimes(before, time)).toBeLessThan(0);
    expect(before < time).toBe(true);
  }
}

test("times of one millisecond are a nanosecond apart", () => {
  const times = standing(NOON + 123);
  expect([times.next(), times.next()]).toEqual(["2026-01-01T12:00:00.123000001Z", "2026-01-01T12:00:00.123000002Z"]);
  expect(times.last).toBe("2026-01-01T12:00:00.123000002Z");
});

test("a clock that stands still for more than a million creations makes no time twice", () => {
  const times = standing(NOON);
  const seen = [times.next()];
  for (let i = 2; i <= 1_000_500; i++) {
    const time = times.next();
    if (i % 1000 < 3 || i > 998_990) seen.push(time);
  }
  expectAscending(seen);
  expect(seen.at(-1)?.startsWith("2026-01-01T12:00:00.001")).toBe(true);
});

test("a clock at the epoch, before it, or between milliseconds gives times as well", () => {
  expect(standing(0).next()).toBe("1970-01-01T00:00:00.000000001Z");
  expect(standing(-5000).next()).toBe("1970-01-01T00:00:00.000000001Z");
  let ms = NOON + 0.2;
  const times = new CreationTimes({ now: () => (ms += 0.3) });
  expectAscending(Array.from({ length: 20 }, () => times.next()));
});

test("whatever the clock does, times ascend", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -3, max: 1500 }), { minLength: 1, maxLength: 60 }), (readings) => {
      const clock = readings.values();
      const times = new CreationTimes({ now: () => NOON + (clock.next().value ?? 0) });
      expectAscending(readings.map(() => times.next()));
    }),
  );
});

test("what an earlier process gave out is passed, and never gone behind", () => {
  const times = standing(NOON);
  times.continueAfter("2026-01-01T13:00:00.5Z");
  expect(times.next()).toBe("2026-01-01T13:00:00.500000001Z");
  times.continueAfter("2026-01-01T13:00:00.500000999Z");
  expect(times.next()).toBe("2026-01-01T13:00:00.500001001Z");
  times.continueAfter("2026-01-01T13:00:00.400000999Z");
  times.continueAfter("1970-01-01T00:00:00Z");
  expect(times.next()).toBe("2026-01-01T13:00:00.500001002Z");
  expect(times.isBefore(NOON + 3_600_500)).toBe(false);
  expect(times.isBefore(NOON + 3_600_501)).toBe(true);
});
