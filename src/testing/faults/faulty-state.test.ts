import { describe, expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import { MemoryState } from "../../memory/index.ts";
import { hasCode } from "../../resource/index.ts";
import { EventType, wrapState } from "../../state/index.ts";
import { Int } from "../suites/conformance-resources.ts";
import { FaultyState } from "./faulty-state.ts";
import { stateConformance } from "../suites/state/state-conformance.ts";

const one = Int.create("one", { value: 1 });

describe("a State that could fail, but does not", () => {
  stateConformance({ test }, { newState: () => new FaultyState(new MemoryState()), namespaces: ["default", "other"] });
});

test("every n-th call fails, and the store is not asked", async () => {
  await using state = new FaultyState(new MemoryState(), {
    failEvery: 3,
    fault: { of: ({ operation }) => operation !== "list" },
  });
  const outcomes: string[] = [];
  for (let id = 0; id < 7; id++) {
    await state.list(Int);
    await state.create(Int.create(String(id), { value: id })).then(
      () => outcomes.push("done"),
      (error: unknown) => outcomes.push(hasCode(error, "unavailable") ? "failed" : String(error)),
    );
  }
  expect(outcomes).toEqual(["done", "done", "failed", "done", "done", "failed", "done"]);
  expect((await state.list(Int)).map(({ metadata }) => metadata.id)).toEqual(["0", "1", "3", "4", "6"]);
  expect(() => new FaultyState(new MemoryState(), { failEvery: 0 })).toThrow(RangeError);
});

test("the next calls fail as planned; a lost answer hides that the write was done", async () => {
  await using state = new FaultyState(new MemoryState());
  const lost = new Error("connection reset");
  state.failNext({ of: ({ operation }) => operation === "create", error: lost, answerLost: true });
  state.failNext({ of: ({ operation }) => operation === "get" }, 2);
  await expect(state.create(one)).rejects.toBe(lost);
  await expect(state.get(one.metadata)).rejects.toThrow("get of test/int(default/one) failed on purpose");
  await expect(state.get(one.metadata)).rejects.toThrow("failed on purpose");
  expect((await state.get(one.metadata)).metadata.version).toBe("1");
});

test("a lost answer to a watch leaves no watch open", async () => {
  await using state = new FaultyState(new MemoryState());
  state.failNext({ answerLost: true });
  await expect(state.watchKind(Int)).rejects.toThrow("failed on purpose");
  expect(state.openWatches).toEqual([]);
});

test("watches that are broken end with an error, whether somebody waits for them or not", async () => {
  await using state = new FaultyState(new MemoryState());
  const waiting = await state.watchKind(Int);
  const unread = await state.watchKindBatches(Int, { bootstrap: true });
  const ofOne = await state.watch(one.metadata);
  await ofOne.next();
  const next = waiting.next();
  await state.create(one);
  expect((await next).value?.type).toBe(EventType.created);
  const pending = waiting.next();
  expect(state.openWatches).toHaveLength(3);
  state.breakWatches(new Error("gone"));
  expect((await pending).value).toMatchObject({ type: EventType.errored, error: new Error("gone") });
  expect((await unread.next()).value).toMatchObject([{ type: EventType.errored }]);
  expect((await ofOne.next()).value?.type).toBe(EventType.errored);
  for (const watch of [waiting, ofOne, unread]) expect((await watch.next()).done).toBe(true);
  expect(state.openWatches).toEqual([]);
  const fresh = await state.watchKind(Int, { bootstrap: true });
  expect((await fresh.next()).value?.type).toBe(EventType.created);
});

test("calls and deliveries take the time they are told to", async () => {
  const clock = new ManualClock();
  await using state = new FaultyState(new MemoryState(), { callMs: 10, deliveryMs: 100, clock });
  const opening = state.watchKind(Int, { bootstrap: true });
  await clock.advance(10);
  const watch = await opening;
  let delivered = false;
  const next = watch.next().finally(() => (delivered = true));
  await clock.advance(99);
  expect(delivered).toBe(false);
  await clock.advance(1);
  expect((await next).value?.type).toBe(EventType.bootstrapped);
  const controller = new AbortController();
  const aborted = state.get(one.metadata, { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  expect(clock.pending).toBe(0);
});

test("a retry after a lost answer finds the conflict that it made itself", async () => {
  const faulty = new FaultyState(new MemoryState());
  await using state = wrapState(faulty);
  await state.create(one);
  faulty.failNext({ of: ({ operation }) => operation === "update", answerLost: true });
  const change = (spec: { value: number }) => void spec.value++;
  await expect(state.updateWithConflicts(Int.ref("one"), change)).rejects.toThrow("failed on purpose");
  expect((await state.updateWithConflicts(Int.ref("one"), change)).spec.value).toBe(3);
});

test("an abort ends a delivery that takes its time", async () => {
  const clock = new ManualClock();
  await using state = new FaultyState(new MemoryState(), { deliveryMs: 100, clock });
  const controller = new AbortController();
  const watch = await state.watchKind(Int, { bootstrap: true, signal: controller.signal });
  const next = watch.next();
  await clock.advance(50);
  controller.abort();
  expect((await next).done).toBe(true);
  const disposed = await state.watchKind(Int, { bootstrap: true });
  const other = disposed.next();
  await clock.advance(50);
  await disposed[Symbol.asyncDispose]();
  expect((await other).done).toBe(true);
  expect(clock.pending).toBe(0);
});
