import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { launch } from "./launch.ts";
import { findMarked, newMark } from "./mark.ts";
import { stopOrphans } from "./orphans.ts";
import { inspectProcess } from "./processes.ts";
import { ProcessRecords, type ProcessRecord } from "./process-records.ts";

describe("orphans", () => {
  let records = new ProcessRecords("");
  let children: ChildProcess[] = [];
  beforeEach(async () => {
    records = new ProcessRecords(await mkdtemp(join(tmpdir(), "orphans-")));
  });
  afterEach(async () => {
    for (const child of children) child.kill("SIGKILL");
    children = [];
    await rm(records.folder, { recursive: true });
  });

  /** Starts a shell with the mark of a supervisor, or without any. */
  const start = async (script: string, marked?: { records: string; service: string }): Promise<number> => {
    const command = ["sh", "-c", script];
    if (marked === undefined) {
      const child = spawn("sh", ["-c", script], { detached: true, stdio: "ignore" });
      children.push(child);
      await once(child, "spawn");
      return child.pid ?? 0;
    }
    const mark = newMark(marked.records, marked.service);
    const { child, pid, release } = await launch(command, { cwd: "/", env: {}, mark });
    children.push(child);
    release();
    for (const stream of child.stdio.slice(1, 3)) (stream as Readable).resume();
    return pid;
  };
  const record = async (service: string, pid: number, other: Partial<ProcessRecord> = {}): Promise<void> => {
    const birth = (await inspectProcess(pid))?.birth ?? "";
    const policy = { dependsOn: [], stopSignal: "SIGTERM", stopGraceMs: 10_000 };
    await records.write({ service, pid, birth, mark: "0", ...policy, ...other });
  };
  const stop = async (force?: AbortSignal): Promise<string[]> => {
    const found: string[] = [];
    const onUncertain = ({ service }: { readonly service: string }) => found.push(`${service}?`);
    await stopOrphans(records, { onFound: ({ service }) => found.push(service), onUncertain, force });
    return found;
  };

  test("what was written down is stopped, dependants first, and the records are gone", async () => {
    const db = await start("exec sleep 1000");
    const web = await start("exec sleep 1000");
    await record("db", db);
    await record("web", web, { dependsOn: ["db"] });
    expect(await stop()).toEqual(["web", "db"]);
    expect(await inspectProcess(db)).toBeUndefined();
    expect(await inspectProcess(web)).toBeUndefined();
    expect(await readdir(records.folder)).toEqual([]);
  });

  test("a record whose pid belongs to another process now harms no process, its group neither", async () => {
    const innocent = await start("exec sleep 1000");
    await record("a", innocent, { birth: "1@another-boot" });
    expect(await stop()).toEqual([]);
    expect(await inspectProcess(innocent)).toBeDefined();
    expect(await readdir(records.folder)).toEqual([]);
  });

  test("processes of another supervisor are left alone", async () => {
    const other = await start("exec sleep 1000", { records: "/another/folder", service: "a" });
    expect(await stop()).toEqual([]);
    expect(await inspectProcess(other)).toBeDefined();
  });

  test("what ignores the signal is killed after its grace time, or at once when forced", async () => {
    const stubborn = "trap '' TERM; while :; do sleep 0.02; done";
    await record("a", await start(stubborn), { stopGraceMs: 100 });
    expect(await stop()).toEqual(["a"]);
    await record("b", await start(stubborn), { stopGraceMs: 600_000 });
    expect(await stop(AbortSignal.abort())).toEqual(["b"]);
  });

  test("a group without its first process may be another one's: it is named and left alone", async () => {
    const marker = join(records.folder, "child");
    const leader = await start(`sleep 1000 & echo $! > ${marker}; exec sleep 0.05`);
    await record("a", leader);
    await expect.poll(() => inspectProcess(leader)).toBeUndefined();
    const child = Number(await readFile(marker, "utf8"));
    try {
      expect(await stop()).toEqual(["a?"]);
      expect(await inspectProcess(child)).toBeDefined();
    } finally {
      process.kill(child, "SIGKILL");
    }
  });

  test.runIf(platform() === "linux")(
    "an orphan is found by its mark alone, halted or not, whatever it did to itself",
    async () => {
      const overwrites = `exec perl -e '$0 = "x" x 5000; sleep 1000'`;
      const daemon = `exec perl -e 'use POSIX; $0 = "x" x 5000; fork && exit; setsid(); fork && exit; $0 = "d"; close STDOUT; close STDERR; sleep 1000'`;
      const halted = "kill -STOP $$; sleep 1000";
      for (const script of [overwrites, daemon, halted]) {
        await start(script, { records: records.folder, service: "a" });
        await expect.poll(async () => (await findMarked(records.folder)).length).toBeGreaterThan(0);
        // It may still be on the way to what it becomes.
        await new Promise((resolve) => setTimeout(resolve, 200));
        expect(await stop()).toEqual([expect.stringMatching(/^a( service with the mark \d+)?$/)]);
        expect(await findMarked(records.folder)).toEqual([]);
      }
    },
  );

  test("records that depend on each other in a circle are all stopped", async () => {
    await record("a", await start("exec sleep 1000"), { dependsOn: ["b"] });
    await record("b", await start("exec sleep 1000"), { dependsOn: ["a"] });
    expect((await stop()).sort()).toEqual(["a", "b"]);
  });

  test("a record that was cut short is dropped", async () => {
    await writeFile(join(records.folder, "a.json"), '{"service": "a", "pid":');
    await writeFile(join(records.folder, "b.json"), '{"service": "b"}');
    expect(await stop()).toEqual([]);
    expect(await readdir(records.folder)).toEqual([]);
  });
});
