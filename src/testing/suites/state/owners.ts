import assert from "node:assert/strict";
import { isConflict, isOwnerConflict } from "../../../resource/index.ts";
import { rejects, type Scenario, type World } from "./world.ts";

const [A, B] = ["ControllerA", "ControllerB"] as const;

const rejectsForOwner = (promise: Promise<unknown>): Promise<unknown> =>
  rejects(promise, "an owner conflict, which is a conflict", (error) => isOwnerConflict(error) && isConflict(error));

const createTwo = async (world: World) => ({
  ofA: await world.state.create(world.path("owned/a"), { owner: A }),
  ofB: await world.state.create(world.path("owned/b"), { owner: B }),
});

/** Owners: section 26.2 of the specification. */
export const owners: readonly Scenario[] = [
  {
    name: "[state 8] [transport S3] a resource carries the owner that created it",
    run: async (world) => {
      const { ofA, ofB } = await createTwo(world);
      assert.equal(ofA.metadata.owner, A);
      assert.equal((await world.state.get(ofA.metadata)).metadata.owner, A);
      assert.equal((await world.state.get(ofB.metadata)).metadata.owner, B);
    },
  },
  {
    name: "[state 9] [transport S3] only its owner updates a resource",
    run: async (world) => {
      const { ofB } = await createTwo(world);
      await rejectsForOwner(world.state.update(ofB));
      await rejectsForOwner(world.state.update(ofB, { owner: A }));
      assert.equal((await world.state.get(ofB.metadata)).metadata.version, "1");
      const updated = await world.state.update(ofB, { owner: B });
      assert.equal(updated.metadata.version, "2");
      assert.equal(updated.metadata.owner, B);
    },
  },
  {
    name: "[state 10-11] [transport S3] only its owner tears down and destroys a resource",
    run: async (world) => {
      const { ofA } = await createTwo(world);
      await rejectsForOwner(world.state.teardown(ofA.metadata));
      assert.equal(await world.state.teardown(ofA.metadata, { owner: A }), true, "ready to be destroyed");
      await rejectsForOwner(world.state.destroy(ofA.metadata, { owner: B }));
      await world.state.destroy(ofA.metadata, { owner: A });
      assert.equal(await world.state.getOrNull(ofA.metadata), undefined);
    },
  },
  {
    name: "[state 12] [transport S3] anybody adds and removes finalizers of an owned resource",
    run: async (world) => {
      const { ofB } = await createTwo(world);
      await world.state.addFinalizer(ofB.metadata, "Janitor");
      assert.deepEqual([...(await world.state.get(ofB.metadata)).metadata.finalizers], ["Janitor"]);
      await world.state.removeFinalizer(ofB.metadata, "Janitor");
      const after = await world.state.get(ofB.metadata);
      assert.deepEqual([...after.metadata.finalizers], []);
      assert.equal(after.metadata.owner, B);
    },
  },
  {
    name: "[state 170] a resource that carries another owner is not created",
    run: async (world) => {
      for (const owner of [undefined, A]) {
        const foreign = world.path("owned/c", { owner: B });
        await rejects(
          world.state.create(foreign, { owner }),
          "a refusal that is no conflict",
          (error) => error instanceof Error && !isConflict(error),
        );
        assert.equal(foreign.metadata.owner, B);
        assert.equal(foreign.metadata.version, "undefined");
        assert.equal(await world.state.getOrNull(foreign.metadata), undefined);
      }
      assert.equal((await world.state.create(world.path("owned/c", { owner: B }), { owner: B })).metadata.owner, B);
    },
  },
  {
    name: "[state 180] an update that changes nothing asks for no owner but for the phase, and writes nothing",
    run: async (world) => {
      const { ofA } = await createTwo(world);
      const same = await world.state.updateWithConflicts(ofA.metadata, () => undefined, { owner: B });
      assert.equal(same.metadata.version, "1");
      assert.equal((await world.state.get(ofA.metadata)).metadata.version, "1");
      await world.state.teardown(ofA.metadata, { owner: A });
      let ran = false;
      const update = world.state.updateWithConflicts(ofA.metadata, () => void (ran = true), { owner: A });
      await rejects(update, "a phase conflict", (error) => isConflict(error) && !isOwnerConflict(error));
      assert.equal(ran, false, "the phase is checked before the change runs");
    },
  },
];
