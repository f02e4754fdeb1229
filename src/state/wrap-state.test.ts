import { describe, expect, test } from "vitest";
import { MemoryNamespace, MemoryState } from "../memory/index.ts";
import { createResource, equal, isTombstone, matchesLabels, patchMetadata, type Resource } from "../resource/index.ts";
import { Int, Str } from "../testing/index.ts";
import { AccessFilter } from "./views/access-filter.ts";
import type { CoreState, ResourceList, Watch } from "./core-state.ts";
import type { Event } from "./event.ts";
import type { State } from "./state.ts";
import { wrapState } from "./wrap-state.ts";

/** A watch of the given values that then ends. */
function watchOf<T>(values: readonly T[], onDispose: () => void = () => undefined): Watch<T> {
  const rest = [...values];
  return {
    next: () => {
      const value = rest.shift();
      return Promise.resolve(value === undefined ? { done: true, value } : { done: false, value });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: () => {
      rest.length = 0;
      onDispose();
      return Promise.resolve();
    },
  };
}

/** A store that answers everything with the same resource, whatever it is asked for. */
function alwaysAnswering(resource: Resource): CoreState {
  const event: Event = { type: "Updated", resource, old: resource };
  return {
    get: () => Promise.resolve(resource),
    list: () => Promise.resolve(Object.assign([resource], { revision: 7 })),
    create: () => Promise.resolve(resource),
    update: () => Promise.resolve(resource),
    destroy: () => Promise.resolve(),
    watch: () => Promise.resolve(watchOf([event])),
    watchKind: () => Promise.resolve(watchOf([event])),
    watchKindBatches: () => Promise.resolve(watchOf([[event]])),
  };
}

async function first<T>(watch: Watch<T>): Promise<T> {
  for await (const value of watch) return value;
  throw new Error("the watch ended at once");
}

const two = Str.create("x", { value: "two" });
const mismatch = expect.objectContaining({
  code: "type_mismatch",
  message: expect.stringMatching(/^type mismatch: expected test\/int, got test\/str$/),
});

describe("typed answers", () => {
  test("what is of another type is an error that names both types, and gives no value [state 157] [engine T-42]", async () => {
    const state = wrapState(alwaysAnswering(two));
    await expect(state.get(Int, "x")).rejects.toThrow(mismatch);
    await expect(state.getOrNull(Int, "x")).rejects.toThrow(mismatch);
    await expect(state.list(Int)).rejects.toThrow(mismatch);
    await expect(state.list(Int.in("elsewhere"))).rejects.toThrow(mismatch);
    for (const event of [
      await first(await state.watch(Int, "x")),
      await first(await state.watchKind(Int)),
      (await first(await state.watchKindBatches(Int)))[0],
    ]) {
      expect(event?.type).toBe("Updated");
      expect(() => event?.resource).toThrow(mismatch);
      expect(() => event?.old).toThrow(mismatch);
      expect(event?.error).toBeUndefined();
    }
    await expect(state.watchFor(Int, "x")).rejects.toThrow(mismatch);
    let ran = false;
    const change = () => void (ran = true);
    await expect(state.updateWithConflicts(Int, "x", change)).rejects.toThrow(mismatch);
    await expect(state.modify(Int, "x", change)).rejects.toThrow(mismatch);
    expect(ran).toBe(false);
  });

  test("untyped calls take what comes", async () => {
    const state = wrapState(alwaysAnswering(two));
    expect(await state.get({ ...Int.ref("x") })).toBe(two);
    expect([...(await state.list({ namespace: "default", type: "test/int" }))]).toEqual([two]);
    expect((await first(await state.watch(Int.ref("x")))).resource).toBe(two);
  });

  test("untyped calls add nothing to the promise of the store", async () => {
    const core = alwaysAnswering(two);
    const answers = {
      get: core.get(two.metadata),
      list: core.list(Str),
      create: core.create(two),
      update: core.update(two),
      destroy: core.destroy(two.metadata),
      watch: core.watch(two.metadata),
      watchKind: core.watchKind(Str),
      watchKindBatches: core.watchKindBatches(Str),
    };
    const state = wrapState({
      get: () => answers.get,
      list: () => answers.list,
      create: () => answers.create,
      update: () => answers.update,
      destroy: () => answers.destroy,
      watch: () => answers.watch,
      watchKind: () => answers.watchKind,
      watchKindBatches: () => answers.watchKindBatches,
    });
    const kind = { namespace: "default", type: "test/str" };
    expect(state.get(two.metadata)).toBe(answers.get);
    expect(state.list(kind)).toBe(answers.list);
    expect(state.create(two)).toBe(answers.create);
    expect(state.update(two)).toBe(answers.update);
    expect(state.destroy(two.metadata)).toBe(answers.destroy);
    expect(state.watch(two.metadata)).toBe(answers.watch);
    expect(state.watchKind(kind)).toBe(answers.watchKind);
    expect(state.watchKindBatches(kind)).toBe(answers.watchKindBatches);
  });

  test("what is of the type already is passed on as it is", async () => {
    const core = alwaysAnswering(two);
    const list = await core.list(Str);
    const batches: readonly Event[][] = [[{ type: "Created", resource: two }]];
    const state = wrapState({
      ...core,
      list: () => Promise.resolve(list),
      watchKindBatches: () => Promise.resolve(watchOf(batches)),
    });
    expect(await state.get(Str, "x")).toBe(two);
    expect(await state.list(Str)).toBe(list);
    expect(await first(await state.watchKindBatches(Str))).toBe(batches[0]);
  });

  test("plain data of the right type is checked and becomes typed", async () => {
    const plain = createResource({ namespace: "default", type: "test/str", id: "x" }, { value: "plain" });
    const state = wrapState(alwaysAnswering(plain));
    const got = await state.get(Str, "x");
    expect(got.spec.value).toBe("plain");
    expect(Str.cast(got)).toBe(got);
    const list = await state.list(Str);
    expect(list.revision).toBe(7);
    expect(list[0]?.spec.value).toBe("plain");
    expect(Object.isFrozen(list)).toBe(true);
    const shared = Object.freeze(list.slice()) as unknown as ResourceList;
    const sharing = wrapState({ ...alwaysAnswering(plain), list: () => Promise.resolve(shared) });
    expect(await sharing.list(Str)).toBe(await sharing.list(Str));
    await expect(sharing.list(Int)).rejects.toThrow(mismatch);
    const event = await first(await state.watchKind(Str));
    expect(event.resource).toBe(event.resource);
    expect(event.resource).toEqual(got);

    const invalid = createResource({ namespace: "default", type: "test/str", id: "x" }, { value: 1 });
    const broken = wrapState(alwaysAnswering(invalid));
    await expect(broken.get(Str, "x")).rejects.toThrow(expect.objectContaining({ code: "invalid" }));
    await expect(broken.list(Str)).rejects.toThrow(expect.objectContaining({ code: "invalid" }));
    const bad = await first(await broken.watchKind(Str));
    expect(() => bad.resource).toThrow(expect.objectContaining({ code: "invalid" }));
  });

  test("an empty list of anything is fine", async () => {
    await using state = new MemoryState();
    expect([...(await state.list(Int))]).toEqual([]);
  });

  test("a typed watch tells the same as an untyped one [state 153]", async () => {
    await using state = behindFilter();
    const created = await state.create(Int.create("one", { value: 1 }));
    const raw = await first(await state.watch(Int.ref("one")));
    const typed = await first(await state.watch(Int, "one"));
    expect(raw.type).toBe("Created");
    expect(typed.type).toBe(raw.type);
    expect(typed.resource).toBe(raw.resource);
    expect(typed.resource).toEqual(created);
    // Looking into the `old` of a Created event does not even compile: wrap-state.test-d.ts.
    expect(typed.old).toBeUndefined();
  });

  test("a typed watch of a kind tells the same as an untyped one [state 154]", async () => {
    await using state = behindFilter();
    const [raw, typed] = [await state.watchKind({ ...Int.ref("") }), await state.watchKind(Int)];
    await state.create(Int.create("one", { value: 1 }));
    const [plain, checked] = [await first(raw), await first(typed)];
    expect(checked).toEqual(plain);
    expect(checked.type).toBe("Created");
    expect(checked.resource).toBe(plain.resource);
  });

  test("a typed watchFor tells the same as an untyped one [state 155]", async () => {
    await using state = behindFilter();
    await state.create(Int.create("one", { value: 1 }));
    expect(await state.watchFor(Int, "one")).toBe(await state.watchFor(Int.ref("one")));
  });

  test("typed watches, of one and of a kind, and typed waits agree with untyped ones [engine T-40]", async () => {
    await using state = behindFilter();
    const kind = [await state.watchKind({ ...Int.ref("") }), await state.watchKind(Int)] as const;
    const created = await state.create(Int.create("one", { value: 1 }));
    const one = [await first(await state.watch(Int.ref("one"))), await first(await state.watch(Int, "one"))] as const;
    for (const [raw, typed] of [one, [await first(kind[0]), await first(kind[1])]] as const) {
      expect(typed.type).toBe(raw.type);
      expect(typed.resource).toBe(raw.resource);
      expect(typed.resource).toEqual(created);
      expect(typed.old).toBeUndefined();
    }
    expect(await state.watchFor(Int, "one")).toBe(await state.watchFor(Int.ref("one")));
  });

  test("a list filtered by labels is a new list; the original stays [state 156] [engine T-41]", async () => {
    await using state = new MemoryState({ types: [Int] });
    for (const [id, value] of [
      ["a", "2"],
      ["b", "2"],
      ["c", "3"],
    ] as const) {
      await state.create(Int.create(id, { value: Number(value) }, { labels: { value } }));
    }
    const list = await state.list(Int);
    const having = (value: string) => list.filter((one) => matchesLabels([equal("value", value)], one.metadata.labels));
    expect(["2", "3", "4"].map((value) => having(value).length)).toEqual([2, 1, 0]);
    expect(list).toHaveLength(3);
  });

  test("the tombstone of a missing resource passes", async () => {
    await using state = new MemoryState();
    expect(isTombstone((await first(await state.watch(Int, "none"))).resource)).toBe(true);
    expect(isTombstone(await state.watchFor(Int, "none"))).toBe(true);
  });

  test("getOrNull is undefined for what does not exist, and fails for what fails", async () => {
    await using state = new MemoryState();
    expect(await state.getOrNull(Int, "none")).toBeUndefined();
    expect(await state.getOrNull(Int.ref("none"))).toBeUndefined();
    const down = wrapState({ ...alwaysAnswering(two), get: () => Promise.reject(new Error("down")) });
    await expect(down.getOrNull(Int.ref("x"))).rejects.toThrow("down");
  });
});

describe("a typed watch", () => {
  const other = createResource({ namespace: "default", type: "test/str", id: "x" }, { value: "plain" });

  test("keeps the in-process abilities of the watch inside", async () => {
    await using state = new MemoryState();
    const watch = await state.watchKind(Int);
    let calls = 0;
    watch.onPending?.(() => calls++);
    await state.create(createResource({ ...Int.ref("one") }, { value: 1 }));
    expect(calls).toBeGreaterThan(0);
    const pending = watch.takePending?.();
    expect(pending?.type === "Created" && pending.resource.spec.value).toBe(1);
    expect(watch.takePending?.()).toBeUndefined();
    await watch[Symbol.asyncDispose]();
  });

  test("has no such abilities when the watch inside has none", async () => {
    const watch = await wrapState(alwaysAnswering(other)).watchKind(Str);
    expect("takePending" in watch).toBe(false);
    expect("onPending" in watch).toBe(false);
  });

  test("releases the watch inside when its loop is left", async () => {
    let disposals = 0;
    const event: Event = { type: "Created", resource: other };
    const state = wrapState({
      ...alwaysAnswering(other),
      watchKind: () => Promise.resolve(watchOf([event, event], () => disposals++)),
    });
    for await (const one of await state.watchKind(Str)) {
      expect(one.type).toBe("Created");
      break;
    }
    expect(disposals).toBe(1);
    {
      await using watch = await state.watchKind(Str);
      expect((await watch.next()).done).toBe(false);
    }
    expect(disposals).toBe(2);
  });

  test("keeps bookmark, revision and error of an event that it checks", async () => {
    const bookmark = new Uint8Array([1, 2]);
    const events: Event[] = [
      { type: "Updated", resource: patchMetadata(other, { version: "2" }), old: other, bookmark, revision: 5 },
      { type: "Errored", error: new Error("lost") },
    ];
    const state = wrapState({ ...alwaysAnswering(other), watchKind: () => Promise.resolve(watchOf(events)) });
    const watch = await state.watchKind(Str);
    const [updated, errored] = [(await watch.next()).value, (await watch.next()).value] as [Event, Event];
    expect(updated.bookmark).toEqual(bookmark);
    expect(updated.revision).toBe(5);
    expect(updated.resource?.metadata.version).toBe("2");
    expect(updated.old?.metadata.version).toBe("undefined");
    expect(errored).toBe(events[1]);
  });
});

test("disposing a State disposes its store, if that can be", async () => {
  let disposed = 0;
  await wrapState({ ...alwaysAnswering(two), [Symbol.asyncDispose]: async () => void disposed++ })[
    Symbol.asyncDispose
  ]();
  expect(disposed).toBe(1);
  await wrapState(alwaysAnswering(two))[Symbol.asyncDispose]();
});

function behindFilter(): State {
  return wrapState(new AccessFilter(new MemoryNamespace("default"), () => undefined));
}
