import assert from "node:assert/strict";
import { withFinalizers, patchMetadata, type Resource } from "../../../resource/index.ts";
import { EventType, type Event } from "../../../state/index.ts";
import { describeEvents, sameEvent } from "../../assert/describe-event.ts";
import { expectEvents } from "../../assert/expect-events.ts";
import { isDestroyed, WATCH_FORMS, type Scenario, type WatchForm, type World } from "./world.ts";

const { created, updated, destroyed, bootstrapped, noop } = EventType;

/** The same steps for both forms of a watch. */
export function inBothForms(
  name: string,
  steps: (world: World, form: WatchForm) => Promise<void>,
): readonly Scenario[] {
  return WATCH_FORMS.map((form) => ({ name: `${name}, ${form}`, run: (world) => steps(world, form) }));
}

/** Create, update twice, tear down, destroy: the resource as it was after each write. */
async function liveAndDie({ state }: World, resource: Resource): Promise<void> {
  const first = await state.create(resource);
  const second = await state.update(first);
  await state.update(second);
  assert.equal(await state.teardown(first.metadata), true);
  await state.destroy(first.metadata);
}

export function assertSameEvents(actual: readonly Event[], expected: readonly Event[]): void {
  const same =
    actual.length === expected.length &&
    actual.every((event, i) => expected.slice(i, i + 1).some((other) => sameEvent(event, other)));
  assert.ok(same, `expected\n${describeEvents(expected)}\ngot\n${describeEvents(actual)}`);
}

/** Watches of a kind: the unfiltered part of section 26.3 of the specification. */
export const watchKind: readonly Scenario[] = [
  ...inBothForms(
    "[state 13-15] [transport S4] a watch without options reports every later change and nothing else",
    async (world, form) => {
      const { state } = world;
      const r1 = await world.create("var/run");
      const reader = await world.watchKind(form);
      const r2 = await world.create("var/lib");
      await expectEvents(reader, { type: created, resource: r2, old: null });

      assert.equal(await state.teardown(r1.metadata), true);
      const tornDown = await state.get(r1.metadata);
      await state.destroy(r1.metadata);
      await expectEvents(
        reader,
        { type: updated, resource: tornDown, old: r1 },
        { type: destroyed, resource: tornDown, old: null },
      );

      // Nothing differs, and yet it is a write.
      const r2Again = await state.update(r2);
      assert.equal(r2.metadata.version, "1");
      assert.equal(r2Again.metadata.version, "2");
      await expectEvents(reader, { type: updated, resource: r2Again, old: r2 });
    },
  ),

  ...inBothForms(
    "[state 16-17] [transport S4] a watch with bootstrap starts with what is there, then goes on like any other",
    async (world, form) => {
      const { state } = world;
      const early = await world.watchKind(form);
      for (const id of ["var/run", "etc/passwd", "var/lib"]) await world.create(id);
      const r2 = await state.update(await state.get(world.kind.ref("var/lib")));
      await early.take(4);
      const late = await world.watchKind(form, { bootstrap: true });
      const list = await state.list(world.kind);
      assert.equal(list.length, 3);
      await expectEvents(late, ...list.map((resource) => ({ type: created, resource, old: null }) as const));
      const [marker] = await expectEvents(late, { type: bootstrapped, id: "" });
      assert.equal(marker?.resource?.metadata.namespace, world.namespace);
      assert.equal(marker.resource.metadata.type, world.kind.type);

      const newest = await state.update(r2);
      for (const reader of [early, late]) await expectEvents(reader, { type: updated, resource: newest, old: r2 });
    },
  ),

  ...inBothForms("[state 18] [transport S5] tail events replay what happened before the watch", async (world, form) => {
    const first = await world.watchKind(form);
    await liveAndDie(world, world.path("var/run"));
    const seen = await first.takeUntil(isDestroyed);
    assert.deepEqual(
      seen.map(({ type }) => type),
      [created, updated, updated, updated, destroyed],
    );
    const second = await world.ifSupported("tail events", world.watchKind(form, { tailEvents: 1000 }));
    const replayed = await second.takeUntil(isDestroyed);
    for (const event of seen)
      assert.ok(
        replayed.some((other) => sameEvent(event, other)),
        `not replayed:\n${describeEvents([event])}`,
      );
  }),

  ...inBothForms(
    "[state 24] [transport S12] a watch can go on from the bookmark of any event, from Bootstrapped on",
    async (world, form) => {
      await bookmarks(world, form, { bootstrap: true }, bootstrapped);
    },
  ),
  ...inBothForms(
    "[state 24] [transport S12] a watch can go on from the bookmark of any event, from Noop on",
    async (world, form) => {
      await bookmarks(world, form, { bootstrapBookmark: true }, noop);
    },
  ),

  ...inBothForms(
    "[state 177] Bootstrapped comes before Noop, and both carry the same bookmark",
    async (world, form) => {
      const { state } = world;
      const stored = await world.create("var/run");
      const reader = await world.watchKind(form, { bootstrap: true, bootstrapBookmark: true });
      const next = await state.update(stored);
      const [, first, second] = await expectEvents(
        reader,
        { type: created, resource: stored, bookmark: false },
        { type: bootstrapped, bookmark: true },
        { type: noop, id: "", bookmark: true },
        { type: updated, resource: next, bookmark: true },
      );
      assert.deepEqual(first?.bookmark, second?.bookmark);
      assert.equal(second?.resource?.metadata.namespace, world.namespace);
      assert.equal(second.resource.metadata.type, world.kind.type);
    },
  ),

  ...inBothForms("a bookmark of before the first change replays everything", async (world, form) => {
    const empty = await world.watchKind(form, { bootstrap: true });
    const [marker] = await expectEvents(empty, { type: bootstrapped, bookmark: true });
    const stored = await world.create("var/run");
    const reader = await world.watchKind(form, { startFromBookmark: marker?.bookmark });
    await expectEvents(reader, { type: created, resource: stored });
  }),

  {
    name: "[state 176] tail events of a kind count the events of all its resources",
    run: async (world) => {
      const { state } = world;
      const kept = await world.create("var/run");
      const other = await world.create("var/lib");
      const changed = await state.update(other);
      const reader = await world.ifSupported("tail events", world.watchKind("plain", { tailEvents: 2 }));
      await expectEvents(reader, { type: created, resource: other }, { type: updated, resource: changed });
      // Raw events are counted, those that the query hides included.
      const filtered = await world.watchKind("plain", { tailEvents: 2, ids: "run$" });
      const later = await state.update(kept);
      await expectEvents(filtered, { type: updated, resource: later });
    },
  },

  {
    name: "many finalizers, labels and annotations arrive as they were written",
    run: async (world) => {
      const reader = await world.watchKind("plain");
      const stored = await world.create("var/run", {
        labels: { a: "", "b/c": "~" },
        annotations: { note: "checked: yes\nno" },
      });
      const changed = await world.state.update(
        patchMetadata(stored, { finalizers: withFinalizers(stored.metadata.finalizers, "Z", "A", "ß") }),
      );
      assert.deepEqual([...changed.metadata.finalizers], ["Z", "A", "ß"]);
      await expectEvents(
        reader,
        { type: created, resource: stored },
        { type: updated, resource: changed, old: stored },
      );
    },
  },
];

async function bookmarks(
  world: World,
  form: WatchForm,
  options: { bootstrap: true } | { bootstrapBookmark: true },
  marker: EventType,
): Promise<void> {
  const { state } = world;
  const resource = await world.create("var/run");
  const reader = await world.watchKind(form, options);
  if ("bootstrap" in options) await expectEvents(reader, { type: created, resource, bookmark: false });
  const second = await state.update(resource);
  await state.update(second);
  assert.equal(await state.teardown(resource.metadata), true);
  await state.destroy(resource.metadata);
  const recorded = await expectEvents(
    reader,
    { type: marker, bookmark: true },
    { type: updated, version: "2", bookmark: true },
    { type: updated, version: "3", bookmark: true },
    { type: updated, version: "4", bookmark: true },
    { type: destroyed, version: "4", bookmark: true },
  );
  const again = await state.create(world.path("var/run"));
  const [last] = await expectEvents(reader, { type: created, resource: again });
  for (const [index, { bookmark }] of recorded.entries()) {
    const fresh = await world.watchKind(form, { startFromBookmark: bookmark });
    const rest = recorded.slice(index + 1).concat(last ?? []);
    assertSameEvents(await fresh.take(rest.length), rest);
  }
  await state.destroy(again.metadata);
}
