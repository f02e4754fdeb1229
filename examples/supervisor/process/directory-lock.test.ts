import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { DirectoryLockedError, lockDirectory } from "./directory-lock.ts";

describe("directory lock", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "lock-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test("a folder is taken once, and can be taken again when it was given back", async () => {
    {
      await using _first = await lockDirectory(folder);
      await expect(lockDirectory(folder)).rejects.toThrow(DirectoryLockedError);
      await expect(lockDirectory(folder)).rejects.toThrow(`another supervisor (pid ${process.pid}, since `);
    }
    expect(await readdir(folder)).toEqual([]);
    await using _again = await lockDirectory(folder);
  });

  test("of many that come at once, at most one gets it, and all others are told", async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(folder)));
    const taken = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const refused = results.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    expect(taken).toHaveLength(1);
    for (const reason of refused) expect(reason).toBeInstanceOf(DirectoryLockedError);
    for (const one of taken) await one[Symbol.asyncDispose]();
    expect(await readdir(folder)).toEqual([]);
  });

  test.for([
    ["of a process that is gone", { pid: 2 ** 22 + 1, birth: "1@x", since: "2026-01-01T00:00:00Z" }],
    [
      "of an earlier process with a pid that somebody else has now",
      { pid: process.pid, birth: "1@x", since: "2026-01-01T00:00:00Z" },
    ],
    ["that was cut short", undefined],
  ] as const)("a claim %s is taken over", async ([, claim]) => {
    await writeFile(join(folder, `${randomUUID()}.held`), claim === undefined ? '{"pid": 1' : JSON.stringify(claim));
    await using _lock = await lockDirectory(folder);
    expect(await readdir(folder)).toHaveLength(1);
  });
});
