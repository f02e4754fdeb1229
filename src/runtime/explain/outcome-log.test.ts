import { describe, expect, test } from "vitest";
import { OutcomeLog, type Outcome } from "./outcome-log.ts";

const failed = (atMs: number): Outcome => ({ kind: "failed", atMs, tookMs: 1, reason: "broken" });

describe("OutcomeLog", () => {
  test("tells the last eight outcomes of a key, oldest first, successes among the others", () => {
    const log = new OutcomeLog(10);
    for (let i = 0; i < 20; i++) {
      if (i % 3 === 0) log.add("key", failed(i));
      else log.succeeded("key", i, 2);
      log.succeeded("noise", i, 2);
    }
    expect(log.of("key").map(({ kind, atMs }) => `${kind} ${atMs}`)).toEqual([
      "failed 12",
      "done 13",
      "done 14",
      "failed 15",
      "done 16",
      "done 17",
      "failed 18",
      "done 19",
    ]);
    expect(log.of("key").at(-1)).toEqual({ kind: "done", atMs: 19, tookMs: 2 });
    expect(log.of("other")).toEqual([]);
  });

  test("forgets the key that failed longest ago when there are too many", () => {
    const log = new OutcomeLog(3);
    for (const key of ["a", "b", "c"]) log.add(key, failed(1));
    log.add("a", failed(2));
    log.add("d", failed(3));
    log.add("e", failed(4));
    expect(["a", "b", "c", "d", "e"].filter((key) => log.of(key).length > 0)).toEqual(["a", "d", "e"]);
    for (let i = 0; i < 100; i++) log.add(`key-${i}`, failed(i));
    expect(["a", "d", "e", "key-96"].flatMap((key) => log.of(key))).toEqual([]);
    expect(log.of("key-97")).toHaveLength(1);
    expect(log.of("key-99")).toHaveLength(1);
  });

  test("a key that succeeds all the time pushes out no failure of another", () => {
    const log = new OutcomeLog(3);
    log.succeeded("failing", 1, 1);
    log.add("failing", failed(2));
    for (let i = 0; i < 5000; i++) log.succeeded("busy", i, 1);
    expect(log.of("failing")).toEqual([failed(2)]);
    expect(log.of("busy")).toHaveLength(8);
  });

  test("remembers one key if it may remember no more", () => {
    const log = new OutcomeLog(1);
    log.add("a", failed(1));
    log.add("b", failed(2));
    log.add("b", failed(3));
    expect([log.of("a").length, log.of("b").length]).toEqual([0, 2]);
  });
});
