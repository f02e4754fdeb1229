import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { findStartProblem } from "./start-problem.ts";

describe("what keeps a command from being started", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "start-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const script = async (name: string, firstLine: string, mode = 0o755) => {
    await writeFile(join(folder, name), `${firstLine}\n`);
    await chmod(join(folder, name), mode);
    return findStartProblem([`./${name}`], folder, "/usr/bin:/bin");
  };

  test("nothing, for what can be", async () => {
    expect(await findStartProblem(["true"], folder, "/usr/bin:/bin")).toBeUndefined();
    expect(await script("plain", "#!/bin/sh")).toBeUndefined();
    expect(await script("env", "#!/usr/bin/env -S sh -e")).toBeUndefined();
    expect(await script("env", "#!/usr/bin/env sh")).toBeUndefined();
    expect(await script("none", "exit 0")).toBeUndefined();
  });

  test("the one thing that is wrong: folder, program, interpreter", async () => {
    const problem = (command: string[], cwd = folder) => findStartProblem(command, cwd, "/usr/bin:/bin");
    expect(await problem(["true"], "/nowhere")).toBe('cannot start "true": there is no folder /nowhere');
    expect(await problem(["true"], "/etc/passwd")).toBe('cannot start "true": /etc/passwd is not a folder');
    expect(await problem(["nope"])).toBe('cannot start "nope": there is no such program on the PATH');
    expect(await problem(["./nope"])).toBe('cannot start "./nope": there is no such file');
    await mkdir(join(folder, "sub"));
    expect(await problem(["./sub"])).toBe(`cannot start "./sub": ${folder}/sub is not a file`);
    await symlink("nowhere", join(folder, "dangling"));
    expect(await problem(["./dangling"])).toBe('cannot start "./dangling": there is no such file');
    expect(await script("locked", "#!/bin/sh", 0o644)).toBe(
      `cannot start "./locked": ${folder}/locked is not executable`,
    );
    expect(await script("old", "#!/opt/old/sh")).toBe(
      'cannot start "./old": its interpreter /opt/old/sh cannot be run',
    );
    expect(await script("env", "#!/usr/bin/env nope")).toBe(
      'cannot start "./env": its interpreter nope is not on the PATH',
    );
  });

  test("one word in place of a list is taken apart", async () => {
    expect(await findStartProblem(["node web.js"], folder, "/usr/bin:/bin")).toBe(
      'cannot start "node web.js": there is no such program on the PATH; each argument is an item of its own: [node, web.js]',
    );
  });
});
