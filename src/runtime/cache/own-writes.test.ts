import { describe, expect, test } from "vitest";
import { createResource, type Resource } from "../../resource/index.ts";
import { KindCache } from "./kind-cache.ts";
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

function setUp(...present: readonly Resource[]) {
  const cache = new KindCache(A, new Gauge());
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

  test("are given up when new contents show that their life is over", async () => {
    const { cache, writes } = setUp();
    await writes.follow(cache, "x", Promise.resolve(resource("3")));
    cache.refill();
    cache.append(resource("2"));
    cache.filled(undefined);
    expect(await settles(writes.unseen(cache, "x"))).toBe(false);
    cache.refill();
    cache.filled(undefined);
    expect(await settles(writes.unseen(cache, "x"))).toBe(true);
  });

  test("that failed are nothing to wait for", async () => {
    const { cache, writes } = setUp();
    await expect(writes.follow(cache, "x", Promise.reject(new Error("refused")))).rejects.toThrow("refused");
    await expect(writes.followDestroy(cache, "x", Promise.reject(new Error("refused")))).rejects.toThrow("refused");
    expect(writes.unseen(cache)).toBeUndefined();
  });
});
