import { describe, expect, test } from "vitest";
import { OutcomeLog, type Outcome } from "./outcome-log.ts";

const outcome = (atMs: number): Outcome => ({ kind: "done", atMs, tookMs: 1 });

describe("OutcomeLog", () => {
  test("keeps the last eight outcomes of a key, oldest first", () => {
    const log = new OutcomeLog(10);
    for (let i = 0; i < 20; i++) log.add("key", outcome(i));
    expect(log.of("key").map(({ atMs }) => atMs)).toEqual([12, 13, 14, 15, 16, 17, 18, 19]);
    expect(log.of("other")).toEqual([]);
  });

  test("forgets the key that ran longest ago when there are too many", () => {
    const log = new OutcomeLog(3);
    for (const key of ["a", "b", "c"]) log.add(key, outcome(1));
    log.add("a", outcome(2));
    log.add("d", outcome(3));
    log.add("e", outcome(4));
    expect(log.keys).toBe(3);
    expect(["a", "b", "c", "d", "e"].filter((key) => log.of(key).length > 0)).toEqual(["a", "d", "e"]);
    for (let i = 0; i < 100; i++) log.add(`key-${i}`, outcome(i));
    expect(log.keys).toBe(3);
    expect(log.of("key-99")).toHaveLength(1);
  });

  test("remembers one key if it may remember no more", () => {
    const log = new OutcomeLog(1);
    log.add("a", outcome(1));
    log.add("b", outcome(2));
    log.add("b", outcome(3));
    expect([log.of("a").length, log.of("b").length]).toEqual([0, 2]);
  });
});
