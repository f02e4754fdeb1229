import assert from "node:assert/strict";
import { isConflict, isNotFound, type Resource } from "../../../resource/index.ts";
import { PathResource } from "../conformance-resources.ts";
import { rejects, shortOf, type Scenario, type World } from "./world.ts";

type Steps = (world: World, run: Resource, lib: Resource) => Promise<void>;

/** The same steps with two resources in one namespace, and in two. */
function inOneNamespaceAndTwo(name: string, steps: Steps): readonly Scenario[] {
  const scenario = (where: string, pick: (world: World) => string | undefined): Scenario => ({
    name: `${name}, ${where}`,
    run: async (world: World) => {
      const namespace = pick(world);
      if (namespace === undefined) world.skip("the State has a single namespace");
      await steps(world, world.path("var/run"), world.path("var/lib", { namespace }));
    },
  });
  return [
    scenario("in one namespace", (world) => world.namespace),
    scenario("in two namespaces", (world) => world.namespaces[1]),
  ];
}

const kindOf = (resource: Resource) => PathResource.in(resource.metadata.namespace);

/** Creating, reading and destroying: section 26.1 of the specification. */
export const createReadDestroy: readonly Scenario[] = [
  ...inOneNamespaceAndTwo("[state 1] [transport S1] nothing is there at first", async ({ state }, run, lib) => {
    await rejects(state.get(run.metadata), "not_found", isNotFound);
    await rejects(state.get(lib.metadata), "not_found", isNotFound);
    assert.equal(await state.getOrNull(run.metadata), undefined);
    assert.deepEqual([...(await state.list(kindOf(run)))], []);
  }),

  ...inOneNamespaceAndTwo(
    "[state 2] [transport S1] what was created can be read, and is listed by id",
    async ({ state }, run, lib) => {
      await state.create(run);
      await state.create(lib);
      assert.equal(shortOf(await state.get(run.metadata)), shortOf(run));
      assert.equal(shortOf(await state.get(lib.metadata)), shortOf(lib));
      const together = run.metadata.namespace === lib.metadata.namespace;
      assert.deepEqual((await state.list(kindOf(run))).map(shortOf), (together ? [lib, run] : [run]).map(shortOf));
      assert.deepEqual((await state.list(kindOf(lib))).map(shortOf), (together ? [lib, run] : [lib]).map(shortOf));
    },
  ),

  {
    name: "[state 3] [transport S1] what exists cannot be created",
    run: async (world) => {
      await world.create("var/run");
      await rejects(world.create("var/run"), "a conflict", isConflict);
    },
  },

  ...inOneNamespaceAndTwo(
    "[state 4-6] [transport S1] a resource can be torn down, destroyed and created again",
    async ({ state }, run, lib) => {
      const stored = await state.create(run);
      await state.create(lib);
      assert.equal(await state.teardown(run.metadata), true, "ready to be destroyed");
      await state.destroy(run.metadata);

      await rejects(state.teardown(run.metadata), "not_found", isNotFound);
      await rejects(state.destroy(run.metadata), "not_found", isNotFound);
      await rejects(state.get(run.metadata), "not_found", isNotFound);
      assert.deepEqual((await state.list(kindOf(lib))).map(shortOf), [shortOf(lib)]);

      assert.equal(await state.teardown(lib.metadata), true, "ready to be destroyed");
      // The very value of its first life, version 1 included.
      assert.equal(stored.metadata.version, "1");
      const again = await state.create(stored);
      assert.equal(shortOf(again), shortOf(run));
      assert.equal(again.metadata.version, "1");
    },
  ),

  {
    name: "[state 7] [transport S2] an update through a resource's metadata leaves that resource as it was",
    run: async (world) => {
      const stored = await world.create("var/run");
      const labelled = await world.state.updateWithConflicts(stored.metadata, (_, metadata) => {
        metadata.labels["tier"] = "front";
      });
      assert.equal(labelled.metadata.labels["tier"], "front");
      assert.equal(stored.metadata.labels["tier"], undefined);
      assert.equal((await world.state.get(stored.metadata)).metadata.labels["tier"], "front");
    },
  },
];
