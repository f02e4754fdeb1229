import { describe, expect, test } from "vitest";
import { MemoryState } from "../memory/index.ts";
import { defineResource, exists, shape } from "../resource/index.ts";
import { reflect } from "./reflect.ts";
import type { State } from "./state.ts";

const Int = defineResource({ type: "Ints.reflect.example.dev", spec: shape({ value: "integer" }) });

describe("reflect", () => {
  test("resolves with the first contents, keeps them current and tells the changes since the last time", async () => {
    await using state = new MemoryState({ types: [Int] });
    await state.create(Int.create("a", { value: 1 }));
    await using ints = await reflect(state, Int);
    expect(ints.get("a")?.spec).toEqual({ value: 1 });
    expect((await ints.next()).value).toMatchObject([{ type: "created" }]);
    const waiting = ints.next();
    await state.create(Int.create("b", { value: 2 }));
    expect((await waiting).value).toMatchObject([{ type: "created", resource: { spec: { value: 2 } } }]);
    expect([...ints.contents.keys()]).toEqual(["a", "b"]);
  });

  test("gathers by resource for a slow reader: the latest state, and nothing of what came and went", async () => {
    await using state = new MemoryState({ types: [Int] });
    await state.create(Int.create("a", { value: 0 }));
    await using ints = await reflect(state, Int);
    await ints.next();
    for (let value = 1; value <= 500; value++) await state.modify(Int, "a", () => ({ value }));
    await state.create(Int.create("passing", { value: 1 }));
    await state.destroy(Int.ref("passing"));
    await state.create(Int.create("last", { value: 1 }));
    await expect.poll(() => ints.get("last")).toBeDefined();
    const { value: changes } = await ints.next();
    expect(changes).toMatchObject([
      { type: "updated", old: { spec: { value: 0 } }, resource: { spec: { value: 500 } } },
      { type: "created", resource: { metadata: { id: "last" } } },
    ]);
  });

  test("selects by labels: what ceases to match is gone", async () => {
    await using state = new MemoryState({ types: [Int] });
    await state.create(Int.create("a", { value: 1 }, { labels: { tier: "front" } }));
    await state.create(Int.create("b", { value: 1 }));
    await using front = await reflect(state, Int, { labels: [exists("tier")] });
    expect([...front.contents.keys()]).toEqual(["a"]);
    await front.next();
    await state.modify(Int, "a", (_, metadata) => void (metadata.labels = {}));
    expect((await front.next()).value).toMatchObject([{ type: "destroyed" }]);
  });

  test("ends with its signal's reason, with its State, and quietly when it is disposed", async () => {
    const state = new MemoryState({ types: [Int] });
    const stop = new AbortController();
    await using aborted = await reflect(state, Int, { signal: stop.signal });
    const waiting = aborted.next();
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    const disposed = await reflect(state, Int);
    const pending = disposed.next();
    await disposed[Symbol.asyncDispose]();
    expect(await pending).toEqual({ done: true, value: undefined });
    await using orphan = await reflect(state, Int);
    await state[Symbol.asyncDispose]();
    await expect(orphan.next()).rejects.toMatchObject({ code: "unavailable" });
    await expect(reflect(state, Int)).rejects.toMatchObject({ code: "unavailable" });
  });

  test.each(["opens", "delivers"])("ends even when the State's watch never %s and ignores its signal", async (what) => {
    const never = new Promise<never>(() => {});
    const watch = { next: () => never, [Symbol.asyncDispose]: () => never };
    const deaf = { watchKindBatches: () => (what === "opens" ? never : Promise.resolve(watch)) } as unknown as State;
    const stop = new AbortController();
    const opening = reflect(deaf, Int, { signal: stop.signal });
    setImmediate(() => stop.abort(new Error("enough")));
    await expect(opening).rejects.toThrow("enough");
  });
});
