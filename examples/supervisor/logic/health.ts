import type { Immutable } from "homeostat";

import type { HealthCheckSpec, HealthStatusSpec } from "../resources/index.ts";

/**
 * The status after one more answer.
 *
 * @param failure - What is wrong; undefined for a good answer.
 * @param upMs - How long the process had run when it was asked.
 */
export function countAnswer(
  check: Immutable<HealthCheckSpec>,
  before: Immutable<HealthStatusSpec>,
  failure: string | undefined,
  upMs: number,
): HealthStatusSpec {
  if (failure === undefined) {
    const successes = Math.min(before.successes + 1, check.successThreshold);
    const health = successes >= check.successThreshold ? "healthy" : before.health;
    return { ...before, successes, failures: 0, message: "", health };
  }
  // A process that is still starting, and has never been well, is given time.
  const counts = before.health !== "unknown" || upMs >= check.startPeriodMs;
  const failures = counts ? Math.min(before.failures + 1, check.failureThreshold) : before.failures;
  const health = failures >= check.failureThreshold ? "unhealthy" : before.health;
  return { ...before, successes: 0, failures, message: failure, health };
}
