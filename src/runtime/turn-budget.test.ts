import { describe, expect, test } from "vitest";
import { TurnBudget } from "./turn-budget.ts";

/** Turns of an event loop that the test makes happen. */
function setUp(mostRuns: number) {
  let deferred: (() => void)[] = [];
  const budget = new TurnBudget({ defer: (fn) => deferred.push(fn) }, mostRuns);
  const nextTurn = (): number => {
    const now = deferred;
    deferred = [];
    for (const fn of now) fn();
    return now.length;
  };
  return { budget, nextTurn };
}

describe("TurnBudget", () => {
  test("gives so many runs a turn", () => {
    const { budget, nextTurn } = setUp(3);
    expect([0, 0, 0, 0].map((nowMs) => budget.take(nowMs))).toEqual([true, true, true, false]);
    nextTurn();
    expect(budget.take(0)).toBe(true);
  });

  test("gives no run when those of the turn have taken 2 ms", () => {
    const { budget, nextTurn } = setUp(1000);
    expect([10, 11.9, 12, 12.1].map((nowMs) => budget.take(nowMs))).toEqual([true, true, false, false]);
    nextTurn();
    expect(budget.take(20)).toBe(true);
  });

  test("gives everyone a turn, however much each has to do", () => {
    const { budget, nextTurn } = setUp(10);
    const runs = { a: 0, b: 0, c: 0 };
    const work = (name: keyof typeof runs) => () => {
      while (budget.take(0)) runs[name]++;
      budget.resume(work(name));
    };
    for (const name of ["a", "b", "c"] as const) work(name)();
    for (let turn = 0; turn < 29; turn++) nextTurn();
    expect(runs.a + runs.b + runs.c).toBe(300);
    for (const had of Object.values(runs)) expect(Math.abs(had - 100)).toBeLessThanOrEqual(10);
  });

  test("asks for no further turn when nobody stands in line", () => {
    const { budget, nextTurn } = setUp(10);
    budget.take(0);
    expect([nextTurn(), nextTurn()]).toEqual([1, 0]);
  });
});
