import assert from "node:assert/strict";
import { macrotask } from "../../../clock/index.ts";
import { hasCode, isInvalidBookmark, type Resource } from "../../../resource/index.ts";
import { EventType, type CallOptions, type WatchKindOptions } from "../../../state/index.ts";
import { Int } from "../conformance-resources.ts";
import { expectEvents } from "../../assert/expect-events.ts";
import { foldWatch, type WatchFold } from "../../assert/watch-fold.ts";
import { inBothForms } from "./watch-kind.ts";
import { rejects, type Scenario, type World } from "./world.ts";

const { created, bootstrapped } = EventType;

const BOOKMARK = new Uint8Array(16);

/** Options of which the first two of each kind cannot be meant together. */
const CONTRADICTIONS: readonly (readonly [string, WatchKindOptions])[] = [
  ["bootstrap and tail events", { bootstrap: true, tailEvents: 1 }],
  ["bootstrap and a bookmark", { bootstrap: true, startFromBookmark: BOOKMARK }],
  ["tail events and a bookmark", { tailEvents: 1, startFromBookmark: BOOKMARK }],
];

const isRefusal = (error: unknown): boolean => hasCode(error, "invalid", "unsupported");

/** More than the history of a State that keeps little. */
const BURST = 300;

/** How watches begin, end and fall behind. */
export const watchLifetime: readonly Scenario[] = [
  ...inBothForms("[state 174] contradictory watch options are refused by the call", async (world, form) => {
    for (const [what, options] of CONTRADICTIONS) {
      await rejects(world.watchKind(form, options), `a refusal of ${what}`, isRefusal);
    }
    const { tailEvents, startFromBookmark } = { tailEvents: 1, startFromBookmark: BOOKMARK };
    const both = world.watch(world.kind.ref("var/run"), { tailEvents, startFromBookmark });
    await rejects(both, "a refusal of tail events and a bookmark", isRefusal);
  }),

  ...inBothForms("bytes that are no bookmark of this State are refused by the call", async (world, form) => {
    const reader = await world.watchKind(form);
    const { metadata } = await world.create("var/run");
    const [{ bookmark } = {}] = await expectEvents(reader, { type: created, bookmark: true });
    assert.ok(bookmark !== undefined);
    const foreign = bookmark.slice();
    foreign[0] = (foreign[0] ?? 0) ^ 0xff;
    for (const startFromBookmark of [new Uint8Array(), foreign, bookmark.slice(0, -1), Uint8Array.of(...bookmark, 0)]) {
      await rejects(world.watchKind(form, { startFromBookmark }), "invalid_bookmark", isInvalidBookmark);
      await rejects(world.watch(metadata, { startFromBookmark }), "invalid_bookmark", isInvalidBookmark);
    }
    const latest = await world.watchKind(form, { startFromBookmark: bookmark });
    const next = await world.create("var/lib");
    await expectEvents(latest, { type: created, resource: next });
  }),

  {
    name: "[state 179] a call whose signal is aborted rejects with its reason and does nothing",
    run: async (world) => {
      const { state, kind } = world;
      const stored = await world.create("var/run");
      const reason = new Error("enough");
      const options: CallOptions = { signal: AbortSignal.abort(reason) };
      const calls: readonly (() => Promise<unknown>)[] = [
        () => state.get(stored.metadata, options),
        () => state.getOrNull(stored.metadata, options),
        () => state.list(kind, options),
        () => state.create(world.path("var/lib"), options),
        () => state.update(stored, options),
        () => state.destroy(stored.metadata, options),
        () => state.watch(stored.metadata, options),
        () => state.watchKind(kind, options),
        () => state.watchKind(kind, { ...options, ids: "run" }),
        () => state.watchKindBatches(kind, options),
        () => state.updateWithConflicts(stored.metadata, () => undefined, options),
        () => state.modify(world.path("var/lib"), () => undefined, options),
        () => state.watchFor(stored.metadata, {}, options),
        () => state.teardown(stored.metadata, options),
        () => state.teardownAndDestroy(stored.metadata, options),
        () => state.signalWithTeardown(stored.metadata, options),
      ];
      for (const [index, call] of calls.entries()) {
        await rejects(call(), `the signal's reason from call ${index + 1}`, (error) => error === reason);
      }
      const list = await state.list(kind);
      assert.deepEqual(
        list.map(({ metadata }) => `${metadata.id}@${metadata.version}`),
        ["var/run@1"],
      );
    },
  },

  ...inBothForms(
    "[state 179] an abort ends a watch that waits, and one that has something to deliver",
    async (world, form) => {
      const controller = new AbortController();
      const { signal } = controller;
      const before = await world.watchKind(form, { bootstrapBookmark: true });
      const { bookmark: startFromBookmark } = await before.next();
      await world.create("var/run");
      await world.create("var/lib");
      const replaying = await world.watchKind("plain", { signal, startFromBookmark });
      await expectEvents(replaying, { type: created, id: "var/run" });
      const unreplayed = await world.watchKind(form, { signal, startFromBookmark });
      const waiting = await world.watchKind(form, { signal });
      const next = waiting.nextOrEnd();
      const bootstrapping = await world.watchKind("plain", { signal, bootstrap: true });
      await expectEvents(bootstrapping, { type: created, id: "var/lib" });
      const unread = await world.watchKind(form, { signal, bootstrap: true });
      const ofOne = await world.watch(world.kind.ref("var/run"), { signal });
      const behind = await world.watch(world.kind.ref("var/run"), { signal });
      await behind.next();
      const pending = await world.watchKind(form, { signal, bootstrapBookmark: true });
      await pending.next();

      controller.abort(new Error("enough"));
      assert.equal(await next, undefined);
      await world.state.update(await world.state.get(world.kind.ref("var/run")));
      for (const reader of [waiting, replaying, unreplayed, bootstrapping, unread, ofOne, behind, pending])
        assert.equal(await reader.nextOrEnd(), undefined);
    },
  ),

  ...inBothForms("an abort keeps from delivery what was written before it", async (world, form) => {
    const controller = new AbortController();
    const reader = await world.watchKind(form, { signal: controller.signal });
    await world.create("var/run");
    controller.abort();
    assert.equal(await reader.nextOrEnd(), undefined);
  }),

  ...inBothForms("a watch that is disposed delivers nothing more, and can be disposed again", async (world, form) => {
    const waiting = await world.watchKind(form);
    const next = waiting.nextOrEnd();
    const unread = await world.watchKind(form, { bootstrap: true });
    await world.settle();
    const one = await world.watch(world.kind.ref("var/run"));
    for (const reader of [waiting, unread, one]) await reader[Symbol.asyncDispose]();
    await world.create("var/run");
    // The wait may have ended with an event of the world's settling.
    await next;
    for (const reader of [unread, one]) assert.equal(await reader.nextOrEnd(), undefined);
    for (const reader of [waiting, unread, one]) await reader[Symbol.asyncDispose]();
  }),

  {
    name: "leaving the loop releases the watch",
    run: async (world) => {
      const { state, kind } = world;
      await world.create("var/run");
      await world.create("var/lib");
      const watch = world.use(await state.watchKind(kind, { bootstrap: true }));
      for await (const event of watch) {
        assert.equal(event.type, created);
        break;
      }
      assert.equal((await world.within("the end", watch.next())).done, true);
      const thrown = new Error("out of here");
      const other = world.use(await state.watchKind(kind, { bootstrap: true }));
      await rejects(
        (async () => {
          for await (const event of other) if (event.type === created) throw thrown;
        })(),
        "what the loop threw",
        (error) => error === thrown,
      );
      assert.equal((await world.within("the end", other.next())).done, true);
    },
  },

  {
    name: "a watch of an unused type works",
    run: async (world) => {
      const type = Int.in(world.namespace);
      const watch = world.use(await world.state.watchKind(type, { bootstrap: true }));
      const first = await world.within("Bootstrapped", watch.next());
      assert.equal(first.value?.type, bootstrapped);
      await world.state.create(type.create("one", { value: 1 }));
      const second = await world.within("Created", watch.next());
      assert.equal(second.value?.type, created);
    },
  },

  {
    name: "a thousand watches can be opened and closed, and each sees what happened while it was open",
    run: async (world) => {
      const { state, kind } = world;
      const watches = await Promise.all(Array.from({ length: 1000 }, () => state.watchKind(kind)));
      const stored = await world.create("var/run");
      for (const [index, watch] of watches.entries()) {
        if (index % 2 === 0) {
          const { value } = await world.within("Created", watch.next());
          assert.equal(value?.type, created);
          assert.equal(value.resource.metadata.id, stored.metadata.id);
        }
        await watch[Symbol.asyncDispose]();
      }
    },
  },

  ...inBothForms(
    "[state 16] no change is lost or told twice between the first contents and the rest",
    async (world, form) => {
      const { state } = world;
      const turn = () => new Promise<void>(macrotask);
      let written = 0;
      const writes = Array.from({ length: 4 }, async (_, writer) => {
        for (let index = 0; index < 15; index++) {
          const stored = await world.create(`path${index % 5}/${writer}-${index}`);
          if (index % 2 === 0) await state.update(stored);
          if (index % 3 === 0) await state.destroy(stored.metadata);
          written++;
          await turn();
        }
      });
      let isOver = false;
      void Promise.allSettled(writes).then(() => (isOver = true));
      // Opened one after the other amid the writes, however slow they are.
      const opening = Array.from({ length: 10 }, async (_, index) => {
        while (written < 5 * (index + 1) && !isOver) await turn();
        return open(world, form, { bootstrap: true });
      });
      const [watches] = await Promise.all([Promise.all(opening), Promise.all(writes)]);
      const last = await world.create("zzz");
      const list = await state.list(world.kind);
      for (const watch of watches) {
        const fold = await foldWatch(watch, {
          ...world.waits,
          until: (one) => one.complete && one.contents.has(last.metadata.id),
        });
        assertSameContents(fold, list);
      }
    },
  ),

  ...inBothForms(
    "a watch that is not read gets everything, or the present contents after a resync",
    async (world, form) => {
      const watch = await open(world, form, { bootstrap: true, overrun: "resync" });
      const list = await burst(world);
      const fold = await foldWatch(watch, { ...world.waits, until: (one) => one.complete && one.contents.has("zzz") });
      assertSameContents(fold, list);
    },
  ),

  ...inBothForms(
    "a watch that is not read and will have no resync gets everything, or ends with watch_overrun",
    async (world, form) => {
      const watch = await open(world, form, { bootstrap: true, overrun: "error" });
      const list = await burst(world);
      const fold = foldWatch(watch, { ...world.waits, until: (one) => one.complete && one.contents.has("zzz") });
      const outcome = await fold.catch((error: unknown) => {
        assert.ok(hasCode(error, "watch_overrun"), `expected watch_overrun, got ${String(error)}`);
      });
      if (outcome !== undefined) assertSameContents(outcome, list);
      else assert.equal(await world.within("the end", isEnded(watch)), true, "nothing follows Errored");
    },
  ),
];

const open = async (world: World, form: "plain" | "batches", options: WatchKindOptions) =>
  form === "plain"
    ? world.use(await world.state.watchKind(world.kind, options))
    : world.use(await world.state.watchKindBatches(world.kind, options));

async function isEnded(watch: AsyncIterator<unknown, unknown>): Promise<boolean> {
  return (await watch.next()).done === true;
}

/** Writes more than fits into a small history, `zzz` last. */
async function burst(world: World): Promise<readonly Resource[]> {
  const { state } = world;
  for (let index = 0; index < BURST / 3; index++) {
    const stored = await world.create(`path${index}`);
    await state.update(stored);
    if (index % 2 === 0) await state.destroy(stored.metadata);
  }
  await world.create("zzz");
  return state.list(world.kind);
}

function assertSameContents(fold: WatchFold, list: readonly Resource[]): void {
  const text = (resources: Iterable<Resource>) =>
    [...resources].map(({ metadata }) => `${metadata.id}@${metadata.version}`).toSorted();
  assert.deepEqual(text(fold.contents.values()), text(list));
}
