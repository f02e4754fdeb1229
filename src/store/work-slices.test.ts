import { describe, expect, test } from "vitest";
import { SystemClock } from "../clock/index.ts";
import { MemoryState } from "../memory/index.ts";
import { createResource, lessOrEqual } from "../resource/index.ts";
import type { Event } from "../state/index.ts";

const kind = { namespace: "k", type: "T" };

/** A clock on which each look takes a millisecond, so that a slice is a few looks, however fast the machine is. */
class SlowClock extends SystemClock {
  #looks = 0;
  turns = 0;

  override monotonic(): number {
    return this.#looks++;
  }

  override defer(fn: () => void): void {
    super.defer(() => {
      this.turns++;
      fn();
    });
  }
}

async function filled(count: number): Promise<{ readonly state: MemoryState; readonly clock: SlowClock }> {
  const clock = new SlowClock();
  const state = new MemoryState({ clock, history: { maxCapacity: 10_000 } });
  for (let i = 0; i < count; i++) await state.create(one(i));
  clock.turns = 0;
  return { state, clock };
}

const one = (i: number) => createResource({ ...kind, id: `r${String(i).padStart(5, "0")}`, labels: { k: "a" } }, {});
const costly = { labels: Array.from({ length: 4_900 }, () => lessOrEqual("k", "b")) };

describe("what is costly is done in slices", () => {
  test.each([
    ["a list with many terms", costly],
    ["a list with a large pattern", { ids: "[\\pL\\pN]{1,1000}" }],
  ])("%s: the loop goes on between them, and the result is of one moment", async (_, query) => {
    const { state, clock } = await filled(100);
    await state.list(kind, { ids: "." }); // The library of patterns is loaded now.
    clock.turns = 0;
    let turns = 0;
    const ticks = setInterval(() => turns++, 0);
    const listing = state.list(kind, query);
    await new Promise((resolve) => setImmediate(resolve));
    await state.create(one(500));
    await state.destroy(one(3).metadata);
    const list = await listing;
    clearInterval(ticks);
    expect(list.map(({ metadata }) => metadata.id)).toEqual(Array.from({ length: 100 }, (__, i) => one(i).metadata.id));
    expect(list.revision).toBe(100);
    expect(clock.turns).toBeGreaterThanOrEqual(10);
    expect(await state.list(kind, query)).toHaveLength(100);
  });

  test("a list that is aborted stops", async () => {
    const { state } = await filled(100);
    const stop = new AbortController();
    const listing = state.list(kind, { ...costly, signal: stop.signal });
    setImmediate(() => stop.abort(new Error("enough")));
    await expect(listing).rejects.toThrow("enough");
  });

  test("lists take turns: a cheap one does not wait for a costly one's end", async () => {
    const { state } = await filled(200);
    const order: string[] = [];
    await Promise.all([
      state.list(kind, costly).then(() => order.push("costly")),
      state.list(kind, { labels: [lessOrEqual("k", "b")] }).then(() => order.push("cheap")),
    ]);
    expect(order).toEqual(["cheap", "costly"]);
  });

  test("the contents of a watch come in several batches, the marker last, then what changed since", async () => {
    const { state, clock } = await filled(100);
    await using watch = await state.watchKindBatches(kind, { ...costly, bootstrap: true, bootstrapBookmark: true });
    await state.create(one(500));
    const events: Event[] = [];
    let batches = 0;
    while (events.length < 103) {
      events.push(...((await watch.next()).value ?? []));
      batches++;
    }
    expect(batches).toBeGreaterThan(10);
    expect(clock.turns).toBeGreaterThan(10);
    expect(events.slice(0, 100).map(({ resource }) => resource?.metadata.id)).toEqual(
      Array.from({ length: 100 }, (__, i) => one(i).metadata.id),
    );
    expect(events.slice(100).map(({ type }) => type)).toEqual(["Bootstrapped", "Noop", "Created"]);
  });

  test.each([
    ["that match", costly, 200],
    ["that do not match", { labels: [...costly.labels, lessOrEqual("other", "b")] }, 0],
  ])("events %s are filtered a few at a time, in order and without loss", async (_, query, expected) => {
    const { state, clock } = await filled(0);
    await using watch = await state.watchKind(kind, query);
    await using all = await state.watchKindBatches(kind);
    for (let i = 0; i < 200; i++) await state.create(one(i));
    const ids: unknown[] = [];
    if (expected === 0) {
      const matching = createResource({ ...kind, id: "x", labels: { k: "a", other: "a" } }, {});
      await state.create(matching);
    }
    while (ids.length < Math.max(1, expected)) ids.push((await watch.next()).value?.resource?.metadata.id);
    expect(ids).toEqual(expected === 0 ? ["x"] : Array.from({ length: 200 }, (__, i) => one(i).metadata.id));
    expect(clock.turns).toBeGreaterThan(10);
    expect((await all.next()).value?.length).toBeGreaterThan(0);
  });

  test("a resync is filtered in slices as well", async () => {
    const clock = new SlowClock();
    const state = new MemoryState({ clock, history: { maxCapacity: 10 } });
    await using watch = await state.watchKindBatches(kind, costly);
    for (let i = 0; i < 100; i++) await state.create(one(i));
    const types: string[] = [];
    while (types.at(-1) !== "Bootstrapped") {
      const { value } = await watch.next();
      for (const { type } of value ?? []) types.push(type);
    }
    expect(types.filter((type) => type === "Created").length).toBeGreaterThanOrEqual(100);
    expect(types).toContain("Resynced");
  });

  test("what an engine takes at once is whole", async () => {
    const { state } = await filled(100);
    await using watch = await state.watchKindBatches(kind, { ...costly, bootstrap: true });
    expect(watch.takePending?.()).toHaveLength(101);
  });
});
