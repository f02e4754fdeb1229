import { describe, expect, test } from "vitest";
import { createResource, equal, isNotFound, Phase, type Kind, type Resource } from "../../resource/index.ts";
import { KindCache, type CacheOrigin } from "./kind-cache.ts";
import { KindMap } from "../kind-map.ts";
import { Gauge } from "../metrics/metrics.ts";

const A: Kind = { namespace: "a", type: "A" };
const B: Kind = { namespace: "b", type: "B" };

/** A State that does not answer. */
const NEVER: CacheOrigin = { get: () => new Promise(() => {}), revision: () => new Promise(() => {}) };

function resource(
  kind: Kind,
  id: string,
  init: { labels?: Record<string, string>; phase?: Phase; version?: string } = {},
): Resource {
  return createResource({ ...kind, id, ...init }, {});
}

const ids = (list: readonly Resource[]): string[] => list.map(({ metadata }) => metadata.id);

/** What the promise has come to, after everything that needs no time has run. */
async function stateOf(promise: Promise<unknown>): Promise<string> {
  let state = "pending";
  void promise.then(
    () => (state = "resolved"),
    () => (state = "rejected"),
  );
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  return state;
}

function filled(kind: Kind, ...resources: readonly Resource[]): KindCache {
  const cache = new KindCache(kind, new Gauge(), NEVER);
  for (const one of resources) cache.append(one);
  cache.filled(undefined);
  return cache;
}

describe("caches of two kinds", () => {
  test("are filled, opened one by one, read and kept up to date [engine T-34]", { timeout: 60_000 }, async () => {
    const gauges = { a: new Gauge(), b: new Gauge() };
    const caches = new KindMap<KindCache>();
    const a = caches.ensure(A, () => new KindCache(A, gauges.a, NEVER));
    const b = caches.ensure(B, () => new KindCache(B, gauges.b, NEVER));
    const nameA = (i: number): string => `a-${String(i).padStart(5, "0")}`;
    for (let i = 0; i < 1000; i++) a.append(resource(A, nameA(i), { labels: { number: String(i) } }));
    for (let i = 0; i < 10_000; i++) b.append(resource(B, `b-${i}`));
    expect([gauges.a.value, gauges.b.value]).toEqual([1000, 10_000]);
    // "is it handled?" is the question to ask: for a kind without a cache there is nothing to misuse
    expect(caches.get("a", "A")).toBe(a);
    expect(caches.get("b", "B")).toBe(b);
    expect(caches.get("c", "C")).toBeUndefined();
    // @ts-expect-error TS2532: there may be no cache
    expect(() => caches.get("c", "C").list()).toThrow(TypeError);
    // @ts-expect-error TS2532: there may be no cache
    expect(() => caches.get("c", "C").get({ namespace: "c", type: "C", id: "1" })).toThrow(TypeError);

    a.filled(undefined);
    expect([a.ready, b.ready]).toEqual([true, false]);
    const listed = b.list();
    expect(await stateOf(listed)).toBe("pending");
    b.filled(undefined);
    expect(await listed).toHaveLength(10_000);

    for (let i = 0; i < 1000; i++) {
      expect((await a.get({ ...A, id: nameA(i) })).metadata.labels["number"]).toBe(String(i));
    }
    await expect(a.get({ ...A, id: "missing" })).rejects.toSatisfy(isNotFound);
    expect(ids(await a.list({ labels: [equal("number", "1")] }))).toEqual([nameA(1)]);
    expect(await b.list({ ids: "1$" })).toHaveLength(1000);

    for (let i = 0; i < 10_000; i += 2) b.remove(resource(B, `b-${i}`).metadata);
    expect(await b.list()).toHaveLength(5000);
    for (let i = 0; i < 1000; i++) a.put(resource(A, nameA(i), { labels: { number: String(i + 1) } }));
    expect(ids(await a.list({ labels: [equal("number", "1")] }))).toEqual([nameA(0)]);
    expect([gauges.a.value, gauges.b.value]).toEqual([1000, 5000]);
  });
});

describe("a signal for a teardown", () => {
  test("aborts when the resource is absent, torn down or removed [engine T-35]", async () => {
    const cache = filled(A, resource(A, "p1"), resource(A, "p2"));
    const signalFor = async (id: string) => (await cache.signalWithTeardown({ ...A, id })).signal;
    expect((await signalFor("p3")).aborted).toBe(true);
    const p1 = await signalFor("p1");
    const p2 = await signalFor("p2");
    expect([p1.aborted, p2.aborted]).toEqual([false, false]);
    cache.put(resource(A, "p1", { phase: Phase.tearingDown }));
    expect([p1.aborted, p2.aborted]).toEqual([true, false]);
    expect((await signalFor("p1")).aborted).toBe(true);
    cache.remove(resource(A, "p3").metadata);
    expect(p2.aborted).toBe(false);
    cache.remove(resource(A, "p2").metadata);
    expect(p2.aborted).toBe(true);
  });

  test("waits for the first fill, follows its parent, and is silent once disposed", async () => {
    const cache = new KindCache(A, new Gauge(), NEVER);
    const parent = new AbortController();
    const opening = cache.signalWithTeardown({ ...A, id: "p" }, { signal: parent.signal });
    expect(await stateOf(opening)).toBe("pending");
    cache.append(resource(A, "p"));
    cache.filled(undefined);
    const followed = await opening;
    const disposed = await cache.signalWithTeardown({ ...A, id: "p" });
    await disposed[Symbol.asyncDispose]();
    parent.abort("stop");
    expect(followed.signal.reason).toBe("stop");
    cache.remove(resource(A, "p").metadata);
    expect(disposed.signal.aborted).toBe(false);
  });

  test("aborts when new contents lack the resource", async () => {
    const cache = filled(A, resource(A, "kept"), resource(A, "lost"));
    const kept = await cache.signalWithTeardown({ ...A, id: "kept" });
    const lost = await cache.signalWithTeardown({ ...A, id: "lost" });
    cache.refill();
    cache.append(resource(A, "kept"));
    expect(lost.signal.aborted).toBe(false);
    cache.filled(undefined);
    expect([kept.signal.aborted, lost.signal.aborted]).toEqual([false, true]);
  });
});

describe("lists", () => {
  test("are sorted by the bytes of the ids, whatever the order of arrival", async () => {
    const cache = filled(A, resource(A, "b"), resource(A, "\u{1f600}"), resource(A, "a"), resource(A, "\uffee"));
    expect(ids(await cache.list())).toEqual(["a", "b", "\uffee", "\u{1f600}"]);
  });

  test("are one frozen array for everyone until something changes", async () => {
    const cache = filled(A, resource(A, "b"));
    const list = await cache.list();
    expect(await cache.list()).toBe(list);
    expect(Object.isFrozen(list)).toBe(true);
    cache.put(resource(A, "a"));
    cache.put(resource(A, "c"));
    expect(ids(await cache.list())).toEqual(["a", "b", "c"]);
    expect(ids(list)).toEqual(["b"]);
  });

  test("stay right through any number of changes between them", async () => {
    const cache = filled(A);
    const model = new Map<string, Resource>();
    for (let step = 0; step < 3000; step++) {
      const one = resource(A, `id-${(step * 7919) % 211}`, { version: String(step + 1) });
      if (step % 3 === 0) {
        cache.remove(one.metadata);
        model.delete(one.metadata.id);
      } else {
        cache.put(one);
        model.set(one.metadata.id, one);
      }
      if (step % 97 !== 0) continue;
      expect(await cache.list()).toEqual(Object.assign([...model.values()].sort(byId), { revision: undefined }));
    }
    expect(cache.size).toBe(model.size);
  });
});

const byId = (a: Resource, b: Resource): number => (a.metadata.id < b.metadata.id ? -1 : 1);

describe("contents", () => {
  test("are exchanged at once by a refill; old ones are read until then", async () => {
    const gauge = new Gauge();
    const cache = new KindCache(A, gauge, NEVER);
    cache.append(resource(A, "old"));
    cache.append(resource(A, "both", { version: "1" }));
    expect(cache.filled(3)).toEqual([]);
    cache.refill();
    cache.append(resource(A, "both", { version: "2" }));
    cache.append(resource(A, "new"));
    expect(ids(await cache.list())).toEqual(["both", "old"]);
    expect(ids(cache.filled(9))).toEqual(["old"]);
    expect(ids(await cache.list())).toEqual(["both", "new"]);
    expect((await cache.get({ ...A, id: "both" })).metadata.version).toBe("2");
    expect(gauge.value).toBe(2);
    expect((await cache.list()).revision).toBe(9);
  });

  test("a refill before the first fill was complete starts over", () => {
    const gauge = new Gauge();
    const cache = new KindCache(A, gauge, NEVER);
    cache.append(resource(A, "stale"));
    cache.refill();
    cache.append(resource(A, "fresh"));
    cache.filled(undefined);
    expect(ids(cache.listNow())).toEqual(["fresh"]);
    expect(gauge.value).toBe(1);
  });

  test("being complete twice is harmless", () => {
    const cache = filled(A, resource(A, "a"));
    expect(cache.filled(undefined)).toEqual([]);
    expect(ids(cache.listNow())).toEqual(["a"]);
  });

  test("a resource that was created anew counts as newest, although its version is lower", async () => {
    const cache = filled(A, resource(A, "a", { version: "9" }));
    cache.remove(resource(A, "a").metadata);
    cache.put(resource(A, "a", { version: "1" }));
    expect((await cache.get({ ...A, id: "a" })).metadata.version).toBe("1");
  });
});

describe("reads that wait", () => {
  test("for a version or a revision, end when it comes", async () => {
    const cache = filled(A, resource(A, "a", { version: "1" }));
    cache.put(resource(A, "a", { version: "9" }), 5);
    const version = cache.get({ ...A, id: "a" }, { atLeast: "10" });
    const created = cache.get({ ...A, id: "b" }, { atLeast: "1" });
    const revision = cache.list({ atLeast: 7 });
    expect(await Promise.all([version, created, revision].map(stateOf))).toEqual(["pending", "pending", "pending"]);
    cache.put(resource(A, "a", { version: "10" }), 6);
    expect((await version).metadata.version).toBe("10");
    expect(await stateOf(revision)).toBe("pending");
    cache.put(resource(A, "b", { version: "1" }), 7);
    expect((await created).metadata.id).toBe("b");
    expect((await revision).revision).toBe(7);
    expect((await cache.get({ ...A, id: "a" }, { atLeast: "9" })).metadata.version).toBe("10");
  });

  test("for a revision fail where the State does not count", async () => {
    await expect(filled(A).list({ atLeast: 1 })).rejects.toMatchObject({ code: "unsupported" });
  });

  test("for the version of a resource that is gone or was created anew end with what is there", async () => {
    const stored = new Map<string, Resource>([["anew", resource(A, "anew", { version: "1" })]]);
    const origin: CacheOrigin = { get: async ({ id }) => stored.get(id), revision: async () => 9 };
    const cache = new KindCache(A, new Gauge(), origin);
    cache.append(resource(A, "anew", { version: "1" }));
    cache.filled(9);
    const gone = cache.getOrNull({ ...A, id: "gone" }, { atLeast: "3" });
    const anew = cache.getOrNull({ ...A, id: "anew" }, { atLeast: "3" });
    expect(await gone).toBeUndefined();
    expect((await anew)?.metadata.version).toBe("1");
    await expect(cache.list({ atLeast: 10 })).rejects.toMatchObject({ code: "invalid" });

    // The State has it, and the event is on its way; the resource is destroyed before that comes, in a resync.
    stored.set("late", resource(A, "late", { version: "3" }));
    const late = cache.getOrNull({ ...A, id: "late" }, { atLeast: "3" });
    expect(await stateOf(late)).toBe("pending");
    stored.delete("late");
    cache.refill();
    cache.filled(12);
    expect(await late).toBeUndefined();
  });

  test("end when the cache is closed, as every later read does", async () => {
    const cache = filled(A, resource(A, "a", { version: "1" }));
    cache.put(resource(A, "a", { version: "2" }), 1);
    const opening = new KindCache(A, new Gauge(), NEVER);
    const signal = await cache.signalWithTeardown({ ...A, id: "a" });
    const waits = [
      cache.get({ ...A, id: "a" }, { atLeast: "3" }),
      cache.list({ atLeast: 2 }),
      opening.get({ ...A, id: "a" }),
      opening.list(),
      opening.signalWithTeardown({ ...A, id: "a" }),
    ];
    const failed = Promise.allSettled(waits);
    for (const one of [cache, opening]) one.close(new Error("the connection was lost"));
    const closed = { code: "unavailable", message: 'the cache of A in "a" is closed: the connection was lost' };
    for (const result of await failed) expect(result).toMatchObject({ status: "rejected", reason: closed });
    expect(signal.signal.reason).toMatchObject(closed);
    expect(cache.ready).toBe(false);
    await expect(cache.get({ ...A, id: "a" })).rejects.toMatchObject(closed);
    await expect(cache.list()).rejects.toMatchObject(closed);
    await expect(cache.signalWithTeardown({ ...A, id: "a" })).rejects.toMatchObject(closed);
  });

  test("end with the reason of their signal", async () => {
    const cache = new KindCache(A, new Gauge(), NEVER);
    const stop = new AbortController();
    const reads = [
      cache.get({ ...A, id: "a" }, { signal: stop.signal }),
      cache.list({ signal: stop.signal }),
      cache.signalWithTeardown({ ...A, id: "a" }, { signal: stop.signal }),
    ];
    const reason = new Error("stop");
    stop.abort(reason);
    for (const read of reads) await expect(read).rejects.toBe(reason);
    await expect(cache.list({ signal: stop.signal })).rejects.toBe(reason);
  });
});

/** How often metadata of resources is looked at while a cache of so many is filled, changed and emptied, per resource. */
function looksPerEntry(entries: number): { readonly append: number; readonly put: number; readonly remove: number } {
  let looks = 0;
  const counted = (id: number, version: string): Resource => {
    const { metadata, ...rest } = resource(A, String(id), { version });
    return Object.defineProperty({ ...rest, metadata }, "metadata", { get: () => (looks++, metadata) });
  };
  const cache = new KindCache(A, new Gauge(), NEVER);
  const during = (act: (id: number) => void): number => {
    looks = 0;
    for (let id = 0; id < entries; id++) act(id);
    return looks / entries;
  };
  const append = during((id) => cache.append(counted(id, "1")));
  cache.filled(undefined);
  const put = during((id) => cache.put(counted(id, "2")));
  return { append, put, remove: during((id) => cache.remove(counted(id, "2").metadata)) };
}

test("appending, putting and removing cost as much among ten thousand entries as among ten [engine T-36]", () => {
  expect(looksPerEntry(10_000)).toEqual(looksPerEntry(10));
  expect(looksPerEntry(10).put).toBeLessThan(5);
});

test("of ten thousand entries, putting and removing changes one each [engine T-36]", async () => {
  const gauge = new Gauge();
  const cache = new KindCache(A, gauge, NEVER);
  for (let i = 0; i < 10_000; i++) cache.append(resource(A, String(i)));
  cache.filled(undefined);
  const before = await cache.list();
  expect(await cache.list()).toBe(before);
  const signals = await Promise.all(["1", "2"].map((id) => cache.signalWithTeardown({ ...A, id })));
  for (let i = 0; i < 10_000; i++) cache.put(resource(A, String(i), { version: "2" }));
  expect((await cache.list()).map(({ metadata: { id, version } }) => [id, version])).toEqual(
    before.map(({ metadata: { id } }) => [id, "2"]),
  );
  for (let i = 0; i < 10_000; i++) if (i !== 2) cache.remove(resource(A, String(i)).metadata);
  expect([gauge.value, ids(await cache.list())]).toEqual([1, ["2"]]);
  expect(signals.map(({ signal }) => signal.aborted)).toEqual([true, false]);
});
