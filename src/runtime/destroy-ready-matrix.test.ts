import { describe, expect, test } from "vitest";
import {
  controller,
  destroyReady,
  InputKind,
  mapped,
  mappedDestroyReady,
  queueController,
  strong,
  weak,
  type Controller,
  type QueueController,
} from "../controller/index.ts";
import { silentLogger } from "../log/index.ts";
import { MemoryState } from "../memory/index.ts";
import { Phase } from "../resource/index.ts";
import type { State } from "../state/index.ts";
import { Int, Str } from "../testing/index.ts";
import { Runtime } from "./runtime.ts";

const ref = Int.ref("x");
const setValue = async (state: State, value: number): Promise<void> => {
  await state.updateWithConflicts(ref, () => ({ value }), { expectedPhase: "any" });
};
const setLabel = async (state: State): Promise<void> => {
  await state.updateWithConflicts(ref, (_, metadata) => void (metadata.labels["a"] = "b"), { expectedPhase: "any" });
};
const setAnnotation = async (state: State): Promise<void> => {
  await state.updateWithConflicts(ref, (_, metadata) => void (metadata.annotations["a"] = "b"));
};
const create = async (state: State, finalizers: readonly string[] = []): Promise<void> => {
  await state.create(Int.create("x", { value: 1 }, { finalizers }));
};
const nothing = async (): Promise<void> => undefined;

/** One row of the table: what was there before the runtime started, what then happens, and whether it is destroy-ready. */
interface Row {
  readonly change: string;
  readonly before: (state: State) => Promise<void>;
  readonly act: (state: State) => Promise<void>;
  readonly seen: "everywhere" | "not where only destroy-ready ones count" | "nowhere";
}

const ROWS: readonly Row[] = [
  { change: "created", before: nothing, act: create, seen: "not where only destroy-ready ones count" },
  {
    change: "spec changed",
    before: create,
    act: (state) => setValue(state, 2),
    seen: "not where only destroy-ready ones count",
  },
  { change: "label changed", before: create, act: setLabel, seen: "not where only destroy-ready ones count" },
  { change: "annotation changed", before: create, act: setAnnotation, seen: "not where only destroy-ready ones count" },
  {
    change: "finalizer added while running",
    before: create,
    act: (state) => state.addFinalizer(ref, "f"),
    seen: "not where only destroy-ready ones count",
  },
  {
    change: "last finalizer removed while running",
    before: (state) => create(state, ["f"]),
    act: (state) => state.removeFinalizer(ref, "f"),
    seen: "not where only destroy-ready ones count",
  },
  {
    change: "torn down, finalizers left",
    before: (state) => create(state, ["f"]),
    act: async (state) => void (await state.teardown(ref)),
    seen: "not where only destroy-ready ones count",
  },
  {
    change: "one of several finalizers removed while tearing down",
    async before(state) {
      await create(state, ["f", "g"]);
      await state.teardown(ref);
    },
    act: (state) => state.removeFinalizer(ref, "f"),
    seen: "not where only destroy-ready ones count",
  },
  {
    change: "last finalizer removed while tearing down",
    async before(state) {
      await create(state, ["f"]);
      await state.teardown(ref);
    },
    act: (state) => state.removeFinalizer(ref, "f"),
    seen: "everywhere",
  },
  {
    change: "torn down, no finalizers",
    before: create,
    act: async (state) => void (await state.teardown(ref)),
    seen: "everywhere",
  },
  {
    change: "label changed while destroy-ready",
    async before(state) {
      await create(state);
      await state.teardown(ref);
    },
    act: setLabel,
    seen: "everywhere",
  },
  {
    change: "destroyed after teardown",
    async before(state) {
      await create(state);
      await state.teardown(ref);
    },
    act: (state) => state.destroy(ref),
    seen: "everywhere",
  },
  {
    change: "destroyed while running",
    before: create,
    act: (state) => state.destroy(ref),
    seen: "not where only destroy-ready ones count",
  },
  {
    change: "torn down, destroyed and created anew at once",
    before: create,
    async act(state) {
      await state.teardown(ref);
      await state.destroy(ref);
      await create(state);
    },
    seen: "not where only destroy-ready ones count",
  },
  { change: "written without a difference", before: create, act: (state) => setValue(state, 1), seen: "nowhere" },
];

/** Each kind of input, as a controller that counts nothing by itself. */
const INPUTS: Readonly<Record<InputKind, () => Controller | QueueController>> = {
  weak: () => controller({ name: "Me", inputs: [weak(Int)], reconcile() {} }) as Controller,
  strong: () => controller({ name: "Me", inputs: [strong(Int)], reconcile() {} }) as Controller,
  destroyReady: () => controller({ name: "Me", inputs: [destroyReady(Int)], reconcile() {} }) as Controller,
  primary: () => queueController({ name: "Me", primary: Int, reconcile() {} }) as unknown as QueueController,
  mapped: () => onStr(mapped(Int, () => [])),
  mappedDestroyReady: () => onStr(mappedDestroyReady(Int, () => [])),
};

const onStr = (
  input: ReturnType<typeof mapped<typeof Int, never>> | ReturnType<typeof mappedDestroyReady<typeof Int, never>>,
) => queueController({ name: "Me", primary: Str, inputs: [input], reconcile() {} }) as unknown as QueueController;

/** Wake-ups, reconciles and map jobs since the start. */
function counted(runtime: Runtime): Record<string, number> {
  const count = (metric: string) => runtime.metrics.value(metric, "Me");
  return {
    wakeups: count("controller_wakeups"),
    reconciles: count("qcontroller_processed"),
    maps: count("qcontroller_mapped_in"),
  };
}

const COUNTER: Readonly<Record<InputKind, string>> = {
  weak: "wakeups",
  strong: "wakeups",
  destroyReady: "wakeups",
  primary: "reconciles",
  mapped: "maps",
  mappedDestroyReady: "maps",
};

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe.for(Object.values(InputKind))("an input of kind %s", (kind) => {
  test.for(ROWS)("and a resource $change: seen $seen [engine X-5]", async ({ before, act, seen }) => {
    const state = new MemoryState();
    await before(state);
    const runtime = new Runtime(state, { controllers: [INPUTS[kind]()], logger: silentLogger });
    const stop = new AbortController();
    const running = runtime.run({ signal: stop.signal });
    await turns();
    const start = counted(runtime);
    // Synchronously: the steps of one act are one window in which changes are merged.
    await act(state);
    await turns();
    stop.abort();
    await running;
    const narrow = kind === "destroyReady" || kind === "mappedDestroyReady";
    const wakes = seen === "everywhere" || (seen !== "nowhere" && !narrow);
    expect(counted(runtime)).toEqual({ ...start, ...(wakes && { [COUNTER[kind]]: (start[COUNTER[kind]] ?? 0) + 1 }) });
  });
});

test("inputs on one kind are filtered each by itself, and by their ids", async () => {
  const state = new MemoryState();
  for (const id of ["a", "b", "c"]) await state.create(Int.create(id, { value: 1 }));
  const inputs = [weak(Int, "a"), destroyReady(Int, "b")];
  const me = controller({ name: "Me", inputs, reconcile() {} }) as Controller;
  const runtime = new Runtime(state, { controllers: [me], logger: silentLogger });
  const stop = new AbortController();
  const running = runtime.run({ signal: stop.signal });
  const wakeups: number[] = [];
  const step = async (act: () => Promise<unknown>) => {
    await act();
    await turns();
    wakeups.push(counted(runtime)["wakeups"] ?? 0);
  };
  await step(async () => undefined);
  await step(() => state.addFinalizer(Int.ref("a"), "f"));
  await step(() => state.addFinalizer(Int.ref("b"), "f"));
  await step(() => state.teardown(Int.ref("c")));
  await step(() => state.removeFinalizer(Int.ref("b"), "f"));
  await step(() => state.teardown(Int.ref("b")));
  expect(wakeups).toEqual([1, 2, 2, 2, 2, 3]);
  expect((await state.get(Int, "b")).metadata.phase).toBe(Phase.tearingDown);
  stop.abort();
  await running;
});
