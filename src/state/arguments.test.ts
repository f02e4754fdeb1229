import { expect, test } from "vitest";
import { MemoryState } from "../memory/index.ts";
import { hasCode } from "../resource/index.ts";
import { Int } from "../testing/index.ts";

const NO_OBJECTS: readonly unknown[] = [undefined, null, 1, "x", true, 1n, Symbol("s"), () => {}];
const REF = Int.ref("a");
const change = (): void => {};

/** Each method with arguments that fit, and which of them are looked at. */
const CALLS: readonly (readonly [method: string, args: readonly unknown[], wrong: readonly (readonly unknown[])[]])[] =
  [
    ["get", [REF, {}], [NO_OBJECTS, [null, 1]]],
    ["get", [Int, "a", {}], [[...NO_OBJECTS, {}, []], [], [null, "x"]]],
    ["getOrNull", [REF, {}], [NO_OBJECTS, [null, 1]]],
    ["getOrNull", [Int, "a", {}], [[...NO_OBJECTS, {}, []], [], [null, "x"]]],
    ["list", [Int, {}], [NO_OBJECTS, [null, "x"]]],
    [
      "create",
      [Int.create("b", { value: 1 }), {}],
      [
        [...NO_OBJECTS, {}, { metadata: 1 }],
        [null, "x"],
      ],
    ],
    [
      "update",
      [Int.create("b", { value: 1 }), {}],
      [
        [...NO_OBJECTS, {}, { metadata: 1 }],
        [null, "x"],
      ],
    ],
    ["destroy", [REF, {}], [NO_OBJECTS, [null, "x"]]],
    ["watch", [REF, {}], [NO_OBJECTS, [null, 1]]],
    ["watch", [Int, "a", {}], [[...NO_OBJECTS, {}, []], [], [null, "x"]]],
    ["watchKind", [Int, {}], [NO_OBJECTS, [null, "x"]]],
    ["watchKindBatches", [Int, {}], [NO_OBJECTS, [null, "x"]]],
    ["modify", [Int, "a", change, {}], [[...NO_OBJECTS, {}, []], [], [undefined, null, 1, {}], [null, "x"]]],
    [
      "modify",
      [Int.create("b", { value: 1 }), change, {}],
      [
        [{}, { metadata: 1 }],
        [null, 1, {}],
        [null, "x"],
      ],
    ],
    ["updateWithConflicts", [REF, change, {}], [NO_OBJECTS, [undefined, null, 1, {}], [null, "x"]]],
    ["watchFor", [REF, { events: ["Created"] }, {}], [NO_OBJECTS, [null, 1], [null, "x"]]],
    ["teardown", [REF, {}], [NO_OBJECTS, [null, "x"]]],
    ["teardownAndDestroy", [REF, {}], [NO_OBJECTS, [null, "x"]]],
    ["addFinalizer", [REF, "f"], [NO_OBJECTS]],
    ["removeFinalizer", [REF, "f"], [NO_OBJECTS]],
    ["signalWithTeardown", [REF, {}], [NO_OBJECTS, [null, "x"]]],
  ];

test.each(CALLS)(
  "%s refuses what no compiler has checked: it rejects, names it, and throws nothing",
  async (...call) => {
    const [method, fitting, wrong] = call;
    await using state = new MemoryState({ types: [Int] });
    await state.create(Int.create("a", { value: 1 }));
    const run = Reflect.get(state, method) as (...args: readonly unknown[]) => Promise<unknown>;
    for (const [at, values] of wrong.entries()) {
      for (const value of values) {
        const answer = run.apply(state, fitting.with(at, value));
        const error: unknown = await answer.then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
        expect(hasCode(error, "invalid"), `${method}: ${shown} as argument ${at}: ${String(error)}`).toBe(true);
        expect(String(error)).toContain(`got ${shown}`);
      }
    }
  },
);

test("an id that is none is rejected as well, not thrown", async () => {
  await using state = new MemoryState({ types: [Int] });
  await expect(state.modify(Int, "", change)).rejects.toThrow("id");
});
