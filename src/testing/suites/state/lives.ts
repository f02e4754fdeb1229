import assert from "node:assert/strict";
import { compareTimes, isSameLife, patchMetadata, Phase, type Resource } from "../../../resource/index.ts";
import { EventType } from "../../../state/index.ts";
import type { PathSpec } from "../conformance-resources.ts";
import { rejectsWith, type Scenario, type World } from "./world.ts";

/** One address after the other life there has ended: what was created first, and what is there now. */
interface TwoLives {
  readonly first: Resource<PathSpec>;
  readonly second: Resource<PathSpec>;
}

/** Ends the life of `first` and begins another at its address. */
async function succeed(world: World, first: Resource<PathSpec>): Promise<TwoLives> {
  await world.state.destroy(world.kind.ref(first.metadata.id));
  return { first, second: await world.create(first.metadata.id) };
}

const twoLives = async (world: World): Promise<TwoLives> => succeed(world, await world.create("var/run"));

/** Nothing has happened to what is there. */
async function isUntouched({ state }: World, { metadata }: Resource): Promise<void> {
  const now = await state.get(metadata);
  assert.ok(isSameLife(metadata, now.metadata), "it is the same");
  assert.equal(now.metadata.version, metadata.version);
  assert.equal(now.metadata.phase, metadata.phase);
  assert.deepEqual(now.metadata.finalizers, metadata.finalizers);
}

/** `(id, created)` names one life of a resource, which versions alone do not: they begin anew with each. */
export const lives: readonly Scenario[] = [
  {
    name: "resources of a kind are created one after the other, however quickly",
    run: async (world) => {
      const created: string[] = [];
      for (let i = 0; i < 50; i++) {
        const { metadata } = await world.create(i % 2 === 0 ? "var/run" : `var/lib/${i}`);
        created.push(metadata.created);
        assert.equal((await world.state.get(metadata)).metadata.created, metadata.created, "reads say the same");
        if (i % 2 === 0) await world.state.destroy(metadata);
      }
      for (const [i, time] of created.entries()) {
        const before = created[i - 1];
        if (before !== undefined) assert.ok(compareTimes(before, time) < 0, `${time} comes after ${before}`);
      }
    },
  },
  {
    name: "an update that was made from an earlier life is a version conflict",
    run: async (world) => {
      const { first, second } = await twoLives(world);
      assert.equal(first.metadata.version, second.metadata.version);
      const offered = patchMetadata(first, { labels: { from: "the first" } });
      await rejectsWith(world.state.update(offered), "version_conflict");
      await isUntouched(world, second);
      assert.equal((await world.state.update(second)).metadata.version, "2");
    },
  },
  {
    name: "an update of what the caller made itself is compared by version alone",
    run: async (world) => {
      const { second } = await twoLives(world);
      const made = world.path("var/run", { version: second.metadata.version, labels: { from: "a file" } });
      const updated = await world.state.update(made);
      assert.equal(updated.metadata.created, second.metadata.created);
    },
  },
  {
    name: "a change of an earlier life starts over when it is written",
    run: async (world) => {
      const { state } = world;
      const first = await world.create("var/run", { labels: { life: "first" } });
      const seen: (string | undefined)[] = [];
      const changed = await state.modify(world.path("var/run"), async (_, metadata) => {
        seen.push(metadata.labels["life"]);
        metadata.labels["changed"] = "yes";
        if (seen.length > 1) return;
        await state.destroy(world.kind.ref(first.metadata.id));
        await world.create("var/run", { labels: { life: "second" } });
      });
      assert.deepEqual(seen, ["first", "second"]);
      assert.deepEqual({ ...changed.metadata.labels }, { life: "second", changed: "yes" });
    },
  },
  {
    name: "a destroy that names an earlier life leaves the present one alone",
    run: async (world) => {
      const { first, second } = await twoLives(world);
      await rejectsWith(world.state.destroy(first.metadata), "version_conflict");
      await isUntouched(world, second);
      await world.state.destroy(second.metadata);
      await rejectsWith(world.state.destroy(second.metadata), "not_found");
    },
  },
  {
    name: "what names an earlier life changes nothing: teardown, finalizers, update with conflicts",
    run: async (world) => {
      const { state } = world;
      const { first, second } = await twoLives(world);
      await rejectsWith(state.teardown(first.metadata), "version_conflict");
      await rejectsWith(state.teardownAndDestroy(first.metadata), "version_conflict");
      await rejectsWith(state.addFinalizer(first.metadata, "Mount"), "version_conflict");
      await rejectsWith(state.removeFinalizer(first.metadata, "Mount"), "version_conflict");
      await rejectsWith(
        state.updateWithConflicts(first.metadata, (_, metadata) => void (metadata.labels["a"] = "b")),
        "version_conflict",
      );
      await isUntouched(world, second);
      assert.equal(await state.teardown(second.metadata), true);
      await state.teardownAndDestroy(second.metadata);
    },
  },
  {
    name: "teardown with destruction waits for the life that it tore down, and spares the next",
    run: async (world) => {
      const { state } = world;
      const first = await world.create("var/run", { finalizers: ["Mount"] });
      const going = state.teardownAndDestroy(world.kind.ref("var/run")).catch((error: unknown) => error);
      await world.within("tearingDown", state.watchFor(first.metadata, { phases: [Phase.tearingDown] }));
      await state.removeFinalizer(first.metadata, "Mount");
      // One of the two destroys it; then somebody creates another.
      await state.destroy(world.kind.ref("var/run")).catch(() => undefined);
      const second = await world.create("var/run");
      const outcome = await world.within("the end of the teardown", going);
      if (outcome !== undefined) await rejectsWith(Promise.reject(outcome as Error), "not_found");
      await isUntouched(world, second);
    },
  },
  {
    name: "a wait that names a life ends with it",
    run: async (world) => {
      const { state } = world;
      const first = await world.create("var/run");
      const waiting = state.watchFor(first.metadata, { phases: [Phase.tearingDown] });
      const ended = rejectsWith(waiting, "not_found");
      await world.within("the end of the wait", Promise.all([ended, state.destroy(first.metadata)]));
      const second = await world.create("var/run");
      const late = state.watchFor(first.metadata, { events: [EventType.created, EventType.updated] });
      await world.within("the end of a wait that began late", rejectsWith(late, "not_found"));
      const gone = await world.within("Destroyed", state.watchFor(first.metadata, { events: [EventType.destroyed] }));
      assert.equal(gone.metadata.id, "var/run");
      const running = await state.watchFor(world.kind.ref("var/run"), { phases: [Phase.running] });
      assert.ok(isSameLife(second.metadata, running.metadata), "a wait at an address takes whatever is there");
    },
  },
  {
    name: "the signal of an earlier life aborts at once",
    run: async (world) => {
      const { first, second } = await twoLives(world);
      const late = world.use(await world.state.signalWithTeardown(first.metadata));
      await world.aborted("an earlier life", late.signal);
      const present = world.use(await world.state.signalWithTeardown(second.metadata));
      await world.settle();
      assert.equal(present.signal.aborted, false);
      await succeed(world, second);
      await world.aborted("the life that ended", present.signal);
    },
  },
];
