import { expect, test } from "vitest";
import type { GraphEdge } from "./graph-edge.ts";
import { Graph } from "./graph.ts";

const edges: readonly GraphEdge[] = [
  { controller: "IntToStr", namespace: "", type: "test/str", id: "", edge: "exclusive" },
  { controller: 'Odd "name"', namespace: "", type: "test/<sum>", id: "", edge: "shared" },
  { controller: "IntToStr", namespace: "default", type: "test/int", id: "", edge: "strong" },
  { controller: 'Odd "name"', namespace: "default", type: "test/str", id: "one", edge: "destroyReady" },
];

test("the graph is drawn for Graphviz: boxes for controllers, arrows in the way that changes take", () => {
  expect(new Graph(edges).toDot()).toBe(`digraph controllers {
  rankdir=LR;
  "controller:IntToStr" [shape=box, label="IntToStr"];
  "controller:Odd \\"name\\"" [shape=box, label="Odd \\"name\\""];
  "resource:test/str" [label="test/str"];
  "resource:test/<sum>" [label="test/<sum>"];
  "resource:test/int" [label="test/int"];
  "controller:IntToStr" -> "resource:test/str" [label="writes"];
  "controller:Odd \\"name\\"" -> "resource:test/<sum>" [label="writes, shared"];
  "resource:test/int" -> "controller:IntToStr" [label="reads, holds default"];
  "resource:test/str" -> "controller:Odd \\"name\\"" [label="when destroy-ready default/one"];
}
`);
});

test("the graph is drawn for Mermaid, with names that cannot break out of their labels", () => {
  expect(new Graph(edges).toMermaid()).toBe(`flowchart LR
  c0["IntToStr"]
  c1["Odd &quot;name&quot;"]
  r0("test/str")
  r1("test/&lt;sum&gt;")
  r2("test/int")
  c0 -->|"writes"| r0
  c1 -->|"writes, shared"| r1
  r2 -->|"reads, holds default"| c0
  r0 -->|"when destroy-ready default/one"| c1
`);
});

test("the graph is plain data as JSON", () => {
  expect(JSON.parse(JSON.stringify(new Graph(edges)))).toEqual(edges);
});
