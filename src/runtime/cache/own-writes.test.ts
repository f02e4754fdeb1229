import { describe, expect, test } from "vitest";
import { createResource, type Resource } from "../../resource/index.ts";
import { KindCache, type CacheOrigin } from "./kind-cache.ts";
import { Gauge } from "../metrics/metrics.ts";
import { OwnWrites } from "./own-writes.ts";

const A = { namespace: "a", type: "A" };

const resource = (version: string, created = "2000-01-01T00:00:00Z"): Resource =>
  createResource({ ...A, id: "x", version, created }, {});

async function settles(promise: Promise<unknown> | undefined): Promise<boolean> {
  let settled = promise === undefined;
  void promise?.then(() => (settled = true));
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  return settled;
}

/** What the State holds, as far as the test says. */
let stored: Promise<Resource | undefined> = new Promise(() => {});
const origin: CacheOrigin = { get: () => stored, revision: () => new Promise(() => {}) };

function setUp(...present: readonly Resource[]) {
  stored = new Promise(() => {});
  const cache = new KindCache(A, new Gauge(), origin);
  for (const one of present) cache.append(one);
  cache.filled(undefined);
  return { cache, writes: new OwnWrites() };
}

describe("own writes", () => {
  test("are unseen from their answer until their event", async () => {
    const { cache, writes } = setUp(resource("1"));
    const answer = Promise.withResolvers<Resource>();
    const followed = writes.follow(cache, "x", answer.promise);
    expect(writes.unseen(cache, "x")).toBeUndefined();
    answer.resolve(resource("2"));
    expect((await followed).metadata.version).toBe("2");
    const unseen = writes.unseen(cache, "x");
    expect(writes.unseen(cache)).toBeDefined();
    expect(writes.unseen(cache, "other")).toBeUndefined();
    expect(await settles(unseen)).toBe(false);
    cache.put(resource("1"));
    expect(await settles(unseen)).toBe(false);
    cache.put(resource("2"));
    expect(await settles(unseen)).toBe(true);
    expect(writes.unseen(cache, "x")).toBeUndefined();
  });

  test("can be asked about without a promise, which would reject unheard when the cache is closed", async () => {
    const unheard: unknown[] = [];
    const listener = (reason: unknown): void => void unheard.push(reason);
    process.on("unhandledRejection", listener);
    const { cache, writes } = setUp();
    await writes.follow(cache, "x", Promise.resolve(resource("1")));
    expect([writes.hasUnseen(cache, "x"), writes.hasUnseen(cache, "other")]).toEqual([true, false]);
    cache.close(new Error("stopped"));
    for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", listener);
    expect(unheard).toEqual([]);
  });

  test("are seen when their event came before their answer, even if more has happened since", async () => {
    const { cache, writes } = setUp();
    const answer = Promise.withResolvers<Resource>();
    const followed = writes.follow(cache, "x", answer.promise);
    cache.put(resource("1"));
    cache.remove(resource("1").metadata);
    answer.resolve(resource("1"));
    await followed;
    expect(await settles(writes.unseen(cache, "x"))).toBe(true);
  });

  test("of a destroy are seen when the resource has gone, not because it is not there yet", async () => {
    const { cache, writes } = setUp();
    await writes.follow(cache, "x", Promise.resolve(resource("1")));
    await writes.followDestroy(cache, "x", Promise.resolve());
    const unseen = writes.unseen(cache, "x");
    expect(await settles(unseen)).toBe(false);
    cache.put(resource("1"));
    expect(await settles(unseen)).toBe(false);
    cache.remove(resource("1").metadata);
    expect(await settles(unseen)).toBe(true);
  });

  test("another life of the resource, at a higher version, is not what was written", async () => {
    const { cache, writes } = setUp();
    await writes.follow(cache, "x", Promise.resolve(resource("1", "2001-01-01T00:00:00Z")));
    cache.put(resource("7"));
    expect(await settles(writes.unseen(cache, "x"))).toBe(false);
    cache.put(resource("1", "2001-01-01T00:00:00Z"));
    expect(await settles(writes.unseen(cache, "x"))).toBe(true);
  });

  /** New contents: what happened before them comes in no event. */
  const resync = (cache: KindCache, ...present: readonly Resource[]): void => {
    cache.refill();
    for (const one of present) cache.append(one);
    cache.filled(undefined);
  };
  const ANEW = "2001-01-01T00:00:00Z";

  test.each([
    { what: "an own destroy, recreated by another", left: undefined, now: resource("1", ANEW) },
    { what: "a write to what is gone", left: resource("3"), now: undefined },
    { what: "a write to what was created anew", left: resource("3"), now: resource("1", ANEW) },
    { what: "a write to what was created anew in the same moment", left: resource("3"), now: resource("1") },
  ])("that a resync swallowed end with what the State holds: $what", async ({ left, now }) => {
    for (const answered of ["before", "after"] as const) {
      const { cache, writes } = setUp(resource("2"));
      stored = Promise.resolve(now);
      const answer = Promise.withResolvers<void>();
      const written = answer.promise.then(() => left as Resource);
      const followed =
        left === undefined ? writes.followDestroy(cache, "x", answer.promise) : writes.follow(cache, "x", written);
      if (answered === "before") answer.resolve();
      if (answered === "before") await followed;
      resync(cache, ...(now === undefined ? [] : [now]));
      answer.resolve();
      await followed;
      expect(await settles(writes.unseen(cache, "x"))).toBe(true);
    }
  });

  test("wait on when the new contents are older than the write: the event is still to come", async () => {
    const { cache, writes } = setUp();
    stored = Promise.resolve(resource("3"));
    await writes.follow(cache, "x", Promise.resolve(resource("3")));
    resync(cache, resource("2"));
    expect(await settles(writes.unseen(cache, "x"))).toBe(false);
    cache.put(resource("3"));
    expect(await settles(writes.unseen(cache, "x"))).toBe(true);
  });

  test("that came before the first contents were complete, and are gone from them, end", async () => {
    const cache = new KindCache(A, new Gauge(), origin);
    const writes = new OwnWrites();
    stored = Promise.resolve(undefined);
    await writes.follow(cache, "x", Promise.resolve(resource("1")));
    cache.filled(undefined);
    expect(await settles(writes.unseen(cache, "x"))).toBe(true);
  });

  test("fail the reads that wait for them when the State cannot be asked, or the cache is closed", async () => {
    for (const end of ["state", "cache"] as const) {
      const { cache, writes } = setUp();
      if (end === "state") stored = Promise.reject(new Error("lost"));
      await writes.follow(cache, "x", Promise.resolve(resource("3")));
      const unseen = writes.unseen(cache, "x");
      resync(cache);
      if (end === "cache") cache.close(new Error("lost"));
      await expect(unseen).rejects.toThrow("lost");
      expect(writes.unseen(cache)).toBeUndefined();
    }
    // One that begins only now is not waited for either.
    const { cache, writes } = setUp();
    cache.close(new Error("lost"));
    await writes.follow(cache, "x", Promise.resolve(resource("3")));
    expect(writes.unseen(cache)).toBeUndefined();
  });

  test("note a bounded number of lives while the State does not answer", async () => {
    const { cache, writes } = setUp();
    const answer = Promise.withResolvers<Resource>();
    const followed = writes.follow(cache, "x", answer.promise);
    stored = Promise.resolve(undefined);
    const first = resource("1", "2000-01-01T00:00:00Z");
    for (let day = 1; day <= 28; day++) {
      const one = resource("1", `2000-01-${String(day).padStart(2, "0")}T00:00:00Z`);
      cache.put(one);
      cache.remove(one.metadata);
    }
    answer.resolve(first);
    await followed;
    expect(await settles(writes.unseen(cache, "x"))).toBe(true);
  });

  test("that failed are nothing to wait for", async () => {
    const { cache, writes } = setUp();
    await expect(writes.follow(cache, "x", Promise.reject(new Error("refused")))).rejects.toThrow("refused");
    await expect(writes.followDestroy(cache, "x", Promise.reject(new Error("refused")))).rejects.toThrow("refused");
    expect(writes.unseen(cache)).toBeUndefined();
  });
});
