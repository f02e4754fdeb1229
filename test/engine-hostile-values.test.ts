import { describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import {
  controller,
  mapped,
  queueController,
  shared,
  weak,
  type Controller,
  type QueueController,
} from "../src/controller/index.ts";
import { consoleLogger } from "../src/log/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { Task } from "../src/tasks/index.ts";
import { Int, Str } from "../src/testing/index.ts";
import { startEngine } from "./engine-fixture.ts";
import { hostileValues } from "./fixtures/hostile-values.ts";

/** Where a controller can throw or return something: each makes a controller that does. */
const places: Readonly<Record<string, (make: () => unknown) => unknown>> = {
  "thrown by reconcile": (make) => queue({ reconcile: () => fail(make) }),
  "rejected by reconcile": (make) => queue({ reconcile: async () => fail(make) }),
  "returned by reconcile": (make) => queue({ reconcile: make }),
  "resolved by reconcile": (make) => queue({ reconcile: async () => make() }),
  "thrown by a change": (make) =>
    queue({ reconcile: ({ state }: Given) => state.modify(Str, "x", () => fail(make) as never) }),
  "returned by a change": (make) =>
    queue({ reconcile: ({ state }: Given) => state.modify(Str, "x", () => make() as never) }),
  "thrown by a mapper": (make) => queue({ inputs: [mapped(Str, () => fail(make) as never)] }),
  "rejected by a mapper": (make) => queue({ inputs: [mapped(Str, async () => fail(make) as never)] }),
  "returned by a mapper": (make) => queue({ inputs: [mapped(Str, make as never)] }),
  "in a mapper's list": (make) => queue({ inputs: [mapped(Str, () => [Int.ref("other"), make()] as never)] }),
  "in a mapper's reference": (make) =>
    queue({ inputs: [mapped(Str, () => [{ ...Int.ref("other"), id: make() }] as never)] }),
  "thrown by mapInput": (make) => queue({ inputs: [mapped(Str)], mapInput: () => fail(make) }),
  "thrown by a run hook": (make) => queue({ runHook: () => fail(make) }),
  "rejected by a run hook": (make) => queue({ runHook: async () => fail(make) }),
  "thrown by a shutdown hook": (make) => queue({ shutdownHook: () => fail(make) }),
  "rejected by a shutdown hook": (make) => queue({ shutdownHook: async () => fail(make) }),
  "thrown by a classic reconcile": (make) => classic({ reconcile: () => fail(make) }),
  "rejected by a classic reconcile": (make) => classic({ reconcile: async () => fail(make) }),
  "returned by a classic reconcile": (make) => classic({ reconcile: make }),
  "thrown by a classic run": (make) => classic({ run: () => fail(make) }),
  "rejected by a classic run": (make) => classic({ run: async () => fail(make) }),
  "given to updateInputs": (make) =>
    classic({ reconcile: ({ updateInputs }: Given) => updateInputs([make(), { ...weak(Int), id: make() }]) }),
};

type Given = { state: { modify: MemoryState["modify"] }; updateInputs: (inputs: unknown) => Promise<void> };

function fail(make: () => unknown): never {
  throw make();
}

const queue = (parts: object) =>
  queueController({ name: "Bad", primary: Int, outputs: [shared(Str)], reconcile() {}, ...parts });

const classic = (parts: object) => controller({ name: "Bad", inputs: [weak(Int)], ...parts });

describe.each(Object.entries(places))("%s", (_, badController) => {
  test.each(Object.entries(hostileValues))("%s stops nothing else", async (_name, make) => {
    const clock = new ManualClock();
    const state = new MemoryState({ clock });
    const lines: string[] = [];
    const seen: string[] = [];
    const good = queueController({ name: "Good", primary: Int, reconcile: ({ ref }) => void seen.push(ref.id) });
    await using engine = await startEngine(
      state,
      [badController(make) as Controller | QueueController, good as never],
      { clock, logger: consoleLogger({ level: "debug", write: (line) => lines.push(line) }) },
    );
    await clock.settle();
    await state.create(Int.create("a", { value: 1 }));
    await state.create(Str.create("a", { value: "" }));
    await clock.advance(1_000);
    await state.create(Int.create("b", { value: 1 }));
    await clock.advance(1_000);
    expect(seen).toEqual(["a", "b"]);
    const { controllers, reasons } = await engine.runtime.explain(Int.ref("a"));
    for (const { lastError, outcomes } of controllers) JSON.stringify([lastError?.message, lastError?.stack, outcomes]);
    expect(reasons.every((reason) => typeof reason === "string")).toBe(true);
    await engine.stop();
  });
});

test.each(Object.entries(hostileValues))("%s, thrown by a task, is one failure of it", async (_, make) => {
  const clock = new ManualClock();
  const lines: string[] = [];
  let runs = 0;
  const spec = {
    id: "bad",
    run() {
      runs++;
      fail(make);
    },
  };
  const log = consoleLogger({ write: (line) => lines.push(line) });
  await using _task = Task.start(spec, undefined, { log, clock });
  await clock.advance(1_000);
  expect(runs).toBeGreaterThan(1);
  expect(lines).toHaveLength(runs);
});
