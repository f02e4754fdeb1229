import assert from "node:assert/strict";
import { isTombstone, patchMetadata, type Resource } from "../../../resource/index.ts";
import { EventType } from "../../../state/index.ts";
import { Int } from "../conformance-resources.ts";
import { expectEvents } from "../../assert/expect-events.ts";
import type { Scenario, World } from "./world.ts";

/** Every way to write to a resource throws. */
function assertFrozen(resource: Resource, where: string): void {
  // Types forbid these writes; what must not happen is that one gets through without them.
  const open = resource as unknown as {
    metadata: Record<string, unknown> & {
      labels: Record<string, string>;
      annotations: Record<string, string>;
      finalizers: string[];
    };
    spec: Record<string, unknown>;
  };
  const writes: readonly (readonly [string, () => unknown])[] = [
    ["resource.spec", () => (open.spec = {})],
    ["resource.metadata", () => (open.metadata = { ...open.metadata })],
    ["spec.value", () => (open.spec["value"] = 0)],
    ["spec.other", () => (open.spec["other"] = 0)],
    ["metadata.version", () => (open.metadata["version"] = "9")],
    ["metadata.phase", () => (open.metadata["phase"] = "tearingDown")],
    ["metadata.labels", () => (open.metadata.labels["tier"] = "back")],
    ["metadata.labels, new", () => (open.metadata.labels["new"] = "")],
    ["metadata.annotations", () => (open.metadata.annotations["note"] = "")],
    ["metadata.finalizers", () => open.metadata.finalizers.push("B")],
  ];
  for (const [what, write] of writes) assert.throws(write, TypeError, `${what} of ${where} can be written to`);
}

/** What is read is a value: it cannot change, and it is what was written. */
export const values: readonly Scenario[] = [
  {
    name: "[state 183] a write through a read result, a list item or an event throws, and changes nothing",
    run: async (world: World) => {
      const { state } = world;
      const type = Int.in(world.namespace);
      const offered = type.create(
        "one",
        { value: 1 },
        { labels: { tier: "front" }, annotations: { note: "x" }, finalizers: ["A"] },
      );
      const plain = world.use(await state.watchKind(type, { bootstrap: true }));
      const batches = world.use(await state.watchKindBatches(type, { bootstrap: true }));
      const one = world.use(await state.watch(type.ref("one")));
      for (const watch of [plain, one]) await world.within("the first event", watch.next());
      await world.within("the first batch", batches.next());
      const created = await state.create(offered);
      const updated = await state.update(created);
      assertFrozen(created, "what create gave");
      assertFrozen(updated, "what update gave");
      assertFrozen(await state.get(type, "one"), "what get gave");

      const list = await state.list(type);
      for (const item of list) assertFrozen(item, "a list item");
      const openList = list as unknown as unknown[];
      assert.throws(() => openList.push(created), TypeError);
      assert.throws(() => (openList[0] = undefined), TypeError);

      for (const watch of [plain, one]) {
        for (const name of [EventType.created, EventType.updated]) {
          const { value: event } = await world.within(name, watch.next());
          assert.equal(event?.type, name);
          assertFrozen(event.resource, `the resource of ${name}`);
          if (event.type === EventType.updated) assertFrozen(event.old, "the content before");
          assert.throws(
            () => ((event as { resource: unknown }).resource = undefined),
            TypeError,
            "an event can be written to",
          );
        }
      }
      const { value: batch } = await world.within("a batch", batches.next());
      for (const event of batch ?? [])
        if (event.resource !== undefined && !isTombstone(event.resource))
          assertFrozen(event.resource, "an event of a batch");
      assert.throws(() => (batch as unknown[]).push(undefined), TypeError, "a batch can be written to");

      const { metadata, spec } = await state.get(type, "one");
      assert.equal(metadata.version, "2");
      assert.deepEqual(
        [{ ...metadata.labels }, { ...metadata.annotations }, [...metadata.finalizers], { ...spec }],
        [{ tier: "front" }, { note: "x" }, ["A"], { value: 1 }],
      );
    },
  },
  {
    name: "a bookmark that somebody wrote to is still the bookmark",
    run: async (world: World) => {
      const reader = await world.watchKind("plain", { bootstrap: true });
      const [marker] = await expectEvents(reader, { type: EventType.bootstrapped, bookmark: true });
      const before = marker?.bookmark?.slice();
      marker?.bookmark?.fill(0xff);
      assert.deepEqual(marker?.bookmark, before);
      const stored = await world.create("var/run");
      const resumed = await world.watchKind("plain", { startFromBookmark: marker?.bookmark });
      await expectEvents(resumed, { type: EventType.created, resource: stored });
    },
  },
  {
    name: "create starts at version 1 whatever was offered, and stores phase, finalizers, labels and annotations as they are",
    run: async (world: World) => {
      const init = {
        version: "41",
        phase: "tearingDown",
        finalizers: ["B", "A"],
        labels: { a: "" },
        annotations: { b: "c" },
      } as const;
      const stored = await world.create("var/run", init);
      const { version, phase, finalizers, labels, annotations } = (await world.state.get(stored.metadata)).metadata;
      assert.equal(version, "1");
      assert.equal(phase, "tearingDown");
      assert.deepEqual([[...finalizers], { ...labels }, { ...annotations }], [["B", "A"], { a: "" }, { b: "c" }]);
    },
  },
  {
    name: "[state 76] an update keeps the time of creation, whatever was offered, and stamps its own",
    run: async (world: World) => {
      const { state } = world;
      const stored = await world.create("var/run");
      assert.ok(Date.parse(stored.metadata.created) > 0, "a time of creation is set");
      const zeroed = patchMetadata(stored, { created: "1970-01-01T00:00:00Z" });
      assert.equal(Date.parse(zeroed.metadata.created), 0);
      await state.update(zeroed);
      const { created, updated } = (await state.get(stored.metadata)).metadata;
      assert.ok(Date.parse(created) > 0);
      assert.equal(created, stored.metadata.created);
      assert.ok(Date.parse(updated) >= Date.parse(created));
    },
  },
  {
    name: "an update may move a resource into any phase and replaces all of its metadata",
    run: async (world: World) => {
      const { state } = world;
      const stored = await world.create("var/run", { labels: { a: "1" }, finalizers: ["A"] });
      const torn = await state.update(patchMetadata(stored, { phase: "tearingDown", labels: {}, finalizers: ["B"] }));
      assert.equal(torn.metadata.phase, "tearingDown");
      assert.deepEqual([{ ...torn.metadata.labels }, [...torn.metadata.finalizers]], [{}, ["B"]]);
      const back = await state.update(patchMetadata(torn, { phase: "running" }), { expectedPhase: "tearingDown" });
      assert.equal(back.metadata.phase, "running");
    },
  },
  {
    name: "ids of any text are told apart, keys of annotations too",
    run: async (world: World) => {
      const { state } = world;
      const ids = ["a", "A", "a/", "a/b", "__proto__", "constructor", "a b", "ä", "a\u0308", "😀", "x".repeat(500)];
      for (const id of ids) await world.create(id, { labels: { constructor: id }, annotations: { [id]: "own" } });
      const list = await state.list(world.kind);
      assert.deepEqual(new Set(list.map(({ metadata }) => metadata.id)), new Set(ids));
      for (const id of ids) {
        const { metadata } = await state.get(world.kind.ref(id));
        assert.equal(metadata.id, id);
        assert.equal(metadata.annotations[id], "own");
        assert.equal(metadata.labels["constructor"], id);
      }
      await state.destroy(world.kind.ref("__proto__"));
      assert.equal(await state.getOrNull(world.kind.ref("__proto__")), undefined);
      assert.equal(await state.getOrNull(world.kind.ref("toString")), undefined);
    },
  },
  {
    name: "the same type and id in two namespaces are two resources, with histories of their own",
    run: async (world: World) => {
      const { state } = world;
      const [, other] = world.namespaces;
      if (other === undefined) world.skip("the State has a single namespace");
      const reader = await world.watchKind("plain", { bootstrap: true });
      await expectEvents(reader, { type: EventType.bootstrapped });
      const there = await state.create(world.path("var/run", { namespace: other }));
      await state.update(there);
      assert.equal(await state.getOrNull(world.kind.ref("var/run")), undefined);
      const here = await world.create("var/run");
      assert.equal(here.metadata.version, "1");
      await expectEvents(reader, { type: EventType.created, resource: here });
      await state.destroy(here.metadata);
      assert.equal((await state.get(there.metadata)).metadata.version, "2");
    },
  },
  {
    name: "where revisions are counted, those of lists and events agree",
    run: async (world: World) => {
      const { state } = world;
      const reader = await world.watchKind("plain");
      const before = await state.list(world.kind);
      await world.create("var/run");
      const event = await reader.next();
      const after = await state.list(world.kind, { atLeast: event.revision });
      assert.equal(after.length, 1);
      if (before.revision === undefined || after.revision === undefined || event.revision === undefined) {
        world.skip("the State does not count revisions");
      }
      assert.ok(before.revision < event.revision, "the change came after the first list");
      assert.ok(event.revision <= after.revision, "the second list knows of the change");
    },
  },
];
