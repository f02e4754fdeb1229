import { expect, test } from "vitest";
import { resolveHistoryOptions } from "./history-options.ts";

test("histories hold 100 events and 64 MiB unless told otherwise, and keep a twentieth from new watchers", () => {
  expect(resolveHistoryOptions()).toEqual({ initialCapacity: 100, maxCapacity: 100, gap: 5, maxBytes: 64 * 2 ** 20 });
  expect(resolveHistoryOptions({ maxCapacity: 39 })).toMatchObject({ initialCapacity: 39, maxCapacity: 39, gap: 1 });
  expect(resolveHistoryOptions({ initialCapacity: 300 })).toMatchObject({ initialCapacity: 300, maxCapacity: 300 });
  expect(resolveHistoryOptions({ maxCapacity: 200 })).toMatchObject({ initialCapacity: 100, maxCapacity: 200 });
});

test("the least of each bound is accepted", () => {
  const least = { initialCapacity: 1, maxCapacity: 1, gap: 0, maxBytes: 1 };
  expect(resolveHistoryOptions(least)).toEqual(least);
});

test.each([
  [{ initialCapacity: 0 }, "history.initialCapacity must be a whole number of at least 1, got 0"],
  [{ initialCapacity: 2.5 }, "history.initialCapacity must be a whole number of at least 1, got 2.5"],
  [{ initialCapacity: 1, maxCapacity: -1 }, "history.maxCapacity must be a whole number of at least 1, got -1"],
  [
    { initialCapacity: 1, maxCapacity: Number.NaN },
    "history.maxCapacity must be a whole number of at least 1, got NaN",
  ],
  [{ gap: -1 }, "history.gap must be a whole number of at least 0, got -1"],
  [{ gap: 0.5 }, "history.gap must be a whole number of at least 0, got 0.5"],
  [{ maxCapacity: 10, gap: 10 }, "history.gap must be smaller than the capacity of 10, got 10"],
  [{ maxBytes: 0 }, "history.maxBytes must be a whole number of at least 1, got 0"],
  [{ maxBytes: Infinity }, "history.maxBytes must be a whole number of at least 1, got Infinity"],
])("%j is refused with the option and its value", (options, message) => {
  expect(() => resolveHistoryOptions(options)).toThrow(new RangeError(message));
});
