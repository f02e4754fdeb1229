import { expect, test } from "vitest";
import { MemoryState } from "../memory/index.ts";
import { createResource } from "../resource/index.ts";
import { Int } from "../testing/index.ts";

test("a list is made typed once, until something changes", async () => {
  await using state = new MemoryState();
  const { namespace, type } = Int;
  await state.create(createResource({ namespace, type, id: "one" }, { value: 1 }));
  const untyped = await state.list({ namespace, type });
  const typed = await state.list(Int);
  expect(typed).not.toBe(untyped);
  expect(await state.list(Int)).toBe(typed);
  await state.create(Int.create("two", { value: 2 }));
  expect((await state.list(Int)).map(({ spec }) => spec.value)).toEqual([1, 2]);
});

test("a kind that is no type, whatever else it has, gets what is stored", async () => {
  await using state = new MemoryState();
  const { namespace, type } = Int;
  const stored = await state.create(Int.create("one", { value: 1 }));
  const kind = { namespace, type, cast: "iron" };
  expect([...(await state.list(kind))]).toEqual([stored]);
  await using watch = await state.watchKind(kind, { bootstrap: true });
  expect((await watch.next()).value?.resource).toBe(stored);
});
