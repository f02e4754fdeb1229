import { getEventListeners } from "node:events";
import { expect, test, vi } from "vitest";
import { CacheWaits } from "./cache-waits.ts";

test("a wait is asked at each check until it holds, and no more", async () => {
  const waits = new CacheWaits();
  let value = 0;
  const holds = vi.fn<() => boolean>(() => value === 2);
  const { signal } = new AbortController();
  const waiting = waits.until(holds, signal);
  for (value = 1; value <= 4; value++) waits.check();
  await waiting;
  expect(holds).toHaveBeenCalledTimes(2);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("a wait ends with its signal, alone, and with the cache, all of them", async () => {
  const waits = new CacheWaits();
  const stop = new AbortController();
  const holds = vi.fn<() => boolean>(() => false);
  const aborted = waits.until(holds, stop.signal);
  const failed = waits.until(() => false, undefined);
  stop.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  waits.check();
  expect(holds).not.toHaveBeenCalled();
  waits.fail(new Error("the cache is gone"));
  waits.fail(new Error("again"));
  await expect(failed).rejects.toThrow("the cache is gone");
  await expect(waits.until(() => true, undefined)).rejects.toThrow("the cache is gone");
});
