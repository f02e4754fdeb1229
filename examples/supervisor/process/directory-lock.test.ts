import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { lockDirectory } from "./directory-lock.ts";

describe("directory lock", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "lock-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test("a folder is taken once, and can be taken again when it was given back", async () => {
    const first = await lockDirectory(folder);
    await expect(lockDirectory(folder)).rejects.toThrow(`another supervisor (pid ${process.pid}, since `);
    first[Symbol.dispose]();
    (await lockDirectory(folder))[Symbol.dispose]();
  });

  test("of many that come at once, one gets it, and all others are told", async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(folder)));
    const taken = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const refused = results.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
    expect(taken).toHaveLength(1);
    for (const reason of refused) expect(reason).toContain("another supervisor");
    for (const one of taken) one[Symbol.dispose]();
  });

  test("a process that is killed leaves no lock behind", async () => {
    const script = `
      const { lockDirectory } = await import(${JSON.stringify(join(import.meta.dirname, "directory-lock.ts"))});
      await lockDirectory(${JSON.stringify(folder)});
      process.kill(process.pid, "SIGKILL");`;
    const { signal } = spawnSync(process.execPath, ["--input-type=module", "-e", script]);
    expect(signal).toBe("SIGKILL");
    (await lockDirectory(folder))[Symbol.dispose]();
  });
});
