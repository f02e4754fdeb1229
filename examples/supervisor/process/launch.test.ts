import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";

import { describe, expect, test, vi } from "vitest";

import { launch } from "./launch.ts";
import { findMarked, newMark } from "./mark.ts";
import { HAS_PROC } from "./processes.ts";

const RECORDS = "/launch-test";

/** What a command writes, from its release to its end. */
async function outputOf(command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const mark = newMark(RECORDS, "a");
  const { child, exited, release } = await launch(command, { cwd: tmpdir(), env, mark });
  release();
  const output = await text(child.stdout as Readable);
  await exited;
  for (const stream of child.stdio) stream?.destroy();
  return output;
}

describe("launch", () => {
  test("nothing of the command happens before its release, and without one it ends", async () => {
    const { child, exited } = await launch(["sh", "-c", "echo begun"], {
      cwd: tmpdir(),
      env: {},
      mark: newMark(RECORDS, "a"),
    });
    const output = text(child.stdout as Readable);
    // As when the supervisor dies.
    child.stdio[3]?.destroy();
    expect(await exited).toEqual({ code: 125, signal: undefined });
    expect(await output).toBe("");
    for (const stream of child.stdio) stream?.destroy();
  });

  test("the command has the pid of the process that waited, and nothing of its control", async () => {
    const mark = newMark(RECORDS, "a");
    const script = "echo $$; (: <&3) 2> /dev/null || echo closed";
    const { child, pid, exited, release } = await launch(["sh", "-c", script], { cwd: "/", env: {}, mark });
    release();
    expect(await text(child.stdout as Readable)).toBe(`${pid}\nclosed\n`);
    await exited;
    for (const stream of child.stdio) stream?.destroy();
  });

  test("arguments and variables come as they are, variables that no shell knows included; those of npm do not", async () => {
    vi.stubEnv("npm_config_x", "1");
    vi.stubEnv("NPM_TOKEN_X", "1");
    vi.stubEnv("dotted.name", "a b");
    try {
      expect(await outputOf(["printf", "%s|", "a b", "$HOME", "'\"", "-n"])).toBe("a b|$HOME|'\"|-n|");
      const variables = (await outputOf(["env"], { MINE: "x\ny" })).split("\n");
      expect(variables).toContain("dotted.name=a b");
      expect(variables.join("\n")).toContain("MINE=x\ny");
      expect(variables.filter((line) => /^(?:npm_|INIT_CWD)/i.test(line))).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test.runIf(HAS_PROC)(
    "its mark is found on all that it starts, in another session with an empty environment too",
    async () => {
      const mark = newMark(RECORDS, "a");
      const script = "env -i setsid sleep 1000 & env -i sh -c 'exec sleep 1000' & wait";
      const { child, pid, release } = await launch(["sh", "-c", script], { cwd: "/", env: {}, mark });
      release();
      const marked = async () => (await findMarked(RECORDS)).filter(({ number }) => number === mark.number);
      try {
        await expect.poll(async () => (await marked()).length).toBe(3);
        expect((await marked()).find((one) => one.pid === pid)?.service).toBe("a");
        expect(await findMarked("/another-supervisor")).toEqual([]);
      } finally {
        for (const one of await marked()) process.kill(one.pid, "SIGKILL");
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
        for (const stream of child.stdio) stream?.destroy();
      }
    },
  );

  test.runIf(HAS_PROC && existsSync("/usr/bin/prlimit"))(
    "where the system refuses the mark, it says so, and the environment still carries it",
    () => {
      const here = (file: string) => JSON.stringify(join(import.meta.dirname, file));
      const script = `
        const { launch } = await import(${here("launch.ts")});
        const { findMarked, newMark } = await import(${here("mark.ts")});
        const mark = newMark("/refused-test", "b");
        const { pid, exited, unmarked, release } = await launch(["sleep", "1000"], { cwd: "/", env: {}, mark });
        release();
        const refused = await unmarked;
        const found = await findMarked("/refused-test");
        process.kill(pid, "SIGKILL");
        await exited;
        console.log(refused, found.length, found[0]?.service, found[0]?.number === mark.number);
        process.exit();`;
      const args = ["--locks=0:0", process.execPath, "--input-type=module", "-e", script];
      expect(execFileSync("prlimit", args, { encoding: "utf8" })).toBe("true 1 b true\n");
    },
  );
});
