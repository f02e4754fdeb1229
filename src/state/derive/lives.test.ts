import { describe, expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import { MemoryState } from "../../memory/index.ts";
import { patchMetadata, withSpec, type Resource } from "../../resource/index.ts";
import { Int, JsonBackingStore } from "../../testing/index.ts";
import type { CoreState, Watch } from "../core-state.ts";
import type { Event } from "../event.ts";
import { AccessFilter } from "../views/access-filter.ts";
import { wrapState } from "../wrap-state.ts";

// What the suite of States cannot show: clocks that stand or go back, cores with shortcuts, watches that lost their place.

const ref = Int.ref("one");
const code = (expected: string) => expect.objectContaining({ code: expected });
const create = (value: number, ...finalizers: string[]) => Int.create("one", { value }, { finalizers });

/** The eight operations of a store, with some replaced. */
function core(state: CoreState, replaced: Partial<CoreState> = {}): CoreState {
  return {
    get: (pointer, options) => state.get(pointer, options),
    list: (kind, options) => state.list(kind, options),
    create: (resource, options) => state.create(resource, options),
    update: (resource, options) => state.update(resource, options),
    destroy: (pointer, options) => state.destroy(pointer, options),
    watch: (pointer, options) => state.watch(pointer, options),
    watchKind: (kind, options) => state.watchKind(kind, options),
    watchKindBatches: (kind, options) => state.watchKindBatches(kind, options),
    ...replaced,
  };
}

/** A watch with these events, which then waits. */
function watchOf(...events: Event[]): Watch {
  return {
    next: () => {
      const value = events.shift();
      return value === undefined ? new Promise(() => {}) : Promise.resolve({ value, done: false });
    },
    return: () => Promise.resolve({ value: undefined, done: true }),
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function recreate(state: MemoryState, value: number): Promise<Resource> {
  await state.destroy(ref);
  return state.create(create(value));
}

test("two lives differ though the clock stands still, or goes back", async () => {
  const clock = new ManualClock();
  await using state = new MemoryState({ clock });
  const first = await state.create(create(1));
  const second = await recreate(state, 2);
  expect(second.metadata.created > first.metadata.created).toBe(true);
  await expect(state.update(withSpec(first, { value: 9 }))).rejects.toEqual(code("version_conflict"));
  await clock.advance(-3_600_000);
  const third = await recreate(state, 3);
  expect(third.metadata.created > second.metadata.created).toBe(true);
  await expect(state.destroy(second.metadata)).rejects.toEqual(code("version_conflict"));
  const updated = await state.update(withSpec(third, { value: 4 }));
  expect(updated.metadata.updated >= updated.metadata.created, "not updated before it was created").toBe(true);
});

test("a State on a store goes on behind the times of an earlier process", async () => {
  const store = new JsonBackingStore();
  const later = new ManualClock();
  await later.advance(60_000);
  await using before = new MemoryState({ backingStore: () => store, clock: later });
  const first = await before.create(create(1));
  await using after = new MemoryState({ backingStore: () => store, clock: new ManualClock() });
  const second = await after.create(Int.create("two", { value: 2 }));
  expect(second.metadata.created > first.metadata.created).toBe(true);
  expect((await after.get(ref)).metadata.created).toBe(first.metadata.created);
  expect((await after.update(withSpec(first, { value: 2 }))).metadata.version).toBe("2");
});

describe("teardownAndDestroy", () => {
  test("spares what was created on the way to its last step", async () => {
    await using state = new MemoryState();
    const arrived = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const far = wrapState(
      core(state, {
        destroy: async (pointer, options) => {
          arrived.resolve();
          await goOn.promise;
          return state.destroy(pointer, options);
        },
      }),
    );
    await state.create(create(1));
    const going = far.teardownAndDestroy(ref);
    await arrived.promise;
    const second = await recreate(state, 2);
    goOn.resolve();
    await expect(going).rejects.toMatchObject({
      code: "not_found",
      message: `${Int.type}(default/one) was destroyed by another caller, and then created anew`,
    });
    expect(await state.get(ref)).toBe(second);
  });

  test("names the life to a core with a teardown of its own", async () => {
    await using state = new MemoryState();
    const first = await state.create(create(1));
    const named: unknown[] = [];
    const fast = wrapState(
      core(state, {
        teardown: (pointer, options) => {
          named.push(pointer);
          return state.teardown(pointer, options);
        },
        destroy: (pointer, options) => {
          named.push(pointer);
          return state.destroy(pointer, options);
        },
      }),
    );
    await fast.teardownAndDestroy(ref);
    const { namespace, type, id } = ref;
    const life = { namespace, type, id, created: first.metadata.created };
    expect(named).toEqual([life, life]);
  });

  test("of an earlier life does not reach the present one through such a core, which may compare nothing", async () => {
    await using state = new MemoryState();
    const first = await state.create(create(1));
    const second = await recreate(state, 2);
    const careless = wrapState(core(state, { teardown: () => state.teardown(ref), destroy: () => state.destroy(ref) }));
    await expect(careless.teardownAndDestroy(first.metadata)).rejects.toEqual(code("version_conflict"));
    expect(await state.get(ref)).toBe(second);
  });

  test("ends when the life is replaced under a core's own teardown", async () => {
    await using state = new MemoryState();
    await state.create(create(1));
    const fast = wrapState(
      core(state, {
        teardown: async (pointer, options) => {
          await recreate(state, 2);
          return state.teardown(pointer, options);
        },
      }),
    );
    await expect(fast.teardownAndDestroy(ref)).rejects.toEqual(code("not_found"));
    expect((await state.get(ref)).metadata.phase).toBe("running");
  });
});

describe("waits whose watch lost its place", () => {
  async function twoLives(state: MemoryState): Promise<readonly [Resource, Resource]> {
    return [await state.create(create(1)), await recreate(state, 2)];
  }

  test("a signal aborts though no event told of the end", async () => {
    await using state = new MemoryState();
    const [first, second] = await twoLives(state);
    const blind = wrapState(
      core(state, {
        watch: async () => watchOf({ type: "Created", resource: first }, { type: "Created", resource: second }),
      }),
    );
    await using signal = await blind.signalWithTeardown(ref);
    await new Promise((resolve) => signal.signal.addEventListener("abort", resolve));
    expect(signal.signal.reason).toMatchObject({
      name: "AbortError",
      message: expect.stringMatching(/not exist any more/),
    });
  });

  test("a wait for the end of a life is over with what was last known of it", async () => {
    await using state = new MemoryState();
    const [first, second] = await twoLives(state);
    const blind = wrapState(
      core(state, {
        watch: async () => watchOf({ type: "Created", resource: first }, { type: "Created", resource: second }),
      }),
    );
    expect(await blind.watchFor(first.metadata, { events: ["Destroyed"] })).toBe(first);
    await expect(blind.watchFor(first.metadata, { phases: ["tearingDown"] })).rejects.toMatchObject({
      code: "not_found",
      message: `${Int.type}(default/one) that was created at ${first.metadata.created} does not exist any more`,
    });
  });
});

test("a life goes through views: a filter, a State around a State, an update by its metadata", async () => {
  await using state = new MemoryState();
  const first = await state.create(create(1, "f"));
  await state.removeFinalizer(first.metadata, "f");
  const second = await recreate(state, 2);
  for (const view of [wrapState(new AccessFilter(state, () => {})), wrapState(wrapState(state))]) {
    await expect(view.destroy(first.metadata)).rejects.toEqual(code("version_conflict"));
    await expect(view.teardown(first.metadata)).rejects.toEqual(code("version_conflict"));
    await expect(view.addFinalizer(first.metadata, "g")).rejects.toEqual(code("version_conflict"));
    await expect(view.update(patchMetadata(first, { labels: { a: "b" } }))).rejects.toEqual(code("version_conflict"));
  }
  expect(await state.get(ref)).toBe(second);
});

test("a life of another owner is a conflict of lives: whoever retries reads it first", async () => {
  await using state = new MemoryState();
  const first = await state.create(create(1), { owner: "A" });
  await state.destroy(ref, { owner: "A" });
  await state.create(create(2), { owner: "B" });
  await expect(state.update(first, { owner: "A" })).rejects.toEqual(code("version_conflict"));
  await expect(state.destroy(first.metadata, { owner: "A" })).rejects.toEqual(code("version_conflict"));
});
