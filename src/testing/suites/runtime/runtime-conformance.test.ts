import { expect, test } from "vitest";
import { MemoryState } from "../../../memory/index.ts";
import { Int } from "../conformance-resources.ts";
import { RUNTIME_SCENARIOS, runtimeConformance, type RuntimeSuiteOptions } from "./runtime-conformance.ts";

/** The tests that the suite registers, by name. */
function testsOf(options: Partial<RuntimeSuiteOptions> = {}) {
  const tests = new Map<string, Parameters<Parameters<typeof runtimeConformance>[0]["test"]>[1]>();
  const api = { test: (name: string, fn: Parameters<typeof tests.set>[1]) => void tests.set(name, fn) };
  runtimeConformance(api, { newState: () => new MemoryState(), ...options });
  return tests;
}

const [first = ""] = RUNTIME_SCENARIOS;

test("registers one test for each scenario", () => {
  expect([...testsOf().keys()]).toEqual(RUNTIME_SCENARIOS);
  expect(RUNTIME_SCENARIOS).toHaveLength(14);
});

test("a scenario fails when the State does not take writes after it", async () => {
  let disposed = false;
  class FullState extends MemoryState {
    override async [Symbol.asyncDispose](): Promise<void> {
      await super[Symbol.asyncDispose]();
      disposed = true;
    }
  }
  const newState = async () => {
    const state = new FullState();
    await state.create(Int.create("xxx", { value: 1 }));
    return state;
  };
  await expect(testsOf({ newState }).get(first)?.()).rejects.toMatchObject({ code: "already_exists" });
  expect(disposed).toBe(true);
});

test("a scenario is skipped with its reason, and a skip that fits none is refused", async () => {
  const reasons: string[] = [];
  const newState = () => {
    throw new Error("opened a State for nothing");
  };
  await testsOf({ newState, skip: { [first]: "because" } }).get(first)?.({
    skip: (reason) => void reasons.push(reason),
  });
  expect(reasons).toEqual(["because"]);
  expect(() => testsOf({ skip: { "no such": "x" } })).toThrow(
    'skip names "no such", which is no scenario of the suite',
  );
});
