import assert from "node:assert/strict";
import {
  isConflict,
  isNotFound,
  isOwnerConflict,
  isPhaseConflict,
  nextVersion,
  patchMetadata,
  Phase,
  withFinalizers,
} from "../../../resource/index.ts";
import { rejects, type Scenario } from "./world.ts";

const LETTERS = ["A", "B", "C", "D", "E", "F", "G", "H"] as const;

/** Conflicts and concurrency: section 26.6 of the specification. */
export const conflicts: readonly Scenario[] = [
  {
    name: "[state 32] [transport S7] finalizers that many add and remove at the same time are neither lost nor left",
    run: async (world) => {
      const { state } = world;
      const { metadata } = await world.create("var/run");
      const removeAbc = () => ["A", "B", "C"].map((letter) => state.removeFinalizer(metadata, letter));
      await Promise.all([...LETTERS.map((letter) => state.addFinalizer(metadata, letter)), ...removeAbc()]);
      await Promise.all(removeAbc());
      const left = (await state.get(metadata)).metadata.finalizers;
      assert.deepEqual([...left].toSorted(), ["D", "E", "F", "G", "H"]);
    },
  },
  {
    name: "[state 33] [transport S13] of many who destroy a resource at once, each succeeds or does not find it",
    run: async (world) => {
      const { metadata } = await world.create("var/run");
      const results = await Promise.allSettled(Array.from({ length: 10 }, () => world.state.destroy(metadata)));
      assert.ok(results.some(({ status }) => status === "fulfilled"));
      for (const result of results)
        if (result.status === "rejected") assert.ok(isNotFound(result.reason), String(result.reason));
      assert.equal(await world.state.getOrNull(metadata), undefined);
    },
  },
  {
    name: "[state 34] [transport S14] finalizers keep a resource from being destroyed",
    run: async (world) => {
      const { state } = world;
      const { metadata } = await world.create("var/run");
      await state.addFinalizer(metadata, "Mount");
      await rejects(state.destroy(metadata), "a conflict", isConflict);
      assert.equal(await state.teardown(metadata), false);
      assert.equal(await state.teardown(metadata), false, "asking again is fine");
      await rejects(state.destroy(metadata), "a conflict", isConflict);
      await state.removeFinalizer(metadata, "Mount");
      assert.equal(await state.teardown(metadata), true);
      await state.destroy(metadata);
      assert.equal(await state.getOrNull(metadata), undefined);
    },
  },
  {
    name: "[state 35] [transport S15] what does not exist cannot be updated",
    run: async (world) => {
      await rejects(world.state.update(world.path("var/run")), "not_found", isNotFound);
      assert.equal(await world.state.getOrNull(world.kind.ref("var/run")), undefined);
    },
  },
  {
    name: "[state 36-39] [transport S15] only an update of the stored version is taken",
    run: async (world) => {
      const { state } = world;
      const offered = world.path("var/run");
      const stored = await state.create(offered);
      // Create gives the new version back; the value that was offered stays what it was.
      assert.notEqual(stored.metadata.version, offered.metadata.version);
      assert.equal(offered.metadata.version, "undefined");

      await rejects(state.update(offered), "a conflict", isConflict);
      const future = patchMetadata(stored, { version: nextVersion(stored.metadata.version) });
      await rejects(state.update(future), "a conflict", isConflict);
      assert.equal((await state.get(stored.metadata)).metadata.version, "1");
      assert.equal((await state.update(stored)).metadata.version, "2");
      await rejects(state.update(stored), "a conflict", isConflict);
    },
  },
  {
    name: "[state 40] [transport S15] what is torn down can be updated only by who says so",
    run: async (world) => {
      const { state } = world;
      const { metadata } = await world.create("var/run");
      await state.teardown(metadata);
      const current = await state.get(metadata);
      await rejects(state.update(current), "a phase conflict", (error) => isPhaseConflict(error) && isConflict(error));
      const updated = await state.update(current, { expectedPhase: Phase.tearingDown });
      assert.equal(updated.metadata.phase, Phase.tearingDown);
      assert.equal((await state.update(updated, { expectedPhase: "any" })).metadata.version, "4");
      const running = await world.create("var/lib");
      await rejects(state.update(running, { expectedPhase: Phase.tearingDown }), "a phase conflict", isPhaseConflict);
    },
  },
  {
    name: "an update is checked for existence, then owner, then version, then phase",
    run: async (world) => {
      const { state } = world;
      const { metadata } = await world.state.create(world.path("var/run"), { owner: "A" });
      const first = await state.get(metadata);
      await state.teardown(metadata, { owner: "A" });
      const onlyVersion = (error: unknown) => isConflict(error) && !isOwnerConflict(error) && !isPhaseConflict(error);
      // Foreign owner, stale version and wrong phase; then the last two; then the last.
      await rejects(state.update(first, { owner: "B" }), "an owner conflict", isOwnerConflict);
      await rejects(state.update(first, { owner: "A" }), "a version conflict", onlyVersion);
      await rejects(state.update(await state.get(metadata), { owner: "A" }), "a phase conflict", isPhaseConflict);
    },
  },
  {
    name: "a destroy is checked for existence, then owner, then finalizers, and asks for no phase",
    run: async (world) => {
      const { state } = world;
      await rejects(state.destroy(world.kind.ref("var/run"), { owner: "A" }), "not_found", isNotFound);
      const stored = await state.create(world.path("var/run", { finalizers: ["Mount"] }), { owner: "A" });
      await rejects(state.destroy(stored.metadata), "an owner conflict", isOwnerConflict);
      await rejects(state.destroy(stored.metadata, { owner: "A" }), "a conflict", isConflict);
      await state.removeFinalizer(stored.metadata, "Mount");
      await state.destroy(stored.metadata, { owner: "A" });
    },
  },
  {
    name: "of many who update the same version, one succeeds",
    run: async (world) => {
      const { state } = world;
      const stored = await world.create("var/run");
      const offers = LETTERS.map((letter) =>
        patchMetadata(stored, { finalizers: withFinalizers(stored.metadata.finalizers, letter) }),
      );
      const results = await Promise.allSettled(offers.map((offer) => state.update(offer)));
      assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
      for (const result of results)
        if (result.status === "rejected") assert.ok(isConflict(result.reason), String(result.reason));
      const { metadata } = await state.get(stored.metadata);
      assert.equal(metadata.version, "2");
      assert.equal(metadata.finalizers.length, 1);
    },
  },
  {
    name: "[state 181] of two who modify a resource that does not exist, one creates it and the other conflicts or updates",
    run: async (world) => {
      const { state } = world;
      const modify = (letter: string) =>
        state.modify(world.path("var/run"), (_, metadata) => void metadata.addFinalizer(letter));
      const results = await Promise.allSettled([modify("A"), modify("B")]);
      const won = results.filter(({ status }) => status === "fulfilled");
      assert.ok(won.length >= 1);
      for (const result of results)
        if (result.status === "rejected") assert.ok(isConflict(result.reason), String(result.reason));
      assert.equal((await state.get(world.kind.ref("var/run"))).metadata.finalizers.length, won.length);
    },
  },
];
