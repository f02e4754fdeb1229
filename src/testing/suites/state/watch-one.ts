import assert from "node:assert/strict";
import { isTombstone, Phase } from "../../../resource/index.ts";
import { EventType } from "../../../state/index.ts";
import { describeEvents, sameEvent } from "../../assert/describe-event.ts";
import { expectEvents } from "../../assert/expect-events.ts";
import { assertSameEvents } from "./watch-kind.ts";
import { isDestroyed, type Scenario, type World } from "./world.ts";

const { created, updated, destroyed } = EventType;

/** Watches of one resource: section 26.4 of the specification. */
export const watchOne: readonly Scenario[] = [
  {
    name: "[state 25] [transport S9] a watch follows a resource from before it exists to its end",
    run: async (world) => {
      const { state } = world;
      const pointer = world.kind.ref("var/run");
      const reader = await world.watch(pointer);
      const [nothing] = await expectEvents(reader, { type: destroyed, id: "var/run", version: "undefined" });
      assert.ok(nothing?.resource !== undefined && isTombstone(nothing.resource));

      const first = await world.create("var/run");
      await expectEvents(reader, { type: created, resource: first, old: null });
      assert.equal(await state.teardown(pointer), true);
      const [event] = await expectEvents(reader, { type: updated, version: "2", old: first });
      assert.equal(event?.resource?.metadata.phase, Phase.tearingDown);
      assert.equal(event.old?.metadata.phase, Phase.running);
      await state.addFinalizer(pointer, "Mount");
      const [added] = await expectEvents(reader, { type: updated, version: "3" });
      assert.deepEqual([...(added?.resource?.metadata.finalizers ?? [])], ["Mount"]);
      await state.removeFinalizer(pointer, "Mount");
      const [removed] = await expectEvents(reader, { type: updated, version: "4" });
      assert.deepEqual([...(removed?.resource?.metadata.finalizers ?? [])], []);
      await state.destroy(pointer);
      const [gone] = await expectEvents(reader, { type: destroyed, id: "var/run", version: "4", old: null });
      assert.equal(gone?.resource?.metadata.phase, Phase.tearingDown);
    },
  },

  {
    name: "a watch of an existing resource starts with it",
    run: async (world) => {
      const stored = await world.create("var/run");
      await world.create("var/lib");
      const reader = await world.watch(stored.metadata);
      const next = await world.state.update(stored);
      await expectEvents(
        reader,
        { type: created, resource: stored, old: null },
        { type: updated, resource: next, old: stored },
      );
    },
  },

  {
    name: "[state 26] [transport S10] tail events replay what happened to the resource before the watch",
    run: async (world) => {
      const pointer = world.kind.ref("var/run");
      const first = await world.watch(pointer);
      await expectEvents(first, { type: destroyed });
      await liveAndDie(world);
      const seen = await first.takeUntil(isDestroyed);
      assert.deepEqual(
        seen.map(({ type }) => type),
        [created, updated, updated, updated, destroyed],
      );
      const second = await world.ifSupported("tail events", world.watch(pointer, { tailEvents: 1000 }));
      const replayed = await second.takeUntil(isDestroyed);
      for (const event of seen)
        assert.ok(
          replayed.some((other) => sameEvent(event, other)),
          `not replayed:\n${describeEvents([event])}`,
        );
    },
  },

  {
    name: "[state 27] [transport S11] a watch of a resource can go on from the bookmark of any event but the first",
    run: async (world) => {
      const pointer = world.kind.ref("var/run");
      const reader = await world.watch(pointer);
      await expectEvents(reader, { type: destroyed });
      await liveAndDie(world);
      const recorded = await expectEvents(
        reader,
        { type: created, version: "1", bookmark: true },
        { type: updated, version: "2", bookmark: true },
        { type: updated, version: "3", bookmark: true },
        { type: updated, version: "4", bookmark: true },
        { type: destroyed, version: "4", bookmark: true },
      );
      const again = await world.create("var/run");
      const [last] = await expectEvents(reader, { type: created, resource: again });
      for (const [index, { bookmark }] of recorded.entries()) {
        const fresh = await world.watch(pointer, { startFromBookmark: bookmark });
        const rest = recorded.slice(index + 1).concat(last ?? []);
        assertSameEvents(await fresh.take(rest.length), rest);
      }
    },
  },

  {
    name: "a watch of a resource can go on from its first event, however quiet the resource and its kind",
    run: async (world) => {
      const pointer = world.kind.ref("var/run");
      const missing = await world.watch(pointer);
      const [nothing] = await expectEvents(missing, { type: destroyed, bookmark: true });
      const stored = await world.create("var/run");
      const other = await world.create("var/lib");
      const present = await world.watch(pointer);
      const [there] = await expectEvents(present, { type: created, resource: stored, bookmark: true });
      await world.state.update(other);
      const changed = await world.state.update(stored);
      const fromNothing = await world.watch(pointer, { startFromBookmark: nothing?.bookmark });
      await expectEvents(fromNothing, { type: created, resource: stored }, { type: updated, resource: changed });
      const fromThere = await world.watch(pointer, { startFromBookmark: there?.bookmark });
      await expectEvents(fromThere, { type: updated, resource: changed, old: stored });
    },
  },

  {
    name: "a watch of a resource tells its position when asked, behind the present state and before what it replays",
    run: async (world) => {
      const pointer = world.kind.ref("var/run");
      const reader = await world.watch(pointer, { bootstrapBookmark: true });
      const [, noop] = await expectEvents(
        reader,
        { type: destroyed },
        { type: EventType.noop, id: "", bookmark: true },
      );
      const stored = await world.create("var/run");
      await expectEvents(reader, { type: created, resource: stored });
      const replay = await world.watch(pointer, { startFromBookmark: noop?.bookmark, bootstrapBookmark: true });
      const [again] = await expectEvents(replay, { type: EventType.noop }, { type: created, resource: stored });
      assert.deepEqual(again?.bookmark, noop?.bookmark, "nothing was passed over");
    },
  },

  {
    name: "[state 176] tail events of a resource count only its own",
    run: async (world) => {
      const { state } = world;
      const stored = await world.create("var/run");
      const changed = await state.update(stored);
      await world.create("var/lib");
      const reader = await world.ifSupported("tail events", world.watch(stored.metadata, { tailEvents: 2 }));
      const later = await state.update(changed);
      await expectEvents(
        reader,
        { type: created, resource: stored },
        { type: updated, resource: changed },
        { type: updated, resource: later },
      );
    },
  },
];

/** Create, tear down, add a finalizer and remove it, destroy. */
async function liveAndDie(world: World): Promise<void> {
  const { state } = world;
  const { metadata } = await world.create("var/run");
  assert.equal(await state.teardown(metadata), true);
  await state.addFinalizer(metadata, "Mount");
  await state.removeFinalizer(metadata, "Mount");
  await state.destroy(metadata);
}
