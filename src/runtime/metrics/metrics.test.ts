import { describe, expect, test } from "vitest";
import { MetricsRegistry } from "./metrics.ts";

describe("MetricsRegistry", () => {
  test("counts by controller; what was never counted is absent and means 0", () => {
    const registry = new MetricsRegistry();
    registry.controller("b").wakeups += 2;
    registry.controller("a").wakeups += 1;
    registry.controller("a").reads += 3;
    const snapshot = registry.snapshot();
    expect(Object.entries(snapshot["controller_wakeups"] ?? {})).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
    expect(snapshot["controller_reads"]).toEqual({ a: 3 });
    expect(snapshot["controller_crashes"]).toEqual({});
    expect(registry.value("controller_reads", "a")).toBe(3);
    expect(registry.value("controller_reads", "b")).toBe(0);
    expect(registry.value("no_such_metric", "a")).toBe(0);
  });

  test("is one JSON object with both names of each metric, keys sorted", () => {
    const registry = new MetricsRegistry();
    registry.controller("IntToStrController").wakeups = 7;
    registry.cachedResources("test/int").value = 2;
    const json = JSON.parse(JSON.stringify(registry)) as Record<string, unknown>;
    expect(json["controller_wakeups"]).toEqual({ IntToStrController: 7 });
    expect(json["cosi_controller_wakeups"]).toEqual({ IntToStrController: 7 });
    expect(json["cosi_cached_resources"]).toEqual({ "test/int": 2 });
    expect(Object.keys(json)).toEqual(Object.keys(json).toSorted());
    expect(Object.keys(json)).toHaveLength(34);
  });

  test("takes any text as a label", () => {
    const registry = new MetricsRegistry();
    registry.controller("__proto__").crashes = 1;
    expect(registry.value("controller_crashes", "__proto__")).toBe(1);
    expect(registry.value("controller_crashes", "toString")).toBe(0);
  });

  test("a snapshot does not change any more", () => {
    const registry = new MetricsRegistry();
    const metrics = registry.controller("a");
    metrics.wakeups = 1;
    const snapshot = registry.snapshot();
    metrics.wakeups = 2;
    expect(snapshot["controller_wakeups"]).toEqual({ a: 1 });
  });
});
