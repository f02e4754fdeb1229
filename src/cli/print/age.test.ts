import { expect, test } from "vitest";
import { formatAge } from "./age.ts";

const START = "2020-01-01T00:00:00.5Z";
const S = 1_000;
const H = 3_600 * S;
const D = 24 * H;

test.each([
  [-5 * S, "0s"],
  [0, "0s"],
  [119 * S, "119s"],
  [120 * S, "2m"],
  [330 * S, "5m30s"],
  [600 * S, "10m"],
  [3 * H - S, "179m"],
  [3 * H, "3h"],
  [5 * H + 60 * S, "5h1m"],
  [47 * H, "47h"],
  [3 * D + 4 * H, "3d4h"],
  [100 * D, "100d"],
  [800 * D, "2y70d"],
  [9 * 365 * D, "9y"],
])("an age of %d ms is %s", (ms, text) => {
  expect(formatAge(START, Date.parse(START) + ms)).toBe(text);
});

test("a time that was never set has no age", () => {
  expect(formatAge("1970-01-01T00:00:00Z", Date.now())).toBe("<unknown>");
  expect(formatAge("soon", Date.now())).toBe("<unknown>");
});
