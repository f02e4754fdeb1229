import type { Immutable } from "homeostat";

import type { HealthCheckSpec, HealthStatusSpec } from "../resources/index.ts";

/** What came of a question: a good answer, a bad one, or none, because it could not be asked. */
export type Answer =
  | { readonly kind: "good" }
  | { readonly kind: "bad"; readonly message: string }
  | { readonly kind: "none"; readonly message: string };

/** The status after one more answer. @param upMs - How long the process had run when it was asked. */
export function countAnswer(
  check: Immutable<HealthCheckSpec>,
  before: Immutable<HealthStatusSpec>,
  answer: Answer,
  upMs: number,
): HealthStatusSpec {
  if (answer.kind === "none") {
    // That says nothing about the service, neither good nor bad.
    return { ...before, successes: 0, failures: 0, message: answer.message, health: "unknown" };
  }
  if (answer.kind === "good") {
    const successes = Math.min(before.successes + 1, check.successThreshold);
    const health = successes >= check.successThreshold ? "healthy" : before.health;
    return { ...before, successes, failures: 0, message: "", health };
  }
  // A process that is still starting, and has never been well, is given time.
  const counts = before.health !== "unknown" || upMs >= check.startPeriodMs;
  const failures = counts ? Math.min(before.failures + 1, check.failureThreshold) : before.failures;
  const health = failures >= check.failureThreshold ? "unhealthy" : before.health;
  return { ...before, successes: 0, failures, message: answer.message, health };
}
