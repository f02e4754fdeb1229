import { expect, test } from "vitest";
import {
  hasCode,
  isConflict,
  isInvalidBookmark,
  isNotFound,
  isOwnerConflict,
  isPhaseConflict,
  StateErrorCode,
} from "../resource/index.ts";
import { PathResource } from "../testing/index.ts";
import { MemoryState } from "./memory-state.ts";

const errorOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );

test("every refusal has its category, is told apart from the others, and names its resource [state 74]", async () => {
  await using state = new MemoryState();
  const stored = await state.create(PathResource.create("one", {}, { finalizers: ["A"] }));
  const torn = await state.create(PathResource.create("torn", {}));
  await state.teardown(torn.metadata);
  const owned = await state.create(PathResource.create("owned", {}), { owner: "A" });

  const notFound = await errorOf(state.get(PathResource, "none"));
  const exists = await errorOf(state.create(PathResource.create("one", {})));
  const version = await errorOf(state.update(PathResource.create("one", {})));
  const finalizers = await errorOf(state.destroy(stored.metadata));
  const owner = await errorOf(state.update(owned, { owner: "B" }));
  const phase = await errorOf(state.update(await state.get(PathResource, "torn")));
  const bookmark = await errorOf(state.watchKind(PathResource, { startFromBookmark: new Uint8Array() }));
  const all = { notFound, exists, version, finalizers, owner, phase, bookmark };

  const which = (test: (error: unknown) => boolean) =>
    Object.keys(all).filter((name) => test(all[name as keyof typeof all]));
  expect(which(isNotFound)).toEqual(["notFound"]);
  expect(which(isConflict)).toEqual(["exists", "version", "finalizers", "owner", "phase"]);
  expect(which(isOwnerConflict)).toEqual(["owner"]);
  expect(which(isPhaseConflict)).toEqual(["phase"]);
  expect(which(isInvalidBookmark)).toEqual(["bookmark"]);
  for (const code of [StateErrorCode.alreadyExists, StateErrorCode.versionConflict, StateErrorCode.pendingFinalizers]) {
    expect(which((error) => hasCode(error, code))).toHaveLength(1);
  }

  const { namespace, type } = PathResource;
  for (const conflict of [exists, version, finalizers, owner, phase]) {
    expect(isConflict(conflict, { namespace })).toBe(true);
    expect(isConflict(conflict, { namespace: "other" })).toBe(false);
    expect(isConflict(conflict, { type })).toBe(true);
    expect(isConflict(conflict, { type: "other" })).toBe(false);
    expect(isConflict(conflict, { namespace, type })).toBe(true);
    expect(isConflict(conflict, { namespace, type: "other" })).toBe(false);
  }

  expect(String(notFound)).toContain("os/path(default/none)");
  for (const [error, reference] of [
    [exists, "default/one@"],
    [finalizers, "default/one@1"],
    [owner, "default/owned@1"],
    [phase, "default/torn@2"],
  ] as const) {
    expect(String(error)).toContain(`os/path(${reference}`);
  }
});

test("a category is found behind any number of causes", async () => {
  await using state = new MemoryState();
  const cause = await errorOf(state.get(PathResource, "none"));
  const wrapped = new Error("reading the configuration", { cause: new TypeError("starting up", { cause }) });
  expect(isNotFound(wrapped)).toBe(true);
  expect(isConflict(wrapped)).toBe(false);
});
