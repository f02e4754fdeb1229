import { spawn } from "node:child_process";
import { once } from "node:events";
import { platform } from "node:os";

import { describe, expect, test } from "vitest";

import { findByEnvironment, groupMembers, inspectProcess, listProcesses } from "./processes.ts";

async function withSleeper(fn: (pid: number) => Promise<void>): Promise<void> {
  const child = spawn("sleep", ["1000"], {
    detached: true,
    stdio: "ignore",
    env: { ...process.env, SUPERVISOR_TEST: "a=b c" },
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
      expect(await groupMembers(pid)).toEqual([info]);
    });
    expect(await inspectProcess(pid)).toBeUndefined();
    expect(await groupMembers(pid)).toEqual([]);
  });

  test.runIf(platform() === "linux")("processes are found by a variable that they were started with", async () => {
    await withSleeper(async (pid) => {
      // What `spawn` returns may still be the copy of this process, before it becomes the program.
      await expect
        .poll(() => findByEnvironment("SUPERVISOR_TEST"), { timeout: 30_000 })
        .toMatchObject([{ pid, value: "a=b c" }]);
      expect(await findByEnvironment("SUPERVISOR_TES")).toEqual([]);
    });
  });
});
