import { describe, expect, test } from "vitest";
import type { InputKind, OutputKind } from "../../controller/index.ts";
import type { DeclaredInput } from "../declared-input.ts";
import { DependencyGraph } from "./dependency-graph.ts";
import { RegistrationError } from "../registration-error.ts";

const input = (kind: InputKind, namespace: string, type: string, id?: string): DeclaredInput => ({
  kind,
  namespace,
  type,
  id,
});

/** The code of the registration error that `act` throws; undefined when it throws nothing. */
function codeOf(act: () => void): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof RegistrationError && error.controller === "Me") return error.code;
    throw error;
  }
}

function withOutputs(): DependencyGraph {
  const graph = new DependencyGraph();
  const add = (name: string, type: string, kind: OutputKind) => graph.addOutput(name, { type, kind });
  add("ControllerBook", "Book", "exclusive");
  add("ControllerTable", "Table", "exclusive");
  add("ControllerTable", "Desk", "exclusive");
  add("ControllerBook", "Magazine", "shared");
  add("ControllerTable", "Magazine", "shared");
  add("ControllerBook", "Journal", "shared");
  return graph;
}

describe("outputs", () => {
  test("are claimed exclusively or shared, and conflicts name both sides [engine T-22]", () => {
    const graph = withOutputs();
    const claim = (name: string, type: string, kind: OutputKind) => () => graph.addOutput(name, { type, kind });
    expect(claim("ControllerTable", "Book", "exclusive")).toThrow(/Book.*exclusive.*"ControllerBook"/);
    expect(claim("ControllerFoo", "Journal", "exclusive")).toThrow(/Journal.*shared.*"ControllerBook"/);
    expect(claim("ControllerBook", "Magazine", "shared")).toThrow(/duplicate.*Magazine.*"ControllerBook"/);
    expect(graph.exclusiveControllerOf("Table")).toBe("ControllerTable");
    expect(graph.exclusiveControllerOf("Magazine")).toBeUndefined();
    expect(graph.outputsOf("ControllerBook")).toEqual([
      { type: "Book", kind: "exclusive" },
      { type: "Journal", kind: "shared" },
      { type: "Magazine", kind: "shared" },
    ]);
    expect(graph.outputsOf("Unknown")).toEqual([]);
    expect(graph.writersOf("Magazine")).toEqual(["ControllerBook", "ControllerTable"]);
  });

  test.for([
    ["nothing", "exclusive", undefined],
    ["nothing", "shared", undefined],
    ["exclusive by another", "exclusive", "output_conflict"],
    ["exclusive by another", "shared", "output_conflict"],
    ["exclusive by itself", "exclusive", "output_conflict"],
    ["exclusive by itself", "shared", "output_conflict"],
    ["shared by another", "exclusive", "output_conflict"],
    ["shared by another", "shared", undefined],
    ["shared by itself", "exclusive", "output_conflict"],
    ["shared by itself", "shared", "duplicate_output"],
  ] as const)("over a type claimed %s, a claim that is %s gives %s", ([present, kind, code]) => {
    const graph = new DependencyGraph();
    const [presentKind, owner] = present.split(" by ");
    if (owner !== undefined) {
      graph.addOutput(owner === "itself" ? "Me" : "Other", { type: "T", kind: presentKind as OutputKind });
    }
    expect(codeOf(() => graph.addOutput("Me", { type: "T", kind }))).toBe(code);
  });
});

describe("inputs", () => {
  test("say who depends on what [engine T-23]", () => {
    const graph = new DependencyGraph();
    graph.addInput("ConfigController", input("weak", "user", "Config"));
    expect(graph.inputsOf("ConfigController")).toEqual([input("weak", "user", "Config")]);
    graph.addInput("ConfigController", input("strong", "state", "Machine", "system"));
    expect(graph.inputsOf("ConfigController")).toEqual([
      input("strong", "state", "Machine", "system"),
      input("weak", "user", "Config"),
    ]);
    expect(graph.dependentsOf("user", "Config", "config")).toEqual(["ConfigController"]);
    expect(graph.dependentsOf("user", "Spec", "config")).toEqual([]);
    expect(graph.dependentsOf("state", "Machine", "node")).toEqual([]);
    expect(graph.dependentsOf("state", "Machine", "system")).toEqual(["ConfigController"]);
    graph.deleteInput("ConfigController", input("strong", "state", "Machine", "system"));
    expect(graph.dependentsOf("state", "Machine", "system")).toEqual([]);
  });

  test("of a whole kind come before those of one resource, and are not de-duplicated", () => {
    const graph = new DependencyGraph();
    graph.addInput("ById", input("weak", "ns", "T", "x"));
    graph.addInput("Both", input("weak", "ns", "T", "x"));
    graph.addInput("Both", input("weak", "ns", "T"));
    expect(graph.dependentsOf("ns", "T", "x")).toEqual(["Both", "ById", "Both"]);
  });

  test("of one controller must differ in more than their kinds", () => {
    const graph = new DependencyGraph();
    graph.addInput("C", input("primary", "ns", "T"));
    expect(() => graph.addInput("C", input("mappedDestroyReady", "ns", "T"))).toThrow(
      expect.objectContaining({ code: "duplicate_input" }),
    );
    graph.addInput("C", input("mapped", "ns", "T", "x"));
    expect(() => graph.deleteInput("C", input("mapped", "ns", "Other"))).toThrow(/"C" has no input Other/);
  });

  test("are copies, so that no caller changes the graph", () => {
    const graph = new DependencyGraph();
    graph.addInput("C", input("weak", "ns", "T"));
    graph.inputsOf("C").pop();
    expect(graph.inputsOf("C")).toHaveLength(1);
  });
});

describe("the graph", () => {
  test("exports its edges in one order [engine T-24]", () => {
    const graph = new DependencyGraph();
    graph.addOutput("ControllerTable", { type: "Magazine", kind: "shared" });
    graph.addOutput("ControllerTable", { type: "Table", kind: "exclusive" });
    graph.addOutput("ControllerBook", { type: "Magazine", kind: "shared" });
    graph.addOutput("ControllerBook", { type: "Journal", kind: "shared" });
    graph.addOutput("ControllerBook", { type: "Book", kind: "exclusive" });
    graph.addInput("ControllerTable", input("strong", "default", "Book"));
    graph.addInput("ControllerBook", input("weak", "user", "Config", "config"));
    const output = (controller: string, type: string, edge: string) => {
      return { controller, namespace: "", type, id: "", edge };
    };
    expect(graph.edges()).toEqual([
      output("ControllerBook", "Book", "exclusive"),
      output("ControllerTable", "Table", "exclusive"),
      output("ControllerBook", "Journal", "shared"),
      output("ControllerBook", "Magazine", "shared"),
      output("ControllerTable", "Magazine", "shared"),
      { controller: "ControllerBook", namespace: "user", type: "Config", id: "config", edge: "weak" },
      { controller: "ControllerTable", namespace: "default", type: "Book", id: "", edge: "strong" },
    ]);
  });

  test("forgets a controller completely", () => {
    const graph = withOutputs();
    graph.addInput("ControllerBook", input("weak", "ns", "T"));
    graph.addInput("ControllerBook", input("weak", "ns", "T", "x"));
    graph.remove("ControllerBook");
    expect(graph.outputsOf("ControllerBook")).toEqual([]);
    expect(graph.inputsOf("ControllerBook")).toEqual([]);
    expect(graph.dependentsOf("ns", "T", "x")).toEqual([]);
    graph.addOutput("Other", { type: "Journal", kind: "exclusive" });
    expect(graph.writersOf("Magazine")).toEqual(["ControllerTable"]);
  });
});

test("dependents are looked up, not searched for: ten thousand other controllers are not even seen [engine T-25]", () => {
  const graph = new DependencyGraph();
  graph.addInput("Me", input("weak", "default", "T"));
  graph.addInput("Me too", input("strong", "default", "T", "one"));
  const before = graph.dependentsOfKind("default", "T");
  let looks = 0;
  for (let i = 0; i < 10_000; i++) {
    const other = input("weak", "elsewhere", `T${i}`);
    const counted = Object.defineProperty({ ...other }, "id", { get: () => void looks++, enumerable: true });
    graph.addInput(`Other${i}`, counted);
  }
  looks = 0;
  expect(graph.dependentsOf("default", "T", "one")).toEqual(["Me", "Me too"]);
  expect(graph.dependentsOf("default", "T", "two")).toEqual(["Me"]);
  // A live view: nothing is gathered for a look-up.
  expect(graph.dependentsOfKind("default", "T")).toBe(before);
  expect(looks).toBe(0);
});

test("building costs as much for the last of two thousand controllers as for the second [engine T-25]", () => {
  const graph = new DependencyGraph();
  let looks = 0;
  const counted = (declared: DeclaredInput): DeclaredInput =>
    Object.defineProperty({ ...declared }, "type", { get: () => (looks++, declared.type), enumerable: true });
  const looksOf = Array.from({ length: 2_000 }, (_, i) => {
    looks = 0;
    graph.addOutput(`C${i}`, { type: `Out${i}`, kind: "exclusive" });
    graph.addInput(`C${i}`, counted(input("weak", "default", "Shared")));
    graph.addInput(`C${i}`, counted(input("strong", "default", `T${i}`)));
    return looks;
  });
  expect(new Set(looksOf.slice(1)).size).toBe(1);
  expect(graph.dependentsOfKind("default", "Shared").wide).toHaveLength(2_000);
});
