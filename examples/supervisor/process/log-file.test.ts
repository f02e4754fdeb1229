import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ManualClock } from "homeostat";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { LogFile, type LogTarget } from "./log-file.ts";

const bytes = (text: string) => Buffer.from(text);

/** A disk with room for some bytes. */
class SmallDisk {
  room = 0;
  content = "";
  opened = 0;

  open = async (): Promise<LogTarget> => {
    this.opened += 1;
    return {
      stat: async () => ({ size: this.content.length }),
      write: async (chunk) => {
        if (this.room === 0)
          throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
        const written = Math.min(this.room, chunk.byteLength);
        this.room -= written;
        this.content += Buffer.from(chunk.subarray(0, written)).toString();
        return { bytesWritten: written };
      },
      close: async () => {},
    };
  };
}

describe("log file", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "log-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const open = (maxBytes: number, maxFiles: number) =>
    new LogFile(join(folder, "a.log"), { maxBytes, maxFiles }, { clock: new ManualClock(), onError: () => {} });
  const read = (name: string) => readFile(join(folder, name), "utf8");

  test("output is appended to what is there, and a full file makes room for a new one", async () => {
    {
      await using log = open(10, 2);
      await log.write(bytes("one\n"));
      await log.write(bytes("two\n"));
    }
    await using log = open(10, 2);
    await log.write(bytes("three\n"));
    expect(await read("a.log.1")).toBe("one\ntwo\n");
    expect(await read("a.log")).toBe("three\n");
  });

  test("no more files are kept than asked for, and none is larger than allowed", async () => {
    await using log = open(10, 2);
    for (let i = 0; i < 20; i++) await log.write(bytes(`line ${String(i).padStart(3, "0")}\n`));
    expect((await readdir(folder)).sort()).toEqual(["a.log", "a.log.1", "a.log.2"]);
    expect([await read("a.log.2"), await read("a.log.1"), await read("a.log")]).toEqual([
      "line 017\n",
      "line 018\n",
      "line 019\n",
    ]);
  });

  test("a chunk that is larger than a file goes over several", async () => {
    await using log = open(4, 9);
    await log.write(bytes("abcdefghij"));
    expect([await read("a.log.2"), await read("a.log.1"), await read("a.log")]).toEqual(["abcd", "efgh", "ij"]);
  });

  test("without older files, a full file is begun anew", async () => {
    await using log = open(4, 0);
    await log.write(bytes("abcd"));
    await log.write(bytes("ef"));
    expect(await read("a.log")).toBe("ef");
    expect(await readdir(folder)).toEqual(["a.log"]);
  });

  test("a full disk drops output and says so; when there is room again, the gap is noted", async () => {
    const clock = new ManualClock();
    const disk = new SmallDisk();
    const errors: (string | undefined)[] = [];
    await using log: LogFile = new LogFile(
      "a.log",
      { maxBytes: 1000, maxFiles: 1 },
      {
        clock,
        onError: () => errors.push(log.error),
        openTarget: disk.open,
      },
    );
    disk.room = 3;
    await log.write(bytes("12345"));
    expect(disk.content).toBe("123");
    expect(log.error).toContain("ENOSPC");
    // It is not tried again at once.
    await log.write(bytes("678"));
    expect(disk.opened).toBe(1);

    disk.room = 1000;
    await clock.advance(1_000);
    await log.write(bytes("next\n"));
    expect(disk.content).toBe(
      "123[supervisor: 5 bytes of output were lost: ENOSPC: no space left on device, write]\nnext\n",
    );
    expect(errors).toEqual([expect.stringContaining("ENOSPC"), undefined]);
  });

  test("a log that cannot be opened is no reason to fail", async () => {
    await using log = new LogFile(
      join(folder, "missing", "a.log"),
      { maxBytes: 1000, maxFiles: 1 },
      {
        clock: new ManualClock(),
        onError: () => {},
      },
    );
    await log.write(bytes("x"));
    expect(log.error).toContain("ENOENT");
  });
});
