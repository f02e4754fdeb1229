import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ManualClock } from "homeostat/clock";
import { expect, test } from "vitest";

import { FolderReader } from "./folder-reader.ts";
import { watchFolder } from "./watch-folder.ts";

/** Quiet time, its bound, and the time between looks, as in the source. Unit: milliseconds. */
const SETTLE_MS = 50;
const MAX_SETTLE_MS = 300;
const POLL_MS = 500;

/** A watched folder on a manual clock, after the first look and its call. */
async function openWatched() {
  const path = await mkdtemp(join(tmpdir(), "homeostat-watch-"));
  const clock = new ManualClock();
  let calls = 0;
  const watching = watchFolder(new FolderReader(path, clock), clock, () => calls++);
  await expect.poll(() => clock.pending).toBe(2);
  await clock.advance(SETTLE_MS);
  expect(calls).toBe(1);
  return {
    path,
    clock,
    calls: () => calls - 1,
    [Symbol.asyncDispose]: async () => {
      watching[Symbol.dispose]();
      // A look that has begun is the last one.
      await expect.poll(() => clock.pending).toBe(0);
      await rm(path, { recursive: true });
    },
  };
}

test("a change is told within a second, whether the system reports it or not", async () => {
  await using folder = await openWatched();
  await writeFile(join(folder.path, "a.yaml"), "a: 1\n");
  await folder.clock.advance(POLL_MS);
  // The look at the folder is real, and plans the next one when it is done.
  await expect.poll(() => folder.clock.pending).toBeGreaterThan(0);
  await expect
    .poll(() => (folder.calls() > 0 ? "told" : folder.clock.advance(SETTLE_MS).then(() => "waits")))
    .toBe("told");
  expect(folder.clock.monotonic()).toBeLessThanOrEqual(1_000);
});

test("several steps of an editor are one change, and a folder that never gets quiet is looked at all the same", async () => {
  await using folder = await openWatched();
  const startMs = folder.clock.monotonic();
  for (let step = 0; step < 20; step++) {
    await writeFile(join(folder.path, "a.yaml"), `a: ${step}\n`);
    // Settling, with what the system has reported by now.
    await expect.poll(() => folder.clock.nextInMs).toBeLessThanOrEqual(SETTLE_MS);
    await folder.clock.advance(20);
    if (folder.calls() > 0) break;
  }
  expect(folder.calls()).toBe(1);
  expect(folder.clock.monotonic() - startMs).toBeLessThanOrEqual(MAX_SETTLE_MS + 20);
});
