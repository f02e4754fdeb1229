import { describe, expect, test } from "vitest";
import { isInvalidBookmark } from "../resource/index.ts";
import { EventType, type Event, type State, type Watch } from "../state/index.ts";
import { Int, PathResource } from "../testing/index.ts";
import { MemoryState } from "./memory-state.ts";

const { created, updated, bootstrapped, noop } = EventType;

const pending = (watch: Watch): readonly Event[] => {
  const events: Event[] = [];
  for (let event = watch.takePending?.(); event !== undefined; event = watch.takePending?.()) events.push(event);
  return events;
};
const idsOf = (events: readonly Event[]) => events.map(({ resource }) => resource?.metadata.id);
const expectInvalid = async (opening: Promise<unknown>) =>
  expect(isInvalidBookmark(await opening.catch((error: unknown) => error))).toBe(true);

/** Creates `count` resources and gives the bookmark of each creation: that of position 0 first. */
async function write(state: State, count: number): Promise<readonly Uint8Array[]> {
  const watch = await state.watchKind(PathResource);
  const bookmarks: Uint8Array[] = [];
  for (let id = 0; id < count; id++) {
    await state.create(PathResource.create(String(id), {}));
    bookmarks.push(...pending(watch).map(({ bookmark }) => bookmark ?? new Uint8Array()));
  }
  expect(bookmarks).toHaveLength(count);
  return bookmarks;
}

test("a bookmark whose first byte was changed is refused [state 73]", async () => {
  await using state = new MemoryState();
  const [bookmark] = await write(state, 1);
  const foreign = bookmark?.slice() ?? new Uint8Array();
  foreign[0] = (foreign[0] ?? 0) ^ 1;
  await expectInvalid(state.watchKind(PathResource, { startFromBookmark: foreign }));
  await expectInvalid(state.watchKindBatches(PathResource, { startFromBookmark: foreign }));
  await expectInvalid(state.watch(PathResource.ref("0"), { startFromBookmark: foreign }));
});

describe("the range of bookmarks that are taken", () => {
  const history = { initialCapacity: 10, maxCapacity: 10, gap: 3 };

  test("begins at the number of events less the capacity, and the gap after it [state 175]", async () => {
    await using state = new MemoryState({ history });
    const bookmarks = await write(state, 25);
    for (const startFromBookmark of bookmarks.slice(0, 18)) {
      await expectInvalid(state.watchKind(PathResource, { startFromBookmark }));
      await expectInvalid(state.watch(PathResource.ref("24"), { startFromBookmark }));
    }
    const oldest = await state.watchKind(PathResource, { startFromBookmark: bookmarks[18] });
    expect(idsOf(pending(oldest))).toEqual(["19", "20", "21", "22", "23", "24"]);
    const ofOne = await state.watch(PathResource.ref("24"), { startFromBookmark: bookmarks[18] });
    expect(idsOf(pending(ofOne))).toEqual(["24"]);
  });

  test("begins before the first event, of a kind and of one resource [state 175]", async () => {
    await using state = new MemoryState({ history });
    const empty = await state.watchKind(PathResource, { bootstrap: true });
    const [{ bookmark: startFromBookmark } = {}] = pending(empty);
    await write(state, 6);
    const all = await state.watchKind(PathResource, { startFromBookmark });
    expect(idsOf(pending(all))).toEqual(["0", "1", "2", "3", "4", "5"]);
    expect(idsOf(pending(await state.watch(PathResource.ref("0"), { startFromBookmark })))).toEqual(["0"]);
    // With one event more it is too old for a kind, too.
    await state.create(PathResource.create("6", {}));
    await expectInvalid(state.watchKind(PathResource, { startFromBookmark }));
    await expectInvalid(state.watch(PathResource.ref("0"), { startFromBookmark }));
  });

  test("of one resource is there from the first event on, with the revision of its kind", async () => {
    await using state = new MemoryState({ history });
    const ref = PathResource.ref("0");
    const first = await state.watch(ref, { bootstrapBookmark: true });
    const [nothing, noop] = [first.takePending?.(), first.takePending?.()];
    expect([nothing, noop]).toMatchObject([
      { type: "Destroyed", revision: 0 },
      { type: "Noop", revision: 0 },
    ]);
    expect(nothing?.bookmark).toEqual(noop?.bookmark);
    await write(state, 3);
    const second = await state.watch(ref);
    const present = second.takePending?.();
    expect(present).toMatchObject({ type: "Created", revision: 3 });
    expect(present?.bookmark).toBeInstanceOf(Uint8Array);
  });

  test("of one resource is there after a resync, too", async () => {
    await using state = new MemoryState({ history });
    const watch = await state.watch(PathResource.ref("0"));
    watch.takePending?.();
    await write(state, 40);
    const [resynced, present] = [watch.takePending?.(), watch.takePending?.()];
    expect([resynced, present]).toMatchObject([{ type: "Resynced" }, { type: "Created", revision: 40 }]);
    await state.destroy(PathResource.ref("0"));
    const rest = await state.watch(PathResource.ref("0"), { startFromBookmark: present?.bookmark });
    expect(rest.takePending?.()).toMatchObject({ type: "Destroyed", revision: 41 });
  });

  test("is everything as long as the history grows instead of losing events", async () => {
    for (const written of [1, 99, 100, 101, 199, 200, 500]) {
      await using state = new MemoryState({ history: { maxCapacity: 100_000 } });
      const empty = await state.watchKind(PathResource, { bootstrap: true });
      const [{ bookmark: startFromBookmark } = {}] = pending(empty);
      const [first] = await write(state, written);
      expect(pending(await state.watchKind(PathResource, { startFromBookmark }))).toHaveLength(written);
      expect(pending(await state.watchKind(PathResource, { startFromBookmark: first }))).toHaveLength(written - 1);
      expect(pending(await state.watchKind(PathResource, { tailEvents: 1000 }))).toHaveLength(written);
    }
  });

  test("ends with the newest, which replays nothing [state 175]", async () => {
    await using state = new MemoryState({ history });
    const bookmarks = await write(state, 12);
    const latest = await state.watchKind(PathResource, { startFromBookmark: bookmarks[11] });
    expect(pending(latest)).toEqual([]);
    const future = bookmarks[11]?.slice() ?? new Uint8Array();
    future[15] = (future[15] ?? 0) + 1;
    await expectInvalid(state.watchKind(PathResource, { startFromBookmark: future }));
    await state.create(PathResource.create("12", {}));
    expect(idsOf(pending(latest))).toEqual(["12"]);
  });

  test("is that of one kind: another's are foreign", async () => {
    await using state = new MemoryState({ history });
    const [startFromBookmark] = await write(state, 1);
    await state.create(Int.create("one", { value: 1 }));
    await expectInvalid(state.watchKind(Int, { startFromBookmark }));
    await expectInvalid(state.watchKind(PathResource.in("other"), { startFromBookmark }));
    await using restarted = new MemoryState({ history });
    await write(restarted, 1);
    await expectInvalid(restarted.watchKind(PathResource, { startFromBookmark }));
  });
});

describe("tail events", () => {
  test("reach back as far as a bookmark may [state 176]", async () => {
    await using state = new MemoryState({ history: { initialCapacity: 100, maxCapacity: 100, gap: 5 } });
    await write(state, 250);
    const watch = await state.watchKind(PathResource, { tailEvents: 1000 });
    expect(idsOf(pending(watch))).toEqual(Array.from({ length: 95 }, (_, index) => String(155 + index)));
    const one = await state.watch(PathResource.ref("155"), { tailEvents: 1000 });
    expect(idsOf(pending(one))).toEqual(["155"]);
    const tooOld = await state.watch(PathResource.ref("154"), { tailEvents: 1000 });
    expect(pending(tooOld)).toEqual([]);
  });

  test("of one resource are its own, of a kind those of all its resources, queried or not [state 176]", async () => {
    await using state = new MemoryState();
    const stored = await state.create(PathResource.create("mine", {}));
    await state.update(stored);
    await write(state, 10);
    const mine = await state.watch(PathResource.ref("mine"), { tailEvents: 2 });
    expect(pending(mine).map(({ type }) => type)).toEqual([created, updated]);
    const some = await state.watchKind(PathResource, { tailEvents: 2 });
    expect(idsOf(pending(some))).toEqual(["8", "9"]);
    const queried = await state.watchKind(PathResource, { tailEvents: 3, ids: "mine|9" });
    expect(idsOf(pending(queried))).toEqual(["9"]);
  });

  test("of zero or less are none, and leave the watch as it would be without", async () => {
    await using state = new MemoryState();
    const stored = await state.create(PathResource.create("mine", {}));
    for (const tailEvents of [0, -5]) {
      expect(pending(await state.watch(stored.metadata, { tailEvents }))).toHaveLength(1);
      expect(pending(await state.watchKind(PathResource, { tailEvents }))).toEqual([]);
    }
  });

  test("with an initial bookmark start behind it", async () => {
    await using state = new MemoryState();
    const bookmarks = await write(state, 5);
    const watch = await state.watchKind(PathResource, { tailEvents: 2, bootstrapBookmark: true });
    const events = pending(watch);
    expect(events.map(({ type }) => type)).toEqual([noop, created, created]);
    expect(events[0]?.bookmark).toEqual(bookmarks[2]);
    const resumed = await state.watchKind(PathResource, { startFromBookmark: bookmarks[2], bootstrapBookmark: true });
    expect(pending(resumed)[0]?.bookmark).toEqual(bookmarks[2]);
  });
});

test("the first contents and the initial bookmark come in this order, with the same bookmark [state 177]", async () => {
  await using state = new MemoryState();
  const bookmarks = await write(state, 2);
  const batches = await state.watchKindBatches(PathResource, { bootstrap: true, bootstrapBookmark: true });
  const first = batches.takePending?.() ?? [];
  expect(first.map(({ type }) => type)).toEqual([created, created, bootstrapped]);
  expect(first.map(({ bookmark }) => bookmark)).toEqual([undefined, undefined, bookmarks[1]]);
  const second = batches.takePending?.() ?? [];
  expect(second.map(({ type, bookmark }) => [type, bookmark])).toEqual([[noop, bookmarks[1]]]);
});

test("States with one epoch give and take the same bookmarks; an epoch is 8 bytes", async () => {
  const epoch = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  await using one = new MemoryState({ epoch });
  epoch[0] = 9;
  await using other = new MemoryState({ epoch: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) });
  await using foreign = new MemoryState();
  const bookmarks = await write(one, 2);
  expect(await write(other, 2)).toEqual(bookmarks);
  await write(foreign, 2);
  await using resumed = await other.watchKind(PathResource, { startFromBookmark: bookmarks[0] });
  expect(idsOf(pending(resumed))).toEqual(["1"]);
  await expectInvalid(foreign.watchKind(PathResource, { startFromBookmark: bookmarks[0] }));
  expect(() => new MemoryState({ epoch: new Uint8Array(7) })).toThrow("8 bytes, got 7 bytes");
  expect(() => new MemoryState({ epoch: "x" as never })).toThrow("8 bytes, got string");
});
