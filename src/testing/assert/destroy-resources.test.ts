import { expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import { MemoryState } from "../../memory/index.ts";
import { isOwnerConflict, Phase } from "../../resource/index.ts";
import { resourceIds } from "./assert-resource.ts";
import { Int } from "../suites/conformance-resources.ts";
import { destroyAll, destroyResources, teardownResources } from "./destroy-resources.ts";

async function stateWith(...ids: readonly string[]): Promise<MemoryState> {
  const state = new MemoryState();
  for (const id of ids) await state.create(Int.create(id, { value: 1 }));
  return state;
}

test("teardownResources tears down those that exist, and says which", async () => {
  await using state = await stateWith("a", "b");
  expect(await teardownResources(state, Int, ["b", "none", "a"])).toEqual(["b", "a"]);
  for (const { metadata } of await state.list(Int)) expect(metadata.phase).toBe(Phase.tearingDown);
});

test("destroyResources waits for finalizers, destroys each as it becomes ready, and is done when all are gone", async () => {
  await using state = await stateWith("a", "b", "c");
  await state.addFinalizer(Int.ref("b"), "Mount");
  let done = false;
  const destroying = destroyResources(state, Int, ["a", "b", "none"]).then(() => (done = true));
  const torn = await state.watchFor(Int.ref("b"), { phases: [Phase.tearingDown] });
  expect(torn.metadata.finalizers).toEqual(["Mount"]);
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(await resourceIds(state, Int)).toEqual(["b", "c"]);
  expect(done).toBe(false);
  await state.removeFinalizer(Int.ref("b"), "Mount");
  await destroying;
  expect(await resourceIds(state, Int)).toEqual(["c"]);
});

test("destroyResources does not mind who else destroys them", async () => {
  await using state = await stateWith("a", "b");
  await Promise.all([
    destroyResources(state, Int, ["a", "b"]),
    destroyResources(state, Int, ["b", "a"]),
    state.teardownAndDestroy(Int.ref("a")).catch(() => undefined),
  ]);
  expect(await resourceIds(state, Int)).toEqual([]);
});

test("destroyResources says what is left, and why, when time is up", async () => {
  const clock = new ManualClock();
  await using state = await stateWith("a");
  await state.addFinalizer(Int.ref("a"), "Mount");
  const destroying = destroyResources(state, Int, ["a"], { clock, timeoutMs: 500 });
  const outcome = destroying.catch(String);
  const expected = "not destroyed within 500 ms: test/int(default/a) is tearingDown, finalizers: Mount";
  await clock.advance(500);
  expect(await outcome).toContain(expected);
});

test("destroyAll leaves alone what somebody owns, unless told whose to take", async () => {
  await using state = await stateWith("a", "b");
  await state.create(Int.create("owned", { value: 1 }), { owner: "A" });
  await destroyAll(state, Int);
  expect(await resourceIds(state, Int)).toEqual(["owned"]);
  await expect(destroyResources(state, Int, ["owned"])).rejects.toSatisfy(isOwnerConflict);
  await destroyAll(state, Int, { owner: "A" });
  expect(await resourceIds(state, Int)).toEqual([]);
});
