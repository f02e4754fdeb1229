import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { readFolder } from "./read-folder.ts";

describe("folder of manifests", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "manifests-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

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
      { name: "binary.yaml", error: expect.stringContaining("not valid") },
      { name: "folder.yaml", error: expect.stringContaining("EISDIR") },
      { name: "good.yaml", text: "" },
      { name: "huge.yaml", error: expect.stringContaining("more than the") },
    ]);
  });

  test("a folder that is not there is an error", async () => {
    await expect(readFolder(join(folder, "missing"))).rejects.toThrow("ENOENT");
  });
});
