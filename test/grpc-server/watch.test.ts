import { describe, expect, test } from "vitest";
import { EventType, type Event } from "../gen/cosi/resource/state_pb.ts";
import { Status } from "../../src/rpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import { createResource, OpaqueSpec, patchMetadata, type Resource } from "../../src/resource/index.ts";
import type { CoreState } from "../../src/state/index.ts";
import { eventsOf, failureOf, reasonOf, Served, type Peer, type WatchMessages } from "./fixture.ts";

const kind = { namespace: "default", type: "os/path" };
const make = (id: string, labels: Record<string, string> = {}): Resource =>
  createResource({ ...kind, id, labels }, new OpaqueSpec({ yaml: `id: ${id}\n` }));
const { CREATED, UPDATED, DESTROYED, BOOTSTRAPPED, ERRORED, NOOP } = EventType;

/** Type, id and version of an event. */
const brief = ({ eventType, resource }: Event) => [
  eventType,
  resource?.metadata?.id ?? "",
  resource?.metadata?.version ?? "",
];
const briefs = async (watch: WatchMessages, count: number) => (await eventsOf(watch, count)).map(brief);

/** Waits until `done`, a turn of the event loop at a time. */
async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise<void>((resolve) => setImmediate(resolve));
}

async function touch(state: MemoryState, id: string, note: string): Promise<void> {
  await state.updateWithConflicts({ ...kind, id }, (_, metadata) => {
    metadata.annotations["note"] = note;
  });
}

describe("the watch of a kind", () => {
  test("begins with an empty message in every mode, before any event [transport X1]", async () => {
    const state = new MemoryState();
    await state.create(make("a"));
    await using peer = await Served.start(state);
    const live = {};
    const modes = [
      live,
      { bootstrapContents: true },
      { bootstrapBookmark: true },
      { tailEvents: 5 },
      { bootstrapContents: true, bootstrapBookmark: true },
    ];
    for (const apiVersion of [0, 1]) {
      for (const aggregated of [false, true]) {
        for (const options of modes) {
          await using watch = peer.watch({ ...kind, options: { ...options, aggregated }, apiVersion });
          expect(await watch.bytes()).toHaveLength(0);
          // What each mode begins with comes behind it.
          const begun = options === live ? [] : await briefs(watch, 1);
          expect(begun.length > 0).toBe(options !== live);
        }
      }
      for (const aggregated of [false, true]) {
        await using single = peer.watch({ ...kind, id: "a", options: { tailEvents: 5, aggregated }, apiVersion });
        expect(await single.bytes()).toHaveLength(0);
        expect(await briefs(single, 1)).toEqual([[CREATED, "a", "1"]]);
      }
    }
  });

  test.each([false, true])(
    "shows contents, end of contents, and changes in order; aggregated: %s",
    async (aggregated) => {
      const state = new MemoryState();
      await state.create(make("b"));
      await state.create(make("a"));
      await using peer = await Served.start(state);
      await using watch = peer.watch({ ...kind, options: { bootstrapContents: true, aggregated }, apiVersion: 1 });
      await watch.next();
      const start = await eventsOf(watch, 3);
      expect(start.map(brief)).toEqual([
        [CREATED, "a", "1"],
        [CREATED, "b", "1"],
        [BOOTSTRAPPED, "", "undefined"],
      ]);
      expect(start.map(({ bookmark }) => bookmark === undefined)).toEqual([true, true, false]);
      await touch(state, "a", "one");
      await state.destroy({ ...kind, id: "b" });
      const changes = await eventsOf(watch, 2);
      expect(changes.map(brief)).toEqual([
        [UPDATED, "a", "2"],
        [DESTROYED, "b", "1"],
      ]);
      expect(changes[0]?.old?.metadata?.version).toBe("1");
      expect(changes[1]?.old).toBeUndefined();
    },
  );

  test("has one event in each message unless aggregated; then a turn's events share one", async () => {
    const state = new MemoryState();
    await using peer = await Served.start(state);
    await using alone = peer.watch({ ...kind, apiVersion: 1 });
    await using together = peer.watch({ ...kind, options: { aggregated: true }, apiVersion: 1 });
    await Promise.all([alone.next(), together.next()]);
    await Promise.all(Array.from({ length: 50 }, (_, i) => state.create(make(`r${i}`))));
    for (let seen = 0; seen < 50; seen++) expect((await alone.next()).event).toHaveLength(1);
    let messages = 0;
    for (let seen = 0; seen < 50; messages++) seen += (await together.next()).event.length;
    // The first event of a turn may come by itself.
    expect(messages).toBeLessThanOrEqual(2);
  });

  test("keeps from an old client what it does not know; it learns of a failure by the end of the stream [transport X2]", async () => {
    const state = new MemoryState({ history: { maxCapacity: 4, gap: 1 } });
    await state.create(make("a"));
    await using peer = await Served.start(state);
    for (const aggregated of [false, true]) {
      const options = { bootstrapContents: true, bootstrapBookmark: true, aggregated };
      const known = [
        [CREATED, "a", "1"],
        [NOOP, "", "undefined"],
      ];
      await using old = peer.watch({ ...kind, options });
      expect((await old.next()).event).toEqual([]);
      expect(await briefs(old, 2)).toEqual(known);
      await using present = peer.watch({ ...kind, options, apiVersion: 1 });
      await present.next();
      expect((await briefs(present, 3)).filter(([type]) => type !== BOOTSTRAPPED)).toEqual(known);
    }
    await using lost = await overrun(state, peer, 0);
    const error = await failureOf(drain(lost));
    expect(error.message).toContain("buffer overrun");
    expect(reasonOf(error).reason).toBe("WATCH_OVERRUN");
  });

  test("follows the filters: what comes to match is created, what ceases to is destroyed", async () => {
    const state = new MemoryState();
    await state.create(make("a", { tier: "front" }));
    await state.create(make("b"));
    await using peer = await Served.start(state);
    const labelQuery = [{ terms: [{ key: "tier", op: 1 as const, value: ["front"] }] }];
    await using watch = peer.watch({ ...kind, options: { labelQuery, bootstrapContents: true }, apiVersion: 1 });
    await using byId = peer.watch({ ...kind, options: { idQuery: { regexp: "^b$" } }, apiVersion: 1 });
    await Promise.all([watch.next(), byId.next()]);
    expect(await briefs(watch, 2)).toEqual([
      [CREATED, "a", "1"],
      [BOOTSTRAPPED, "", "undefined"],
    ]);
    const label = (id: string, tier: string) =>
      state.updateWithConflicts({ ...kind, id }, (_, metadata) => {
        metadata.labels["tier"] = tier;
      });
    await label("b", "front");
    await label("a", "back");
    const events = await eventsOf(watch, 2);
    expect(events.map(brief)).toEqual([
      [CREATED, "b", "2"],
      [DESTROYED, "a", "2"],
    ]);
    expect(events.map(({ old }) => old)).toEqual([undefined, undefined]);
    expect(await briefs(byId, 1)).toEqual([[UPDATED, "b", "2"]]);
  });

  test("goes on from a bookmark, and first repeats it when asked where it is", async () => {
    const state = new MemoryState();
    await using peer = await Served.start(state);
    await using first = peer.watch({ ...kind, options: { bootstrapBookmark: true }, apiVersion: 1 });
    await first.next();
    await state.create(make("a"));
    await touch(state, "a", "one");
    await touch(state, "a", "two");
    const [noop, created] = await eventsOf(first, 4);
    if (noop?.bookmark === undefined || created?.bookmark === undefined) throw new Error("a bookmark is missing");
    const later = [
      [UPDATED, "a", "2"],
      [UPDATED, "a", "3"],
    ];

    await using again = peer.watch({ ...kind, options: { startFromBookmark: noop.bookmark }, apiVersion: 1 });
    await again.next();
    expect(await briefs(again, 3)).toEqual([[CREATED, "a", "1"], ...later]);
    const options = { startFromBookmark: created.bookmark, bootstrapBookmark: true };
    await using marked = peer.watch({ ...kind, options, apiVersion: 1 });
    await marked.next();
    const events = await eventsOf(marked, 3);
    expect(events.map(brief)).toEqual([[NOOP, "", "undefined"], ...later]);
    expect(events[0]?.bookmark).toEqual(created.bookmark);
    await using single = peer.watch({ ...kind, id: "a", options: { startFromBookmark: created.bookmark } });
    await single.next();
    expect(await briefs(single, 2)).toEqual(later);
  });

  test("refuses a bookmark that is none before its first message [transport T4]", async () => {
    const state = new MemoryState();
    await using peer = await Served.start(state);
    await using first = peer.watch({ ...kind, apiVersion: 1 });
    await first.next();
    await state.create(make("a"));
    const [{ bookmark = new Uint8Array(0) } = {}] = await eventsOf(first, 1);
    const flipped = bookmark.slice();
    flipped[0] = (flipped[0] ?? 0) ^ 1;
    for (const startFromBookmark of [flipped, new Uint8Array(0), bookmark.slice(1)]) {
      for (const id of [undefined, "a"]) {
        const watch = peer.watch({ ...kind, ...(id !== undefined && { id }), options: { startFromBookmark } });
        const error = await failureOf(watch.bytes());
        expect([error.code, reasonOf(error).reason]).toEqual([Status.failedPrecondition, "INVALID_BOOKMARK"]);
      }
    }
  });

  test("replays the latest events; no more is asked for than there is by a negative number", async () => {
    const state = new MemoryState();
    await state.create(make("a"));
    await state.create(make("b"));
    await touch(state, "a", "one");
    await using peer = await Served.start(state);
    await using tail = peer.watch({ ...kind, options: { tailEvents: 2 }, apiVersion: 1 });
    await tail.next();
    expect(await briefs(tail, 2)).toEqual([
      [CREATED, "b", "1"],
      [UPDATED, "a", "2"],
    ]);
    await using single = peer.watch({ ...kind, id: "a", options: { tailEvents: 1 }, apiVersion: 1 });
    await single.next();
    expect(await briefs(single, 1)).toEqual([[UPDATED, "a", "2"]]);
    await using none = peer.watch({ ...kind, options: { tailEvents: -1 }, apiVersion: 1 });
    await none.next();
    await touch(state, "b", "one");
    expect(await briefs(none, 1)).toEqual([[UPDATED, "b", "2"]]);
  });

  test("refuses options that contradict each other", async () => {
    const state = new MemoryState();
    await using peer = await Served.start(state);
    await using first = peer.watch({ ...kind, options: { bootstrapBookmark: true }, apiVersion: 1 });
    await first.next();
    await state.create(make("a"));
    const [, { bookmark: startFromBookmark = new Uint8Array(0) } = {}] = await eventsOf(first, 2);
    for (const options of [
      { tailEvents: 1, startFromBookmark },
      { bootstrapContents: true, startFromBookmark },
      { bootstrapContents: true, tailEvents: 1 },
    ]) {
      const error = await failureOf(peer.watch({ ...kind, options }).bytes());
      expect([error.code, reasonOf(error).reason]).toEqual([Status.invalidArgument, "INVALID"]);
    }
  });
});

describe("the watch of one resource", () => {
  test("begins with its present state; a tombstone stands for what is not there", async () => {
    const state = new MemoryState();
    await using peer = await Served.start(state);
    await using watch = peer.watch({ ...kind, id: "a", apiVersion: 1 });
    await watch.next();
    expect(await briefs(watch, 1)).toEqual([[DESTROYED, "a", "undefined"]]);
    await state.create(make("b"));
    await state.create(make("a"));
    await touch(state, "a", "one");
    await state.destroy({ ...kind, id: "a" });
    expect(await briefs(watch, 3)).toEqual([
      [CREATED, "a", "1"],
      [UPDATED, "a", "2"],
      [DESTROYED, "a", "2"],
    ]);
  });

  test("an empty id is an id; whatever is for kinds alone is passed over, or not implemented", async () => {
    const state = new MemoryState();
    await state.create(make("a"));
    await using peer = await Served.start(state);
    await using empty = peer.watch({ ...kind, id: "", apiVersion: 1 });
    await empty.next();
    expect(await briefs(empty, 1)).toEqual([[DESTROYED, "", "undefined"]]);
    const options = { bootstrapBookmark: true, idQuery: { regexp: "(" }, aggregated: true };
    await using lenient = peer.watch({ ...kind, id: "a", options, apiVersion: 1 });
    await lenient.next();
    expect(await briefs(lenient, 1)).toEqual([[CREATED, "a", "1"]]);
    for (const refused of [{ bootstrapContents: true }, { labelQuery: [{ terms: [] }] }]) {
      const error = await failureOf(peer.watch({ ...kind, id: "a", options: refused }).bytes());
      expect(error.code).toBe(Status.unimplemented);
    }
  });
});

/** A watch that has fallen behind further than the history of `state` reaches, and is read again. */
async function overrun(state: MemoryState, peer: Peer & { readonly server: Served["server"] }, apiVersion: number) {
  const big = new OpaqueSpec({ yaml: "x".repeat(1024 * 1024) });
  const watch = peer.watch({ ...kind, apiVersion });
  await watch.next();
  const { version } = (await state.create(createResource({ ...kind, id: "big" }, big))).metadata;
  let latest = await state.get({ ...kind, id: "big" });
  expect(version).toBe("1");
  // Enough to fill the windows of the stream, and then to leave the history.
  for (let i = 0; i < 40; i++) {
    latest = await state.update(patchMetadata(latest, { annotations: { count: String(i) } }));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return watch;
}

async function drain(watch: WatchMessages): Promise<void> {
  for await (const message of watch) expect(message).toBeDefined();
}

describe("a client that does not read", () => {
  test("is told once that it fell behind, and its stream stays open with nothing behind it [transport X12]", async () => {
    const state = new MemoryState({ history: { maxCapacity: 4, gap: 1 } });
    await using peer = await Served.start(state);
    await using watch = await overrun(state, peer, 1);
    const seen: Event[] = [];
    while (seen.at(-1)?.eventType !== ERRORED) seen.push(...(await watch.next()).event);
    const error = seen.at(-1);
    expect(error?.error).toContain("buffer overrun");
    expect([error?.resource, error?.old, error?.bookmark]).toEqual([undefined, undefined, undefined]);
    // Far fewer than there were: nothing was kept for it beyond the history and what was under way.
    expect(seen.length).toBeLessThan(20);
    await until(() => peer.server.watchCount === 0);
    expect(peer.server.callCount).toBe(1);

    let more = false;
    const next = watch.next().then(
      () => (more = true),
      () => undefined,
    );
    await touch(state, "big", "again");
    await using after = peer.watch({ ...kind, id: "big", apiVersion: 1 });
    await eventsOf(after, 1);
    expect(more).toBe(false);
    watch.stream.cancel();
    await next;
    await until(() => peer.server.callCount === 1);
  });

  test("does not hold up those who read", async () => {
    const state = new MemoryState({ history: { maxCapacity: 1000 } });
    await using peer = await Served.start(state);
    await using slow = peer.watch({ ...kind, apiVersion: 1 });
    await using quick = peer.watch({ ...kind, apiVersion: 1 });
    await Promise.all([slow.next(), quick.next()]);
    const yaml = "x".repeat(100_000);
    for (let i = 0; i < 100; i++) {
      await state.create(createResource({ ...kind, id: `r${i}` }, new OpaqueSpec({ yaml })));
      expect(await briefs(quick, 1)).toEqual([[CREATED, `r${i}`, "1"]]);
    }
    for (let i = 0; i < 100; i++) expect(await briefs(slow, 1)).toEqual([[CREATED, `r${i}`, "1"]]);
  });
});

describe("large contents", () => {
  test("of 50 MiB arrive in several messages, none too large, in order, their end last [transport X11]", async () => {
    const state = new MemoryState();
    const yaml = "x".repeat(50 * 1024);
    const ids = Array.from({ length: 1024 }, (_, i) => `r${String(i).padStart(4, "0")}`);
    for (const id of ids) await state.create(createResource({ ...kind, id }, new OpaqueSpec({ yaml })));
    await using peer = await Served.start(state, {}, { maxReceivedMessageBytes: 4 * 1024 * 1024 });
    await using watch = peer.watch({ ...kind, options: { bootstrapContents: true, aggregated: true }, apiVersion: 1 });
    await watch.next();
    const events: Event[] = [];
    let messages = 0;
    for (; events.at(-1)?.eventType !== BOOTSTRAPPED; messages++) events.push(...(await watch.next()).event);
    expect(messages).toBeGreaterThan(40);
    expect(events.slice(0, -1).map(({ resource }) => resource?.metadata?.id)).toEqual(ids);
  });

  test("come in smaller messages the more watches a connection has, so that slow ones do not stop its calls", async () => {
    const state = new MemoryState();
    const yaml = "x".repeat(100 * 1024);
    for (let i = 0; i < 40; i++) {
      await state.create(createResource({ ...kind, id: `r${i}` }, new OpaqueSpec({ yaml })));
    }
    await using peer = await Served.start(state);
    const options = { bootstrapContents: true, aggregated: true };
    const watches = Array.from({ length: 80 }, () => peer.watch({ ...kind, options, apiVersion: 1 }));
    await Promise.all(watches.map((watch) => watch.next()));
    // None of them is read any further, and there is still room for calls.
    expect((await peer.get({ ...kind, id: "r0" })).resource?.metadata?.id).toBe("r0");
    const last = watches.at(-1);
    for (let left = 41; left > 0;) {
      const message = await last?.next();
      left -= message?.event.length ?? left;
      expect(message?.event.length).toBeLessThanOrEqual(3);
    }
    for (const watch of watches) watch.stream.cancel();
  });

  test("are split by number as well; an event above the size goes alone", async () => {
    const state = new MemoryState();
    for (let i = 0; i < 25; i++) await state.create(make(`r${i}`));
    await state.create(createResource({ ...kind, id: "z" }, new OpaqueSpec({ yaml: "x".repeat(3000) })));
    await using peer = await Served.start(state, { batchEvents: 10, batchBytes: 2000 });
    await using watch = peer.watch({ ...kind, options: { bootstrapContents: true, aggregated: true }, apiVersion: 1 });
    await watch.next();
    const sizes: number[] = [];
    for (let last: Event | undefined; last?.eventType !== BOOTSTRAPPED;) {
      const { event } = await watch.next();
      sizes.push(event.length);
      expect(event.length === 1 || !event.some(({ resource }) => resource?.metadata?.id === "z")).toBe(true);
      last = event.at(-1);
    }
    expect(sizes.reduce((sum, size) => sum + size)).toBe(27);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(10);
  });
});

/** Counts the watches that are open in a State. */
function counting(state: MemoryState): { readonly core: CoreState; readonly open: () => number } {
  let open = 0;
  const counted = <W extends AsyncDisposable>(watch: W, signal: AbortSignal | undefined): W => {
    open++;
    let over = false;
    const end = () => {
      if (!over) open--;
      over = true;
    };
    signal?.addEventListener("abort", end, { once: true });
    const dispose = watch[Symbol.asyncDispose].bind(watch);
    return Object.assign(watch, { [Symbol.asyncDispose]: () => (end(), dispose()), return: () => (end(), dispose()) });
  };
  const core: CoreState = Object.assign(Object.create(state) as MemoryState, {
    watch: (...[ref, options]: Parameters<CoreState["watch"]>) =>
      (state as CoreState).watch(ref, options).then((watch) => counted(watch, options?.signal)),
    watchKindBatches: (...[of, options]: Parameters<CoreState["watchKindBatches"]>) =>
      (state as CoreState).watchKindBatches(of, options).then((watch) => counted(watch, options?.signal)),
  });
  return { core, open: () => open };
}

describe("a client that leaves", () => {
  test("frees its watch at once; a thousand opened and cancelled leave nothing [transport X23]", async () => {
    const { core, open } = counting(new MemoryState());
    await using peer = await Served.start(core);
    const requests = [kind, { ...kind, id: "a" }, { ...kind, options: { bootstrapContents: true, aggregated: true } }];
    const watches = Array.from({ length: 1000 }, (_, i) => peer.watch(requests[i % requests.length] ?? kind));
    await Promise.all(watches.map((watch) => watch.next()));
    expect([open(), peer.server.watchCount, peer.server.callCount]).toEqual([1000, 1000, 1000]);

    // Within a few turns of the event loop that both ends share, so within 100 ms unless a turn takes ten.
    for (const watch of watches.splice(0, 9)) {
      const left = open() - 1;
      watch.stream.cancel();
      for (let turn = 0; turn < 10 && open() > left; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(open()).toBe(left);
    }

    for (const watch of watches) watch.stream.cancel();
    await until(() => peer.server.callCount === 0);
    expect([open(), peer.server.watchCount]).toEqual([0, 0]);
  });

  test("by losing its connection frees all its watches as well", async () => {
    const { core, open } = counting(new MemoryState());
    await using peer = await Served.start(core);
    await using other = peer.watch(kind);
    await other.next();
    await using lone = peer.watch({ ...kind, id: "a" });
    await lone.next();
    expect(open()).toBe(2);
    await peer.channel.close();
    await until(() => open() === 0 && peer.server.callCount === 0);
    expect(peer.server.watchCount).toBe(0);
  });
});

describe("a State that is closed", () => {
  test("ends its watches with UNAVAILABLE: clients try again later", async () => {
    const state = new MemoryState();
    await using peer = await Served.start(state);
    await using watch = peer.watch({ ...kind, apiVersion: 1 });
    await watch.next();
    await state[Symbol.asyncDispose]();
    expect((await failureOf(watch.next())).code).toBe(Status.unavailable);
    expect((await failureOf(peer.get({ ...kind, id: "a" }))).code).toBe(Status.unavailable);
  });
});
