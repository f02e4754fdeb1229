import { describe, expect, test } from "vitest";
import { createResource } from "../resource/index.ts";
import { NamespaceRouter, wrapState } from "../state/index.ts";
import { MemoryNamespace } from "./memory-namespace.ts";
import { MemoryState } from "./memory-state.ts";

const kind = (namespace: string, type = "T") => ({ namespace, type });

/** A router that counts the stores it is given, and those that it still holds. */
function counted() {
  const built: string[] = [];
  const router = new NamespaceRouter((namespace) => {
    built.push(namespace);
    const store = new MemoryNamespace(namespace);
    return store;
  });
  return { state: wrapState(router), built };
}

describe("reads of what does not exist leave nothing behind", () => {
  test("of namespaces: their store is made anew for each", async () => {
    const { state, built } = counted();
    for (let round = 0; round < 2; round++) {
      await state.list(kind("guess"));
      await state.getOrNull({ ...kind("guess"), id: "a" });
      await expect(state.get({ ...kind("guess"), id: "a" })).rejects.toMatchObject({ code: "not_found" });
      await expect(state.destroy({ ...kind("guess"), id: "a" })).rejects.toMatchObject({ code: "not_found" });
    }
    expect(built).toHaveLength(8);
    await state.create(createResource({ ...kind("guess"), id: "a" }, {}));
    expect(await state.list(kind("guess"))).toHaveLength(1);
    await state.destroy({ ...kind("guess"), id: "a" });
    expect(await state.list(kind("guess"))).toHaveLength(0);
    expect(built).toHaveLength(9);
  });

  test("of types: memory stays flat", async () => {
    const store = new MemoryNamespace("n");
    for (let i = 0; i < 1_000; i++) {
      expect(await store.list(kind("n", `T${i}`))).toHaveLength(0);
      await expect(store.get({ ...kind("n", `T${i}`), id: "a" })).rejects.toMatchObject({ code: "not_found" });
    }
    expect(store.usage()).toBe("unused");
  });

  test("of namespaces that were watched: a few wait for the next, none is kept", async () => {
    const { state, built } = counted();
    for (let i = 0; i < 100; i++) {
      await using watch = await state.watchKind(kind(`n${i}`), { bootstrap: true });
      expect((await watch.next()).value?.type).toBe("Bootstrapped");
    }
    const before = built.length;
    for (let i = 0; i < 90; i++) await state.list(kind(`n${i}`));
    expect(built.length).toBeGreaterThanOrEqual(before + 88);
  });

  test("a store is kept while it is watched or written", async () => {
    const { state, built } = counted();
    await using watch = await state.watchKind(kind("n"));
    for (let i = 0; i < 10; i++) await state.list(kind(`other${i}`));
    await Promise.all([
      state.create(createResource({ ...kind("n"), id: "a" }, {})),
      state.list(kind("n")),
      state.getOrNull({ ...kind("n"), id: "b" }),
    ]);
    expect((await watch.next()).value?.resource?.metadata.id).toBe("a");
    expect(built.filter((namespace) => namespace === "n")).toHaveLength(1);
  });

  test("a bookmark of an empty kind is good when the kind has come back", async () => {
    const state = new MemoryState();
    const open = () => state.watchKind(kind("quiet"), { bootstrapBookmark: true });
    let bookmark: Uint8Array | undefined;
    {
      await using watch = await open();
      bookmark = (await watch.next()).value?.bookmark;
    }
    for (let i = 0; i < 10; i++) {
      const other = await state.watchKind(kind(`other${i}`));
      await other[Symbol.asyncDispose]();
    }
    await using watch = await state.watchKind(kind("quiet"), { startFromBookmark: bookmark });
    await state.create(createResource({ ...kind("quiet"), id: "a" }, {}));
    expect((await watch.next()).value?.resource?.metadata.id).toBe("a");
    await expect(state.watchKind(kind("another"), { startFromBookmark: bookmark })).rejects.toMatchObject({
      code: "invalid_bookmark",
    });
  });
});
