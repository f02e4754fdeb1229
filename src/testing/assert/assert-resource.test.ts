import { expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import { MemoryState } from "../../memory/index.ts";
import type { Resource } from "../../resource/index.ts";
import {
  assertAll,
  assertLength,
  assertNoResource,
  assertResource,
  assertResources,
  resourceIds,
} from "./assert-resource.ts";
import { Int, type IntSpec } from "../suites/conformance-resources.ts";
import { FaultyState } from "../faults/faulty-state.ts";

const is =
  (value: number) =>
  ({ spec }: Resource<IntSpec>): void => {
    if (spec.value !== value) throw new Error(`${spec.value} is not ${value}`);
  };

test("assertResource waits until the resource is there and as it should be", async () => {
  await using state = new MemoryState();
  const waiting = assertResource(state, Int, "one", is(3));
  for (const value of [1, 2, 3]) {
    await state.modify(Int, "one", () => ({ value }));
  }
  expect((await waiting).metadata.version).toBe("3");
  expect((await assertResource(state, Int, "one")).spec.value).toBe(3);
});

test("assertResource says what was missing when time is up", async () => {
  await using state = new MemoryState();
  const clock = new ManualClock();
  const missing = assertResource(state, Int, "one", is(3), { clock, timeoutMs: 500 });
  const wrong = assertResource(state, Int, "two", is(3), { clock, timeoutMs: 500 });
  const outcomes = Promise.allSettled([missing, wrong]);
  await state.create(Int.create("two", { value: 2 }));
  await clock.advance(500);
  expect((await outcomes).map((outcome) => outcome.status === "rejected" && String(outcome.reason))).toEqual([
    "Error: test/int(default/one): not met within 500 ms: it does not exist",
    "Error: test/int(default/two): not met within 500 ms: 2 is not 3",
  ]);
  expect(clock.pending).toBe(0);
});

test("a wait ends with its signal, for its reason", async () => {
  await using state = new MemoryState();
  const controller = new AbortController();
  const { signal } = controller;
  const waits = [
    assertResource(state, Int, "one", undefined, { signal }),
    assertResources(state, Int, ["one"], undefined, { signal }),
    assertLength(state, Int, 1, { signal }),
  ];
  const outcomes = Promise.allSettled(waits);
  const reason = new Error("enough");
  controller.abort(reason);
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: "rejected", reason });
  await expect(assertNoResource(state, Int, "one", { signal })).rejects.toBe(reason);
});

test("a watch that fails ends the wait at once", async () => {
  await using state = new FaultyState(new MemoryState());
  const one = assertResource(state, Int, "one");
  const several = assertLength(state, Int, 1);
  const gone = new Error("gone");
  const outcomes = Promise.allSettled([one, several]);
  await new Promise<void>((resolve) => setImmediate(resolve));
  state.breakWatches(gone);
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: "rejected", reason: gone });
  expect(state.openWatches).toEqual([]);
});

test("assertResources wants all of them right at the same moment", async () => {
  await using state = new MemoryState();
  const waiting = assertResources(state, Int, ["b", "a"], is(1));
  let ended = false;
  void waiting.then(() => (ended = true));
  await state.create(Int.create("a", { value: 1 }));
  await state.modify(Int, "a", () => ({ value: 2 }));
  await state.create(Int.create("b", { value: 1 }));
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(ended).toBe(false);
  await state.modify(Int, "a", () => ({ value: 1 }));
  expect((await waiting).map(({ metadata }) => `${metadata.id}@${metadata.version}`)).toEqual(["b@1", "a@3"]);
});

test("assertAll is about those that are there at the start", async () => {
  await using state = new MemoryState();
  for (const id of ["a", "b"]) await state.create(Int.create(id, { value: 1 }));
  expect(await assertAll(state, Int, is(1))).toHaveLength(2);
  const waiting = assertAll(state, Int, is(2));
  await new Promise<void>((resolve) => setImmediate(resolve));
  await state.create(Int.create("c", { value: 1 }));
  for (const id of ["a", "b"]) await state.modify(Int, id, () => ({ value: 2 }));
  expect((await waiting).map(({ metadata }) => metadata.id)).toEqual(["a", "b"]);
});

test("assertLength and assertNoResource wait for what comes and goes", async () => {
  await using state = new MemoryState();
  await assertLength(state, Int, 0);
  await assertNoResource(state, Int, "a");
  const two = assertLength(state, Int, 2);
  await state.create(Int.create("a", { value: 1 }));
  const gone = assertNoResource(state, Int, "a");
  await state.create(Int.create("b", { value: 1 }));
  await two;
  await state.destroy(Int.ref("a"));
  await gone;
  await assertLength(state, Int, 1);
});

test("a long wait says from time to time what it waits for, and does not repeat itself", async () => {
  await using state = new MemoryState();
  const clock = new ManualClock();
  const told: string[] = [];
  const report = (message: string) => void told.push(message);
  const waiting = assertNoResource(state, Int, "one", { clock, report, reportMs: 1_000, timeoutMs: 60_000 });
  await clock.advance(1);
  await waiting;
  await state.create(Int.create("one", { value: 1 }, { finalizers: ["A"] }));
  const long = assertNoResource(state, Int, "one", { clock, report, reportMs: 1_000, timeoutMs: 60_000 });
  await clock.advance(5_000);
  await state.removeFinalizer(Int.ref("one"), "A");
  await clock.advance(5_000);
  await state.destroy(Int.ref("one"));
  await long;
  const still = "test/int(default/one): still waiting: it exists, running, with";
  expect(told).toEqual([`${still} finalizers A`, `${still} no finalizers`]);
  expect(clock.pending).toBe(0);
});

test("resourceIds lists all ids, or those of one owner, in the type's namespace", async () => {
  await using state = new MemoryState();
  await state.create(Int.create("c", { value: 1 }), { owner: "A" });
  await state.create(Int.create("b", { value: 1 }));
  await state.create(Int.in("other").create("a", { value: 1 }));
  expect(await resourceIds(state, Int)).toEqual(["b", "c"]);
  expect(await resourceIds(state, Int, { owner: "A" })).toEqual(["c"]);
  expect(await resourceIds(state, Int, { owner: "" })).toEqual(["b"]);
  expect(await resourceIds(state, Int.in("other"))).toEqual(["a"]);
});
