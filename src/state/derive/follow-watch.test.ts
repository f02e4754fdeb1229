import { describe, expect, test } from "vitest";
import { MemoryState } from "../../memory/index.ts";
import { DeafState, Int, type Deafness } from "../../testing/index.ts";
import { wrapState } from "../wrap-state.ts";

const REASON = new Error("enough");

const turns = async (count = 10): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
};

async function setUp(fault: Deafness["fault"]) {
  const memory = new MemoryState();
  await memory.create(Int.create("a", { value: 1 }, { finalizers: ["F"] }));
  const deaf = new DeafState(memory, [{ operation: "watch", call: 1, fault }], { remote: true });
  const stop = new AbortController();
  return { deaf, memory, state: wrapState(deaf), stop, signal: stop.signal };
}

describe.each(["never", "afterAbort", "silent", "stuck"] as const)("on a watch that does not answer (%s)", (fault) => {
  test("watchFor and teardownAndDestroy end with their signal", async () => {
    const waits = [
      (state: ReturnType<typeof wrapState>, signal: AbortSignal) =>
        state.watchFor(Int, "a", { where: ({ metadata }) => metadata.version === "never" }, { signal }),
      (state: ReturnType<typeof wrapState>, signal: AbortSignal) => state.teardownAndDestroy(Int.ref("a"), { signal }),
    ];
    for (const wait of waits) {
      const { deaf, state, stop, signal } = await setUp(fault);
      const waiting = wait(state, signal);
      waiting.catch(() => undefined);
      await turns();
      stop.abort(REASON);
      await expect(waiting).rejects.toBe(REASON);
      deaf.recover();
      await turns();
    }
  });

  test("a teardown signal opens or ends with its parent", async () => {
    const { deaf, state, stop, signal } = await setUp(fault);
    const opening = state.signalWithTeardown(Int.ref("a"), { signal });
    opening.catch(() => undefined);
    await turns();
    stop.abort(REASON);
    const reason = await opening.then(
      ({ signal: given }) => given.reason as unknown,
      (error: unknown) => error,
    );
    expect(reason).toBe(REASON);
    deaf.recover();
    await turns();
  });
});

test("a teardown signal aborts although its watch is not released", async () => {
  const { deaf, memory, state } = await setUp("stuck");
  const going = await state.signalWithTeardown(Int.ref("a"));
  await turns();
  await memory.teardown(Int.ref("a"));
  await turns();
  expect(going.signal.aborted).toBe(true);
  deaf.recover();
  await going[Symbol.asyncDispose]();
});

test("a watch that ends without a word ends the wait with `unavailable`", async () => {
  const { state } = await setUp("ends");
  await expect(state.watchFor(Int, "a", { finalizersEmpty: true })).rejects.toMatchObject({ code: "unavailable" });
});

test("a condition that does not answer ends with the signal", async () => {
  const state = new MemoryState();
  const stop = new AbortController();
  const waiting = state.watchFor(Int, "a", { where: () => new Promise<boolean>(() => {}) }, { signal: stop.signal });
  waiting.catch(() => undefined);
  await turns();
  stop.abort(REASON);
  await expect(waiting).rejects.toBe(REASON);
});
