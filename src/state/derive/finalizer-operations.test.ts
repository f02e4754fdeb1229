import { describe, expect, test } from "vitest";
import { MemoryState } from "../../memory/index.ts";
import { Phase, StateError } from "../../resource/index.ts";
import { Int } from "../../testing/index.ts";
import type { CoreState } from "../core-state.ts";
import { wrapState } from "../wrap-state.ts";

const ref = Int.ref("one");

describe("finalizers", () => {
  test("can be added and removed by anyone, in any phase, several at once", async () => {
    await using state = new MemoryState({ types: [Int] });
    await state.create(Int.create("one", { value: 1 }), { owner: "Somebody" });
    await state.addFinalizer(ref, "a", "b");
    await state.teardown(ref, { owner: "Somebody" });
    await state.addFinalizer(ref, "c", "a");
    const { metadata } = await state.get(ref);
    expect(metadata).toMatchObject({
      finalizers: ["a", "b", "c"],
      phase: Phase.tearingDown,
      owner: "Somebody",
      version: "4",
    });
    await state.removeFinalizer(ref, "a", "c", "never there");
    expect((await state.get(ref)).metadata.finalizers).toEqual(["b"]);
  });

  test("what changes nothing writes nothing", async () => {
    await using state = new MemoryState({ types: [Int] });
    await state.create(Int.create("one", { value: 1 }, { finalizers: ["a"] }));
    await state.addFinalizer(ref, "a");
    await state.addFinalizer(ref);
    await state.removeFinalizer(ref, "b");
    expect((await state.get(ref)).metadata.version).toBe("1");
  });

  test("of a missing resource are an error", async () => {
    await using state = new MemoryState();
    await expect(state.addFinalizer(ref, "a")).rejects.toThrow(expect.objectContaining({ code: "not_found" }));
    await expect(state.removeFinalizer(ref, "a")).rejects.toThrow(expect.objectContaining({ code: "not_found" }));
  });

  test("must be text", async () => {
    await using state = new MemoryState({ types: [Int] });
    await state.create(Int.create("one", { value: 1 }));
    await expect(state.addFinalizer(ref, 1 as unknown as string)).rejects.toThrow(/finalizer must be a string/);
  });

  test("survive that the resource finds an owner in between", async () => {
    await using memory = new MemoryState({ types: [Int] });
    await memory.create(Int.create("one", { value: 1 }));
    let adopted = false;
    const state = wrapState(
      updatingBy(memory, async (resource, options) => {
        if (!adopted) {
          adopted = true;
          await memory.updateWithConflicts(ref, (_spec, metadata) => void (metadata.owner = "Somebody"));
        }
        return memory.update(resource, options);
      }),
    );
    await state.addFinalizer(ref, "a");
    expect((await memory.get(ref)).metadata).toMatchObject({ finalizers: ["a"], owner: "Somebody" });
  });

  test("are given up where the store refuses the very owner that it shows", async () => {
    await using memory = new MemoryState({ types: [Int] });
    await memory.create(Int.create("one", { value: 1 }));
    const refusal = new StateError("owner_conflict", "you may not", { pointer: ref });
    let attempts = 0;
    const state = wrapState(
      updatingBy(memory, () => {
        attempts += 1;
        return Promise.reject(refusal);
      }),
    );
    await expect(state.addFinalizer(ref, "a")).rejects.toBe(refusal);
    expect(attempts).toBe(1);
  });
});

/** A store that updates in the given way, and does everything else as `core` does. */
function updatingBy(core: CoreState, update: CoreState["update"]): CoreState {
  return {
    get: (pointer) => core.get(pointer),
    list: (kind) => core.list(kind),
    create: (resource) => core.create(resource),
    update,
    destroy: (pointer) => core.destroy(pointer),
    watch: (pointer) => core.watch(pointer),
    watchKind: (kind) => core.watchKind(kind),
    watchKindBatches: (kind) => core.watchKindBatches(kind),
  };
}
