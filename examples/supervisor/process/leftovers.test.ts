import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { stopLeftovers } from "./leftovers.ts";
import { encodeMarker, MARKER } from "./marker.ts";
import { inspectProcess } from "./processes.ts";
import { ProcessRecords, type ProcessRecord } from "./process-records.ts";

describe("leftovers", () => {
  let records = new ProcessRecords("");
  let children: ChildProcess[] = [];
  beforeEach(async () => {
    records = new ProcessRecords(await mkdtemp(join(tmpdir(), "leftovers-")));
  });
  afterEach(async () => {
    for (const child of children) child.kill("SIGKILL");
    children = [];
    await rm(records.folder, { recursive: true });
  });

  const start = async (script: string, marker?: { records: string; service: string }): Promise<number> => {
    const env = marker === undefined ? {} : { [MARKER]: encodeMarker({ ...marker, token: "t" }) };
    const child = spawn("sh", ["-c", script], { detached: true, stdio: "ignore", env: { ...process.env, ...env } });
    children.push(child);
    await once(child, "spawn");
    return child.pid ?? 0;
  };
  const record = async (service: string, pid: number, other: Partial<ProcessRecord> = {}): Promise<void> => {
    const birth = (await inspectProcess(pid))?.birth ?? "";
    await records.write({
      service,
      pid,
      birth,
      token: "t",
      dependsOn: [],
      stopSignal: "SIGTERM",
      stopGraceMs: 10_000,
      ...other,
    });
  };
  const stop = async (force?: AbortSignal): Promise<string[]> => {
    const found: string[] = [];
    await stopLeftovers(records, { onFound: ({ service }) => found.push(service), force });
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

  test("a record whose pid belongs to another process now touches nobody", async () => {
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

  test("what ignores the signal is killed after its grace time, or at once when there is no patience left", async () => {
    const stubborn = "trap '' TERM; while :; do sleep 0.02; done";
    await record("a", await start(stubborn), { stopGraceMs: 100 });
    expect(await stop()).toEqual(["a"]);
    await record("b", await start(stubborn), { stopGraceMs: 600_000 });
    expect(await stop(AbortSignal.abort())).toEqual(["b"]);
  });

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
