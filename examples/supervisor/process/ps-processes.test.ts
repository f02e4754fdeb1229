import { describe, expect, test } from "vitest";

import { inspectProcess } from "./processes.ts";
import { listThroughPs } from "./ps-processes.ts";

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
