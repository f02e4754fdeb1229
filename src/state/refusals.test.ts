import { describe, expect, test } from "vitest";
import { MemoryState } from "../memory/index.ts";
import {
  isConflict,
  isInvalidBookmark,
  isNotFound,
  isOwnerConflict,
  isPhaseConflict,
  patchMetadata,
  type Pointer,
} from "../resource/index.ts";
import { Int } from "../testing/index.ts";
import type { WatchKindOptions } from "./options.ts";

const ref = Int.ref("one");
const one = Int.create("one", { value: 1 });

async function failure(answer: Promise<unknown>): Promise<unknown> {
  const nothing = Symbol("nothing was thrown");
  const error: unknown = await answer.then(
    () => nothing,
    (reason: unknown) => reason,
  );
  expect(error).not.toBe(nothing);
  return error;
}

const wrapped = (error: unknown): Error =>
  new Error("while reconciling", { cause: new Error("step 2", { cause: error }) });

describe("what a State refuses", () => {
  test("has a category, that shows through every wrapping, and conflicts can be narrowed [state 74]", async () => {
    await using state = new MemoryState({ types: [Int] });
    const notFound = await failure(state.get(ref));
    const stored = await state.create(one, { owner: "Somebody" });
    const owner = { owner: "Somebody" };
    const alreadyExists = await failure(state.create(one));
    const versionConflict = await failure(state.update(patchMetadata(stored, { version: "7" }), owner));
    const ownerConflict = await failure(state.update(stored, { owner: "Else" }));
    await state.addFinalizer(ref, "finalizer");
    const pendingFinalizers = await failure(state.destroy(ref, owner));
    await state.teardown(ref, owner);
    const phaseConflict = await failure(state.update(await state.get(Int, "one"), owner));
    const earlyPhaseConflict = await failure(state.updateWithConflicts(ref, () => undefined, owner));
    const invalidBookmark = await failure(state.watchKind(Int, { startFromBookmark: new Uint8Array([1, 2, 3]) }));

    const conflicts = [
      alreadyExists,
      versionConflict,
      ownerConflict,
      pendingFinalizers,
      phaseConflict,
      earlyPhaseConflict,
    ];
    for (const wrap of [(error: unknown) => error, wrapped]) {
      expect(isNotFound(wrap(notFound))).toBe(true);
      expect(isInvalidBookmark(wrap(invalidBookmark))).toBe(true);
      expect(isOwnerConflict(wrap(ownerConflict))).toBe(true);
      expect(isPhaseConflict(wrap(phaseConflict))).toBe(true);
      expect(isPhaseConflict(wrap(earlyPhaseConflict))).toBe(true);
      for (const conflict of conflicts.map(wrap)) {
        expect(isConflict(conflict)).toBe(true);
        expect(isNotFound(conflict)).toBe(false);
        expect(isConflict(conflict, { namespace: "default" })).toBe(true);
        expect(isConflict(conflict, { namespace: "elsewhere" })).toBe(false);
        expect(isConflict(conflict, { type: "test/int" })).toBe(true);
        expect(isConflict(conflict, { type: "test/str" })).toBe(false);
        expect(isConflict(conflict, { namespace: "default", type: "test/int" })).toBe(true);
        expect(isConflict(conflict, { namespace: "default", type: "test/str" })).toBe(false);
      }
      for (const other of [notFound, invalidBookmark]) expect(isConflict(wrap(other))).toBe(false);
      for (const other of [alreadyExists, versionConflict, pendingFinalizers]) {
        expect(isOwnerConflict(wrap(other)) || isPhaseConflict(wrap(other))).toBe(false);
      }
    }
  });

  test("names the resource concerned", async () => {
    await using state = new MemoryState({ types: [Int] });
    expect(await failure(state.get(ref))).toMatchObject({
      message: expect.stringContaining("test/int(default/one)"),
    });
    await state.create(one, { owner: "Somebody" });
    for (const error of [await failure(state.create(one)), await failure(state.destroy(ref))]) {
      expect(error).toMatchObject({ pointer: ref, message: expect.stringContaining("test/int(default/one@") });
    }
  });

  test("includes a new resource that belongs to somebody else than its creator says [state 170]", async () => {
    await using state = new MemoryState({ types: [Int] });
    const owned = Int.create("one", { value: 1 }, { owner: "Somebody" });
    for (const owner of [undefined, "", "Else"]) {
      const error = await failure(state.create(owned, { owner }));
      expect(error).toMatchObject({ code: "invalid" });
      expect(isConflict(error) || isNotFound(error)).toBe(false);
    }
    expect(await state.list(Int)).toHaveLength(0);
    expect(owned.metadata).toMatchObject({ owner: "Somebody", version: "undefined" });
    expect((await state.create(owned, { owner: "Somebody" })).metadata.owner).toBe("Somebody");
  });

  test("includes contradictory watch options, by the call itself [state 174]", async () => {
    await using state = new MemoryState({ types: [Int] });
    await using watch = await state.watchKind(Int, { bootstrapBookmark: true });
    const startFromBookmark = (await watch.next()).value?.bookmark as Uint8Array;
    expect(startFromBookmark).toBeInstanceOf(Uint8Array);
    const contradictions: WatchKindOptions[] = [
      { tailEvents: 1, startFromBookmark },
      { bootstrap: true, tailEvents: 1 },
      { bootstrap: true, startFromBookmark },
      { bootstrap: true, tailEvents: 1, startFromBookmark },
    ];
    for (const options of contradictions) {
      expect(await failure(state.watchKind(Int, options))).toMatchObject({ code: "invalid" });
      expect(await failure(state.watchKindBatches(Int, options))).toMatchObject({ code: "invalid" });
    }
    expect(await failure(state.watch(ref, { tailEvents: 1, startFromBookmark }))).toMatchObject({ code: "invalid" });
    // A tail of nothing is no tail.
    for (const tailEvents of [0.5, Number.NaN, Infinity]) {
      const refusal = {
        code: "invalid",
        message: expect.stringContaining(`must be a whole number, got ${tailEvents}`),
      };
      expect(await failure(state.watch(ref, { tailEvents }))).toMatchObject(refusal);
      expect(await failure(state.watchKind(Int, { tailEvents }))).toMatchObject(refusal);
    }
    for (const tailEvents of [0, -1]) {
      await using first = await state.watchKind(Int, { bootstrap: true, tailEvents });
      await using second = await state.watchKindBatches(Int, { startFromBookmark, tailEvents });
      await using third = await state.watchKindBatches(Int, { bootstrapBookmark: true, startFromBookmark });
      expect([first, second, third].every((each) => each !== undefined)).toBe(true);
    }
  });

  test("includes everything, once a signal has aborted: for the signal's own reason", async () => {
    await using state = new MemoryState({ types: [Int] });
    await state.create(one);
    const reason = new Error("shutting down");
    const options = { signal: AbortSignal.abort(reason) };
    const pointer: Pointer = ref;
    const calls = [
      () => state.get(pointer, options),
      () => state.getOrNull(pointer, options),
      () => state.list(Int, options),
      () => state.create(one, options),
      () => state.update(one, options),
      () => state.destroy(pointer, options),
      () => state.watch(pointer, options),
      () => state.watchKind(Int, options),
      () => state.watchKindBatches(Int, options),
      () => state.updateWithConflicts(pointer, () => undefined, options),
      () => state.modify(Int, "one", () => undefined, options),
      () => state.watchFor(pointer, {}, options),
      () => state.teardown(pointer, options),
      () => state.teardownAndDestroy(pointer, options),
      () => state.signalWithTeardown(pointer, options),
    ];
    for (const call of calls) expect(await failure(call())).toBe(reason);
    expect((await state.get(pointer)).metadata.version).toBe("1");
  });
});
