import { describe, expect, test } from "vitest";

import { HealthCheck, type HealthStatusSpec } from "../resources/index.ts";
import { countAnswer } from "./health.ts";

const START: HealthStatusSpec = {
  service: "a",
  run: 1,
  health: "unknown",
  successes: 0,
  failures: 0,
  message: "",
};
const BAD = { kind: "bad", message: "refused" } as const;
const check = (input: Partial<Parameters<typeof HealthCheck.create>[1]>) =>
  HealthCheck.parseSpec({ service: "a", tcp: "x:1", startPeriodMs: 0, ...input });

/** Health after each answer; true is a good one. */
function healths(spec: ReturnType<typeof check>, answers: readonly boolean[], upMs = 0): string[] {
  let status = START;
  return answers.map((good) => {
    status = countAnswer(spec, status, good ? { kind: "good" } : BAD, upMs);
    return status.health;
  });
}

describe("health", () => {
  test("it takes as many good answers in a row as asked for, and as many bad ones", () => {
    const spec = check({ successThreshold: 2, failureThreshold: 3 });
    expect(healths(spec, [true, false, true, true])).toEqual(["unknown", "unknown", "unknown", "healthy"]);
    expect(healths(spec, [true, true, false, false, true, false, false, false]).slice(2)).toEqual([
      "healthy",
      "healthy",
      "healthy",
      "healthy",
      "healthy",
      "unhealthy",
    ]);
    expect(healths(spec, [false, false, false, true, true])).toEqual([
      "unknown",
      "unknown",
      "unhealthy",
      "unhealthy",
      "healthy",
    ]);
  });

  test("bad answers do not count in the start period, until the first good one", () => {
    const spec = check({ failureThreshold: 1, startPeriodMs: 1000 });
    expect(healths(spec, [false, false], 999)).toEqual(["unknown", "unknown"]);
    expect(healths(spec, [false], 1000)).toEqual(["unhealthy"]);
    expect(healths(spec, [true, false], 500)).toEqual(["healthy", "unhealthy"]);
  });

  test("the last bad answer is told until a good one comes", () => {
    const bad = countAnswer(check({}), START, BAD, 0);
    expect(bad).toMatchObject({ message: "refused", failures: 1 });
    expect(countAnswer(check({}), bad, { kind: "good" }, 0)).toMatchObject({
      message: "",
      failures: 0,
      health: "healthy",
    });
  });

  test("a check that could not be run says nothing: unknown, and counted from the start again", () => {
    const spec = check({ failureThreshold: 2 });
    const none = { kind: "none", message: "no such program" } as const;
    const healthy = countAnswer(spec, START, { kind: "good" }, 0);
    const unknown = countAnswer(spec, healthy, none, 0);
    expect(unknown).toMatchObject({ health: "unknown", failures: 0, message: "no such program" });
    const ill = countAnswer(spec, countAnswer(spec, START, BAD, 0), BAD, 0);
    expect(ill.health).toBe("unhealthy");
    expect(countAnswer(spec, ill, none, 0)).toMatchObject({ health: "unknown", failures: 0 });
    expect(countAnswer(spec, unknown, BAD, 0)).toMatchObject({ health: "unknown", failures: 1 });
  });
});
