import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ManualClock } from "homeostat";
import { SystemClock } from "homeostat/clock";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { FolderReader } from "./folder-reader.ts";

describe("folder of manifests", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "manifests-"));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const readFolder = (path: string) => new FolderReader(path, new SystemClock()).read();

  test("YAML files count by name; hidden files, others and folders do not", async () => {
    for (const name of ["b.yml", "a.yaml", ".draft.yaml", "notes.txt", "a.yaml~"])
      await writeFile(join(folder, name), name);
    await mkdir(join(folder, "sub"));
    await writeFile(join(folder, "sub", "c.yaml"), "");
    expect(await readFolder(folder)).toEqual([
      { name: "a.yaml", text: "a.yaml" },
      { name: "b.yml", text: "b.yml" },
    ]);
  });

  test("what cannot be read is told, one file at a time", async () => {
    await mkdir(join(folder, "folder.yaml"));
    await writeFile(join(folder, "binary.yaml"), Buffer.from([0xff, 0xfe, 0x00]));
    await writeFile(join(folder, "good.yaml"), "");
    await writeFile(join(folder, "huge.yaml"), Buffer.alloc(5_000_000, "#"));
    expect(await readFolder(folder)).toMatchObject([
      { name: "binary.yaml", error: "is not valid UTF-8 text" },
      { name: "folder.yaml", error: "is a folder, not a regular file" },
      { name: "good.yaml", text: "" },
      { name: "huge.yaml", error: expect.stringContaining("more than the") },
    ]);
  });

  test("a folder that is not there is an error", async () => {
    await expect(readFolder(join(folder, "missing"))).rejects.toThrow("ENOENT");
  });

  test("FIFOs, devices, sockets and symbolic links that lead nowhere or to such are named, and hold up nothing", async () => {
    execFileSync("mkfifo", [join(folder, "fifo.yaml")]);
    await symlink("/dev/zero", join(folder, "device.yaml"));
    await symlink("fifo.yaml", join(folder, "to-fifo.yaml"));
    await symlink("nowhere", join(folder, "dangling.yaml"));
    await symlink("loop.yaml", join(folder, "loop.yaml"));
    await writeFile(join(folder, "target"), "good");
    await symlink("target", join(folder, "link.yaml"));
    expect(await readFolder(folder)).toEqual([
      { name: "dangling.yaml", error: "is a symbolic link to nowhere, which does not exist" },
      { name: "device.yaml", error: "is a device, not a regular file" },
      { name: "fifo.yaml", error: "is a FIFO, not a regular file" },
      { name: "link.yaml", text: "good" },
      { name: "loop.yaml", error: expect.stringContaining("ELOOP") },
      { name: "to-fifo.yaml", error: "is a FIFO, not a regular file" },
    ]);
  });

  test("a symbolic link that is switched is another content, and a change", async () => {
    for (const version of ["v1", "v2"]) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, "a.yaml"), version);
    }
    await symlink("v1", join(folder, "current"));
    const reader = new FolderReader(join(folder, "current"), new SystemClock());
    expect(await reader.changed()).toBe(true);
    expect(await reader.read()).toEqual([{ name: "a.yaml", text: "v1" }]);
    expect(await reader.changed()).toBe(false);
    await symlink("v2", join(folder, "next"));
    await rename(join(folder, "next"), join(folder, "current"));
    expect(await reader.changed()).toBe(true);
    expect(await reader.read()).toEqual([{ name: "a.yaml", text: "v2" }]);
  });

  test("a file that is written in several steps is one change, when it is complete", async () => {
    const clock = new ManualClock();
    const reader = new FolderReader(folder, clock);
    const path = join(folder, "a.yaml");
    await writeFile(path, "a: 1");
    expect(await reader.changed()).toBe(true);
    await writeFile(path, "");
    const changed = reader.changed();
    await expect.poll(() => clock.nextInMs).toBe(50);
    await writeFile(path, "a: 23");
    await clock.advance(50);
    await expect.poll(() => clock.nextInMs).toBe(50);
    await clock.advance(50);
    expect(await changed).toBe(true);
    expect(await reader.read()).toEqual([{ name: "a.yaml", text: "a: 23" }]);
    expect(await reader.changed()).toBe(false);
  });

  test("a folder that never gets quiet is read all the same", async () => {
    const clock = new ManualClock();
    const reader = new FolderReader(folder, clock);
    const path = join(folder, "a.yaml");
    await writeFile(path, "");
    expect(await reader.changed()).toBe(true);
    let ended = false;
    await writeFile(path, "#");
    const changed = reader.changed().finally(() => (ended = true));
    for (let size = 2; !ended; size++) {
      await expect.poll(() => ended || clock.nextInMs === 50).toBe(true);
      await writeFile(path, "#".repeat(size));
      if (!ended) await clock.advance(50);
    }
    expect(await changed).toBe(true);
    expect(clock.monotonic()).toBe(300);
  });

  test("an empty folder in the place of one with manifests declares nothing; emptying it does", async () => {
    const path = join(folder, "manifests");
    await mkdir(path);
    await writeFile(join(path, "a.yaml"), "");
    const reader = new FolderReader(path, new SystemClock());
    await reader.read();
    await rename(path, `${path}-moved`);
    await expect(reader.read()).rejects.toThrow("ENOENT");
    await mkdir(path);
    await expect(reader.read()).rejects.toThrow("was replaced by a folder without manifests");
    await rm(path, { recursive: true });
    await rename(`${path}-moved`, path);
    expect(await reader.read()).toHaveLength(1);
    await rm(join(path, "a.yaml"));
    expect(await reader.read()).toEqual([]);
  });

  test("what does not respond is given up in time, asked no second time meanwhile, and leaves threads to others", async () => {
    for (const name of ["a", "b", "c", "d"]) await writeFile(join(folder, `${name}.yaml`), name);
    const clock = new ManualClock();
    const asked: string[] = [];
    const stalled = Promise.withResolvers<undefined>();
    const reader = new FolderReader(folder, clock, (path) => {
      asked.push(path.slice(folder.length + 1));
      return path.endsWith("d.yaml") ? Promise.resolve({ text: "d" }) : stalled.promise;
    });
    const reading = reader.read();
    await expect.poll(() => asked).toEqual(["a.yaml"]);
    await clock.advance(2_000);
    await expect.poll(() => asked).toEqual(["a.yaml", "b.yaml"]);
    await clock.advance(2_000);
    const late = "does not respond within 2000 ms";
    const files = [
      { name: "a.yaml", error: late },
      { name: "b.yaml", error: late },
      { name: "c.yaml", error: "is not read as long as others do not respond" },
      { name: "d.yaml", error: "is not read as long as others do not respond" },
    ];
    expect(await reading).toEqual(files);
    expect(await reader.read()).toEqual(files);
    expect(asked).toEqual(["a.yaml", "b.yaml"]);
    stalled.resolve(undefined);
    await Promise.resolve();
    expect((await reader.read()).at(-1)).toEqual({ name: "d.yaml", text: "d" });
    expect(asked.slice(2)).toEqual(["a.yaml", "b.yaml", "c.yaml", "d.yaml"]);
  });
});
