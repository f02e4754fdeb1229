import assert from "node:assert/strict";
import { formatReference, isTombstone, Phase } from "../../../resource/index.ts";
import { EventType } from "../../../state/index.ts";
import { rejects, type Scenario } from "./world.ts";

/** Waiting for a condition: section 26.5 of the specification. */
export const watchFor: readonly Scenario[] = [
  {
    name: "[state 28] [transport S8] a wait for Created ends when the resource is created",
    run: async (world) => {
      const pointer = world.kind.ref("var/run");
      const waiting = world.state.watchFor(pointer, { events: [EventType.created] });
      const [seen, stored] = await world.within("Created", Promise.all([waiting, world.create("var/run")]));
      assert.equal(formatReference(seen.metadata), formatReference(stored.metadata));
    },
  },
  {
    name: "[state 29] [transport S8] a wait for no finalizers ends at once where there are none",
    run: async (world) => {
      const stored = await world.create("var/run");
      const seen = await world.within(
        "finalizersEmpty",
        world.state.watchFor(stored.metadata, { finalizersEmpty: true }),
      );
      assert.equal(formatReference(seen.metadata), formatReference(stored.metadata));
    },
  },
  {
    name: "a wait for no finalizers does not end for a resource that does not exist or has some",
    run: async (world) => {
      const { state } = world;
      const waiting = state.watchFor(world.kind.ref("var/run"), { finalizersEmpty: true });
      const stored = await world.create("var/run", { finalizers: ["Mount"] });
      await state.removeFinalizer(stored.metadata, "Mount");
      assert.equal((await world.within("finalizersEmpty", waiting)).metadata.version, "2");
    },
  },
  {
    name: "[state 30] [transport S8] a wait for a phase ends when the resource is in it",
    run: async (world) => {
      const { metadata } = await world.create("var/run");
      const waiting = world.state.watchFor(metadata, { phases: [Phase.tearingDown] });
      const [seen] = await world.within("tearingDown", Promise.all([waiting, world.state.teardown(metadata)]));
      assert.equal(seen.metadata.id, "var/run");
      assert.equal(seen.metadata.phase, Phase.tearingDown);
    },
  },
  {
    name: "[state 31] [transport S8] a wait for Destroyed ends when the resource is destroyed, and not before",
    run: async (world) => {
      const { state } = world;
      const { metadata } = await world.create("var/run");
      let ended = false;
      const waiting = state.watchFor(metadata, { events: [EventType.destroyed] }).finally(() => (ended = true));
      await state.addFinalizer(metadata, "Mount");
      await state.removeFinalizer(metadata, "Mount");
      await world.settle();
      assert.equal(ended, false);
      await state.destroy(metadata);
      assert.equal((await world.within("Destroyed", waiting)).metadata.id, "var/run");
    },
  },
  {
    name: "[state 182] what the predicate of a wait throws ends it, and it can be asked about a tombstone",
    run: async (world) => {
      const { state } = world;
      const pointer = world.kind.ref("var/run");
      const complaint = new Error("not like this");
      const thrown = await rejects(
        state.watchFor(pointer, {
          where: () => {
            throw complaint;
          },
        }),
        "the predicate's own error",
        (error) => error === complaint,
      );
      assert.equal(thrown, complaint);
      const seen = await world.within("the first event", state.watchFor(pointer, { where: isTombstone }));
      assert.ok(isTombstone(seen));
      assert.equal(seen.metadata.id, "var/run");
      assert.throws(() => seen.spec, TypeError);
    },
  },
  {
    name: "all conditions of a wait must hold for one event",
    run: async (world) => {
      const { state } = world;
      const stored = await world.create("var/run", { finalizers: ["Mount"] });
      const waiting = state.watchFor(stored.metadata, {
        events: [EventType.updated],
        phases: [Phase.tearingDown],
        finalizersEmpty: true,
        where: ({ metadata }) => metadata.labels["ready"] === "yes",
      });
      await state.teardown(stored.metadata);
      await state.updateWithConflicts(stored.metadata, (_, metadata) => void (metadata.labels["ready"] = "yes"), {
        expectedPhase: "any",
      });
      await state.removeFinalizer(stored.metadata, "Mount");
      assert.equal((await world.within("the condition", waiting)).metadata.version, "4");
    },
  },
  {
    name: "an abort ends a wait with the signal's reason",
    run: async (world) => {
      const controller = new AbortController();
      const reason = new Error("enough");
      const waiting = world.state.watchFor(
        world.kind.ref("var/run"),
        { events: [EventType.created] },
        { signal: controller.signal },
      );
      await world.settle();
      controller.abort(reason);
      await world.within(
        "the abort",
        rejects(waiting, "the signal's reason", (error) => error === reason),
      );
    },
  },
];
