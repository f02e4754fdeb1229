import { execFileSync } from "node:child_process";
import { copyFile, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { HAS_PROC } from "./process/processes.ts";
import { SupervisorProgram } from "./testing/supervisor-program.ts";
import { DEADLINE_MS, ManifestFolder, serviceManifest } from "./testing/supervisor-world.ts";

/** `npm run soak:kill` asks for 300. */
const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 20);

const has = (program: string): boolean => {
  try {
    return execFileSync("/bin/sh", ["-c", `command -v ${program}`]).length > 0;
  } catch {
    return false;
  }
};

const REDIS_FOREGROUND = "--port 0 --unixsocket s1 --save '' --daemonize no --set-proc-title yes".split(" ");
const REDIS_DAEMON = "--port 0 --unixsocket s2 --save '' --daemonize yes --set-proc-title yes".split(" ");
const NGINX =
  "daemon off; pid nginx.pid; error_log stderr; events {} http { access_log off; server { listen unix:ngx.sock; } }";
const unquote = (words: readonly string[]) => words.map((word) => (word === "''" ? "" : word));

/** Programs that hide from those who look at arguments, environment, parent, session or group. */
const HIDING: Readonly<Record<string, readonly string[]>> = {
  ...(has("perl") && {
    title: ["perl", "title-changer.pl"],
    daemon: ["perl", "title-changer.pl", "daemon"],
  }),
  node: [process.execPath, "-e", "process.title = 'x'.repeat(5000); setInterval(() => {}, 1000)"],
  ...(has("redis-server") && {
    redis: ["redis-server", ...unquote(REDIS_FOREGROUND)],
    // Its first process ends at once and leaves the daemon behind.
    "redis-daemon": ["redis-server", ...unquote(REDIS_DAEMON)],
  }),
  ...(has("nginx") && { nginx: ["nginx", "-p", ".", "-c", "nginx.conf"] }),
};

/** Every process that works in the folder, whatever its name and parent. */
async function processesIn(folder: ManifestFolder): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
      const name = (await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")).trim();
      return cwd === folder.path && name !== "" ? [`${name} ${pid}`] : [];
    }),
  );
  return found.flat();
}

describe.runIf(HAS_PROC)("kill -9 of the supervisor", { timeout: 60_000 + ROUNDS * 10_000 }, () => {
  test(`leaves neither orphans nor two copies, at whichever moment: ${ROUNDS} rounds with ${Object.keys(HIDING).join(", ")}`, async () => {
    await using folder = await ManifestFolder.create({
      "a.yaml": Object.entries(HIDING)
        .map(([name, command]) => serviceManifest(name, { command, stopGraceMs: 5_000, backoff: { maxMs: 200 } }))
        .join(""),
    });
    await copyFile(join(import.meta.dirname, "testing", "title-changer.pl"), join(folder.path, "title-changer.pl"));
    await folder.write("nginx.conf", NGINX);
    await using _cleanup = {
      [Symbol.asyncDispose]: async () => {
        for (const one of await processesIn(folder)) process.kill(Number(one.split(" ")[1]), "SIGKILL");
      },
    };
    for (let round = 0; round < ROUNDS; round++) {
      await using program = new SupervisorProgram(folder.path);
      // From before the first process to some time after the last one, a little later each round.
      if (round % 4 !== 0) await program.says(/keeping/);
      await new Promise((resolve) => setTimeout(resolve, (round * 37) % 400));
      program.kill("SIGKILL");
      await program.ended();
    }
    await using program = new SupervisorProgram(folder.path);
    await program.says(/keeping/);
    for (const name of Object.keys(HIDING)) await program.says(new RegExp(` ${name}: (?:ready|exited with code 0)`));
    // Of each kind as many as one copy has: two redis, and nginx with its worker.
    const most = async () => {
      const names = (await processesIn(folder)).map((one) => one.split(/[ -]/, 1)[0]);
      return Math.max(...["redis", "nginx"].map((kind) => names.filter((name) => name === kind).length));
    };
    // A second copy would last, and what is on its way out would not.
    await expect.poll(most, { timeout: DEADLINE_MS }).toBeLessThanOrEqual(2);
    program.kill("SIGTERM");
    expect(await program.ended()).toBe(0);
    expect(await processesIn(folder)).toEqual([]);

    // Two copies of one script at once would take turns.
    for (const file of ["beats-title", "beats-daemon"]) {
      const beats = (await folder.read(file).catch(() => "")).trim().split("\n");
      const stretches = beats.filter((pid, i) => pid !== beats[i - 1]);
      expect(new Set(stretches).size).toBe(stretches.length);
    }
  });
});
