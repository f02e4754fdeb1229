import assert from "node:assert/strict";
import { isNotFound, isOwnerConflict, isPhaseConflict, Phase } from "../../../resource/index.ts";
import { EventType } from "../../../state/index.ts";
import { withDeadline } from "../../assert/deadline.ts";
import { rejects, type Scenario, type World } from "./world.ts";

/** Removes the finalizer of every resource that is torn down with it, until the world ends. */
async function finalize(world: World, finalizer: string): Promise<void> {
  const { state, kind } = world;
  const reader = await world.watchKind("plain", { bootstrap: true });
  const work = (async () => {
    for (let event = await reader.nextOrEnd(); event !== undefined; event = await reader.nextOrEnd()) {
      if (event.type !== EventType.created && event.type !== EventType.updated) continue;
      const { metadata } = event.resource;
      if (metadata.phase === Phase.tearingDown && metadata.finalizers.includes(finalizer)) {
        await state.removeFinalizer(kind.ref(metadata.id), finalizer);
      }
    }
  })();
  // Reported when the world ends, not before.
  work.catch(() => undefined);
  world.use({
    async [Symbol.asyncDispose]() {
      await reader[Symbol.asyncDispose]();
      await work;
    },
  });
}

const setLabel = (_: unknown, metadata: { labels: Record<string, string> }): void =>
  void (metadata.labels["tier"] = "front");

/** Operations that are made of others: section 26.8 of the specification. */
export const derived: readonly Scenario[] = [
  {
    name: "[state 54] [transport S18] the teardown signal of a resource that does not exist aborts",
    run: async (world) => {
      const teardown = world.use(await world.state.signalWithTeardown(world.kind.ref("var/run")));
      const abort = world.aborted("the signal of a missing resource", teardown.signal);
      const late = (limit: string) => new Error(`the signal of a missing resource has not aborted ${limit}`);
      await withDeadline({ timeoutMs: 1_000 }, late, () => abort);
    },
  },
  {
    name: "[state 55] [transport S18] a teardown signal aborts when its resource is destroyed or torn down, and not before",
    run: async (world) => {
      const { state } = world;
      const first = await world.create("first");
      const second = await world.create("second");
      const ofFirst = world.use(await state.signalWithTeardown(first.metadata));
      const ofSecond = world.use(await state.signalWithTeardown(second.metadata));
      await world.settle();
      assert.equal(ofFirst.signal.aborted, false);
      assert.equal(ofSecond.signal.aborted, false);
      await state.destroy(first.metadata);
      await world.aborted("the signal of the destroyed resource", ofFirst.signal);
      assert.equal(ofSecond.signal.aborted, false);
      await state.teardown(second.metadata);
      await world.aborted("the signal of the resource that is torn down", ofSecond.signal);
    },
  },
  {
    name: "the teardown signal of a resource that is torn down already aborts",
    run: async (world) => {
      const { metadata } = await world.create("var/run");
      await world.state.teardown(metadata);
      const teardown = world.use(await world.state.signalWithTeardown(metadata));
      await world.aborted("the signal", teardown.signal);
    },
  },
  {
    name: "a teardown signal aborts with the caller's, for its reason",
    run: async (world) => {
      const { metadata } = await world.create("var/run");
      const parent = new AbortController();
      const teardown = world.use(await world.state.signalWithTeardown(metadata, { signal: parent.signal }));
      assert.equal(teardown.signal.aborted, false);
      const reason = new Error("enough");
      parent.abort(reason);
      await world.aborted("the signal", teardown.signal);
      assert.equal(teardown.signal.reason, reason);
    },
  },
  {
    name: "[state 56] [transport S19] teardownAndDestroy waits for the finalizers",
    run: async (world) => {
      const { state } = world;
      await finalize(world, "Mount");
      const { metadata } = await world.create("var/run");
      await state.addFinalizer(metadata, "Mount");
      await world.within("teardownAndDestroy", state.teardownAndDestroy(metadata));
      await rejects(state.get(metadata), "not_found", isNotFound);
    },
  },
  {
    name: "[state 81] [transport S24] of many who tear down and destroy at once, each succeeds or finds nothing",
    run: async (world) => {
      const { state } = world;
      await finalize(world, "Mount");
      const { metadata } = await world.create("var/run", { finalizers: ["Mount"] });
      const calls = Array.from({ length: 10 }, () => state.teardownAndDestroy(metadata));
      const results = await world.within("teardownAndDestroy", Promise.allSettled(calls));
      assert.ok(results.some(({ status }) => status === "fulfilled"));
      for (const result of results)
        if (result.status === "rejected") assert.ok(isNotFound(result.reason), String(result.reason));
      assert.equal(await state.getOrNull(metadata), undefined);
    },
  },
  {
    name: "teardownAndDestroy of what does not exist is refused, of what has no finalizers needs no wait",
    run: async (world) => {
      const { state } = world;
      await rejects(state.teardownAndDestroy(world.kind.ref("var/run")), "not_found", isNotFound);
      const { metadata } = await world.create("var/run");
      await state.teardownAndDestroy(metadata);
      assert.equal(await state.getOrNull(metadata), undefined);
    },
  },
  {
    name: "[state 57-58] [transport S20] modify creates what does not exist and updates what does",
    run: async (world) => {
      const { state } = world;
      const pointer = world.kind.ref("var/run");
      const created = await state.modify(world.path("var/run"), setLabel);
      assert.equal(created.metadata.labels["tier"], "front");
      assert.equal(created.metadata.owner, "");
      assert.deepEqual({ ...(await state.get(pointer)).metadata.labels }, { tier: "front" });

      const updated = await state.modify(world.path("var/run"), (_, metadata) => {
        delete metadata.labels["tier"];
      });
      assert.deepEqual({ ...updated.metadata.labels }, {});
      assert.deepEqual({ ...(await state.get(pointer)).metadata.labels }, {});
    },
  },
  {
    name: "[state 59] [transport S20] modify rejects with whatever the change throws, and writes nothing",
    run: async (world) => {
      const { state } = world;
      const complaint = new Error("not like this");
      const fail = () => {
        throw complaint;
      };
      await rejects(
        state.modify(world.path("var/run"), fail),
        "the change's own error",
        (error) => error === complaint,
      );
      assert.equal(await state.getOrNull(world.kind.ref("var/run")), undefined);
      const stored = await world.create("var/run");
      await rejects(state.modify(stored, fail), "the change's own error", (error) => error === complaint);
      assert.equal((await state.get(stored.metadata)).metadata.version, "1");
    },
  },
  {
    name: "[state 60] [transport S20] modify leaves alone what is torn down, unless told that any phase will do",
    run: async (world) => {
      const { state } = world;
      const stored = await world.create("var/run");
      await state.teardown(stored.metadata);
      await rejects(state.modify(stored, setLabel), "a phase conflict", isPhaseConflict);
      const changed = await state.modify(stored, setLabel, { expectedPhase: "any" });
      assert.equal(changed.metadata.phase, Phase.tearingDown);
      assert.equal(changed.metadata.labels["tier"], "front");
    },
  },
  {
    name: "[state 61] [transport S21] modify creates and updates for an owner",
    run: async (world) => {
      const { state } = world;
      const owner = "ControllerA";
      const created = await state.modify(world.path("var/run"), () => undefined, { owner });
      assert.equal(created.metadata.owner, owner);
      const changed = await state.modify(world.path("var/run"), setLabel, { owner });
      assert.equal(changed.metadata.owner, owner);
      assert.equal(changed.metadata.labels["tier"], "front");
      const unowned = state.modify(world.path("var/run"), (_, metadata) => void (metadata.labels["tier"] = "back"));
      await rejects(unowned, "an owner conflict", isOwnerConflict);
      assert.equal((await state.get(created.metadata)).metadata.labels["tier"], "front");
    },
  },
  {
    name: "an update that changes nothing is no write",
    run: async (world) => {
      const { state } = world;
      const stored = await world.create("var/run", { labels: { tier: "front" } });
      await state.updateWithConflicts(stored.metadata, setLabel);
      await state.modify(stored, setLabel);
      await state.addFinalizer(stored.metadata);
      await state.removeFinalizer(stored.metadata, "Mount");
      assert.equal((await state.get(stored.metadata)).metadata.version, "1");
    },
  },
];
