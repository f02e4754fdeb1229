import { describe, expect, test } from "vitest";
import { MemoryState } from "../../memory/index.ts";
import { isNotFound } from "../../resource/index.ts";
import { wrapState } from "../../state/index.ts";
import { Int } from "../suites/conformance-resources.ts";
import { InterceptedState, type StateCall } from "./intercepted-state.ts";
import { stateConformance } from "../suites/state/state-conformance.ts";

const namespaces = ["default", "controller", "system", "runtime"];

const names = (calls: readonly StateCall[]): string[] =>
  calls.map(({ operation, target }) => `${operation} ${target.id ?? "*"}`);

describe("a store behind an InterceptedState", () => {
  stateConformance({ test }, { newState: () => new InterceptedState(new MemoryState()), namespaces });
});

describe("a store that looks remote", () => {
  stateConformance({ test }, { newState: () => new InterceptedState(new MemoryState(), { remote: true }), namespaces });

  test("offers no short cuts on its watches", async () => {
    const state = new InterceptedState(new MemoryState(), { remote: true });
    await using watch = await state.watchKindBatches(Int);
    expect(watch).toHaveProperty("takePending", undefined);
    expect(watch).toHaveProperty("onPending", undefined);
  });
});

describe("InterceptedState", () => {
  test("knows the calls that a derived operation consists of", async () => {
    const core = new InterceptedState(new MemoryState());
    const state = wrapState(core);
    await state.modify(Int, "a", () => ({ value: 1 }));
    await state.modify(Int, "a", () => ({ value: 2 }));
    await state.list(Int);
    expect(names(core.calls)).toEqual(["get a", "create a", "get a", "get a", "update a", "list *"]);
  });

  test("what `before` throws is the failure of a call that never reached the store", async () => {
    const memory = new MemoryState();
    const state = new InterceptedState(memory, {
      before({ operation }) {
        if (operation === "create") throw new Error("no");
      },
    });
    await expect(state.create(Int.create("a", { value: 1 }))).rejects.toThrow("no");
    expect(await memory.list(Int)).toHaveLength(0);
    expect(names(state.calls)).toEqual(["create a"]);
  });

  test("what `after` throws is the failure of a call that the store has done", async () => {
    const memory = new MemoryState();
    const state = new InterceptedState(memory, {
      after() {
        throw new Error("answer lost");
      },
    });
    await expect(state.create(Int.create("a", { value: 1 }))).rejects.toThrow("answer lost");
    expect(await memory.list(Int)).toHaveLength(1);
    await expect(state.watchKind(Int)).rejects.toThrow("answer lost");
    expect(state.openWatches).toEqual([]);
  });

  test("`after` is not asked about a call that failed", async () => {
    const state = new InterceptedState(new MemoryState(), {
      after() {
        throw new Error("answer lost");
      },
    });
    await expect(state.get(Int.ref("none"))).rejects.toSatisfy(isNotFound);
  });

  test("a call waits for both", async () => {
    const order: string[] = [];
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
    const state = new InterceptedState(new MemoryState(), {
      before: () => turn().then(() => void order.push("before")),
      after: () => turn().then(() => void order.push("after")),
    });
    await state.list(Int);
    order.push("answer");
    expect(order).toEqual(["before", "after", "answer"]);
  });

  test("a delivery waits for `deliver`, and does not come when the watch is disposed meanwhile", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let asked = 0;
    const memory = new MemoryState();
    const state = new InterceptedState(memory, { deliver: () => gates[asked++]?.promise });
    const watch = await state.watchKind(Int);
    expect(watch).toHaveProperty("takePending", undefined);
    await memory.create(Int.create("a", { value: 1 }));
    const first = watch.next();
    gates[0]?.resolve();
    expect(await first).toMatchObject({ done: false, value: { type: "Created" } });
    await memory.create(Int.create("b", { value: 1 }));
    const second = watch.next();
    await new Promise<void>((resolve) => setImmediate(resolve));
    await watch[Symbol.asyncDispose]();
    gates[1]?.resolve();
    expect(await second).toEqual({ done: true, value: undefined });
    expect(asked).toBe(2);
  });

  test("knows which watches are open, however they end", async () => {
    const state = new InterceptedState(new MemoryState());
    const aborter = new AbortController();
    const disposed = await state.watch(Int.ref("a"));
    const left = await state.watchKind(Int, { bootstrap: true });
    await state.watchKindBatches(Int, { signal: aborter.signal });
    expect(names(state.openWatches)).toEqual(["watch a", "watchKind *", "watchKindBatches *"]);
    await disposed[Symbol.asyncDispose]();
    expect(names(state.openWatches)).toEqual(["watchKind *", "watchKindBatches *"]);
    for await (const _ of left) break;
    expect(names(state.openWatches)).toEqual(["watchKindBatches *"]);
    aborter.abort();
    expect(state.openWatches).toEqual([]);
  });
});
