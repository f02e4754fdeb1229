import { expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import { eventually } from "./eventually.ts";

test("eventually tries again until nothing is thrown, and gives what was returned", async () => {
  const clock = new ManualClock();
  let attempts = 0;
  const waiting = eventually(
    () => {
      if (++attempts < 3) throw new Error("not yet");
      return attempts;
    },
    { clock, intervalMs: 100 },
  );
  await clock.advance(100);
  expect(attempts).toBe(2);
  await clock.advance(100);
  expect(await waiting).toBe(3);
  expect(clock.pending).toBe(0);
});

test("eventually rejects with the last failure when time is up", async () => {
  const clock = new ManualClock();
  let attempts = 0;
  const waiting = eventually(() => Promise.reject(new Error(`attempt ${++attempts}`)), {
    clock,
    intervalMs: 100,
    timeoutMs: 250,
  });
  const outcome = waiting.catch(String);
  const expected = "not met within 250 ms: attempt 3";
  await clock.advance(250);
  expect(await outcome).toContain(expected);
  await clock.advance(1_000);
  expect(attempts).toBe(3);
  expect(clock.pending).toBe(0);
});

test("eventually ends with its signal, and an attempt that never ends is given up", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const waiting = eventually(() => new Promise(() => undefined), { signal: controller.signal });
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(eventually(() => 1, { signal: controller.signal })).rejects.toBe(reason);
});
