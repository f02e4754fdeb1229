import { spawn } from "node:child_process";
import { once } from "node:events";

import { describe, expect, test } from "vitest";

import { groupMembers, inspectProcess, listProcesses, listThroughPs, membersAmong } from "./processes.ts";

async function withSleeper(fn: (pid: number) => Promise<void>): Promise<void> {
  const child = spawn("sleep", ["1000"], {
    detached: true,
    stdio: "ignore",
  });
  await once(child, "spawn");
  try {
    await fn(child.pid ?? 0);
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
}

describe("processes", () => {
  test("a process has a birth that stays the same, and is unknown when it is gone", async () => {
    let pid = 0;
    await withSleeper(async (sleeper) => {
      pid = sleeper;
      const info = await inspectProcess(pid);
      expect(info).toMatchObject({ pid, group: pid });
      expect(await inspectProcess(pid)).toEqual(info);
      expect((await inspectProcess(process.pid))?.birth).not.toBe(info?.birth);
      expect(await listProcesses()).toContainEqual(info);
      expect(await groupMembers(pid, undefined)).toEqual([info]);
    });
    expect(await inspectProcess(pid)).toBeUndefined();
    expect(await groupMembers(pid, undefined)).toEqual([]);
  });

  test("a group whose number another process has now has no members", () => {
    const member = { pid: 11, group: 10, birth: "2" };
    const leader = { pid: 10, group: 10, birth: "1" };
    const other = { pid: 12, group: 12, birth: "3" };
    expect(membersAmong([member, other], 10, "1")).toEqual([member]);
    expect(membersAmong([leader, member, other], 10, "1")).toEqual([leader, member]);
    expect(membersAmong([leader, member, other], 10, "0")).toEqual([]);
  });
});

describe("processes through ps", () => {
  test("a process is found with its group and a birth that stays the same", async () => {
    const [own, ...others] = await listThroughPs(["-p", String(process.pid)]);
    expect(others).toEqual([]);
    expect(own).toMatchObject({ pid: process.pid, group: (await inspectProcess(process.pid))?.group });
    expect(own?.birth).toMatch(/^\w{3} \w{3} \d{1,2} \d\d:\d\d:\d\d \d{4}$/);
    expect(await listThroughPs(["-A"])).toContainEqual(own);
  });

  test("a process that is not there is no error", async () => {
    expect(await listThroughPs(["-p", "4194303"])).toEqual([]);
  });
});
