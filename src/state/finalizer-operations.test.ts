import { describe, expect, test } from "vitest";
import { MemoryState } from "../memory/index.ts";
import { Phase } from "../resource/index.ts";
import { Int } from "../testing/index.ts";
import { wrapState } from "./wrap-state.ts";

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
    const state = wrapState({
      get: (pointer) => memory.get(pointer),
      list: (kind) => memory.list(kind),
      create: (resource) => memory.create(resource),
      update: async (resource, options) => {
        if (!adopted) {
          adopted = true;
          await memory.updateWithConflicts(ref, (_spec, metadata) => void (metadata.owner = "Somebody"));
        }
        return memory.update(resource, options);
      },
      destroy: (pointer) => memory.destroy(pointer),
      watch: (pointer) => memory.watch(pointer),
      watchKind: (kind) => memory.watchKind(kind),
      watchKindBatches: (kind) => memory.watchKindBatches(kind),
    });
    await state.addFinalizer(ref, "a");
    expect((await memory.get(ref)).metadata).toMatchObject({ finalizers: ["a"], owner: "Somebody" });
  });
});
