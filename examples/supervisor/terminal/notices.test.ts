import { describe, expect, test } from "vitest";

import type { ServiceStatusSpec } from "../resources/index.ts";
import { describeConfigChange, describeManifestChange, describeServiceChange } from "./notices.ts";

const status = (other: Partial<ServiceStatusSpec>): ServiceStatusSpec => ({
  state: "running",
  ready: true,
  leaving: false,
  health: "none",
  since: "2026-01-01T00:00:00Z",
  restarts: 0,
  failures: 0,
  run: 1,
  countedRun: 0,
  generation: 1,
  dependsOn: [],
  reason: "",
  startReason: "",
  ...other,
});

/** What is said along a series of statuses. */
function story(...statuses: readonly Partial<ServiceStatusSpec>[]): string[] {
  const all = statuses.map(status);
  return all.flatMap((now, i) => describeServiceChange("web", all[i - 1], now).map(({ text }) => text));
}

describe("notices", () => {
  test("a service's life is one line a step", () => {
    expect(
      story(
        { state: "waiting", ready: false, reason: "waits for db (starting)" },
        { state: "waiting", ready: false, reason: "waits for db (running)" },
        { state: "starting", ready: false },
        { state: "starting", ready: false, pid: 7 },
        { state: "starting", ready: false, pid: 7, reason: "waits for its health check" },
        { pid: 7, health: "healthy" },
        { pid: 7, health: "healthy", failures: 0 },
        { state: "backoff", ready: false, reason: "exited with code 1" },
        { state: "starting", ready: false, run: 2, pid: 8 },
        { state: "backoff", ready: false, run: 2, reason: "exited with code 1" },
      ),
    ).toEqual([
      "web: waits for db",
      "web: started (pid 7)",
      "web: ready (pid 7, healthy)",
      "web: exited with code 1; starts again soon",
      "web: started (pid 8)",
      "web: exited with code 1; starts again soon",
    ]);
  });

  test("a mistake is told once, and that it is mended", () => {
    const problem = { severity: "error" as const, line: 4, column: 3, field: "spec.command", message: "is missing" };
    const broken = { problems: [problem], applied: [], kept: [] };
    const good = { problems: [], applied: [], kept: [] };
    expect(describeManifestChange("a.yaml", good, broken)).toEqual([
      { level: "error", text: "a.yaml:4:3: spec.command: is missing" },
    ]);
    expect(describeManifestChange("a.yaml", broken, { ...broken, kept: ["Services/a"] })).toEqual([]);
    expect(describeManifestChange("a.yaml", broken, good)).toEqual([
      { level: "info", text: "a.yaml: the mistakes are corrected" },
    ]);
  });

  test("one mistake is one line: the manifest says what blocks a service, and a stop without a reason is none", () => {
    expect(
      story(
        { state: "blocked", ready: false, reason: "depends on db, which is not declared" },
        { state: "starting", ready: false, pid: 7 },
        { state: "stopping", ready: false, pid: 7, reason: "" },
        { state: "waiting", ready: false, reason: "waits for config file c (failed)" },
      ),
    ).toEqual(["web: started (pid 7)", "web: waits for config file c"]);
    const failed = { path: "p", digest: "", inputs: "1", error: "no X" };
    expect(describeConfigChange("c", undefined, failed)).toEqual([{ level: "error", text: "config file c: no X" }]);
    expect(describeConfigChange("c", failed, { ...failed, inputs: "2" })).toEqual([]);
  });
});
