import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";

import { dependenciesOf, findCycle } from "./dependency-graph.ts";

const graph = (edges: Record<string, string[]>) => new Map(Object.entries(edges));

describe("dependency graph", () => {
  test("a cycle is told with its path", () => {
    expect(findCycle(graph({ a: ["b"], b: ["c"], c: ["a"] }), "b")).toEqual(["b", "c", "a", "b"]);
    expect(findCycle(graph({ a: ["a"] }), "a")).toEqual(["a", "a"]);
  });

  test("who only depends on a cycle is not part of it", () => {
    expect(findCycle(graph({ x: ["a"], a: ["b"], b: ["a"] }), "x")).toBeUndefined();
  });

  test("unknown services end a path", () => {
    expect(findCycle(graph({ a: ["nowhere"] }), "a")).toBeUndefined();
    expect([...dependenciesOf(graph({ a: ["b"], b: ["nowhere"] }), "a")]).toEqual(["b", "nowhere"]);
  });

  const names = fc.constantFrom("a", "b", "c", "d", "e");
  property.prop([fc.dictionary(names, fc.array(names)), names])(
    "there is a cycle exactly when a service is among its own dependencies, and its path follows the edges",
    (edges, start) => {
      const known = graph(edges);
      const cycle = findCycle(known, start);
      expect(cycle !== undefined).toBe(dependenciesOf(known, start).has(start));
      if (cycle === undefined) return;
      expect([cycle[0], cycle.at(-1)]).toEqual([start, start]);
      for (const [i, name] of cycle.slice(1).entries()) expect(known.get(cycle[i] ?? "")).toContain(name);
    },
  );
});
