import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { connect } from "homeostat/grpc";
import { describe, expect, test } from "vitest";

import { Service, ServiceStatus } from "./resources/index.ts";
import { SupervisorProgram } from "./testing/supervisor-program.ts";
import { ManifestFolder, serviceManifest, DEADLINE_MS, TIMEOUT_MS } from "./testing/supervisor-world.ts";

const SLEEP = ["sleep", "1000"];

/** Writes its pid again and again: two copies at once would be seen in the order of the lines. */
const BEAT = ["sh", "-c", "while :; do echo $$ >> beats; sleep 0.01; done"];

/** The pids of a file of beats, one entry for each stretch of equal ones. */
async function beatsIn(folder: ManifestFolder): Promise<string[]> {
  const lines = (await folder.read("beats").catch(() => "")).trim().split("\n");
  return lines.filter((line, i) => line !== lines[i - 1]);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Kills what a test has left, supervised or not. */
async function killAll(folder: ManifestFolder): Promise<void> {
  for (const { pid } of await folder.processes()) process.kill(pid, "SIGKILL");
  await expect.poll(() => folder.processes(), { timeout: DEADLINE_MS }).toEqual([]);
}

describe("supervisor program", { timeout: TIMEOUT_MS }, () => {
  test("the shipped manifests run a server and a worker, and Ctrl-C stops both and exits with 0", async () => {
    await using folder = await ManifestFolder.create();
    const here = import.meta.dirname;
    await cp(join(here, "programs"), join(folder.path, "programs"), { recursive: true });
    const manifests = join(folder.path, "manifests");
    await cp(join(here, "manifests"), manifests, {
      recursive: true,
      filter: (path) => !path.endsWith(".homeostat"),
    });
    const port = await freePort();
    const server = join(manifests, "server.yaml");
    await writeFile(server, (await readFile(server, "utf8")).replace("PORT: 28437", `PORT: ${port}`));

    await using program = new SupervisorProgram(manifests);
    await program.says(/server: ready \(pid \d+, healthy\)[^]*worker: ready/);
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect(await answer.text()).toMatch(/^Hello from a supervised server \(answer \d+\)\n$/);

    program.kill("SIGINT");
    expect(await program.ended()).toBe(0);
    expect(program.output).toMatch(/worker: removed[^]*server: removed[^]*all services have stopped/);
    expect(await folder.processes()).toEqual([]);
  });

  test("its state is served, so that others see it live and cannot change what a controller owns", async () => {
    await using folder = await ManifestFolder.create({ "a.yaml": serviceManifest("a", { command: SLEEP }) });
    const address = `unix:${join(folder.path, "socket")}`;
    await using program = new SupervisorProgram(folder.path, "--listen", address);
    await program.says(/homeostat -- get svc -w --endpoint unix:[^]*a: ready/);
    await using state = connect(address, { types: [Service, ServiceStatus] });
    expect((await state.get(ServiceStatus, "a")).spec.state).toBe("running");
    await expect(state.teardown(Service.ref("a"))).rejects.toThrow("ManifestController");
    await using otherFolder = await ManifestFolder.create();
    await using second = new SupervisorProgram(otherFolder.path, "--listen", address);
    expect(await second.ended()).toBe(1);
    expect(second.output).toContain("another server listens on it");
    program.kill("SIGINT");
    expect(await program.ended()).toBe(0);
  });

  test("after SIGKILL, the next supervisor stops what was left and starts it anew: never two copies", async () => {
    await using folder = await ManifestFolder.create({
      "a.yaml": serviceManifest("a", { command: BEAT }),
      "b.yaml": serviceManifest("b", { command: SLEEP, dependsOn: ["a"] }),
    });
    await using _cleanup = { [Symbol.asyncDispose]: () => killAll(folder) };
    let last: string[] = [];
    for (let round = 0; round < 3; round++) {
      await using program = new SupervisorProgram(folder.path);
      const [, pid = ""] = await program.says(/b: ready \(pid (\d+)\)/);
      expect((await folder.processes()).filter(({ service }) => service === "b")).toEqual([
        { service: "b", pid: Number(pid) },
      ]);
      await expect
        .poll(async () => (await beatsIn(folder)).length, { timeout: DEADLINE_MS })
        .toBeGreaterThan(last.length);
      last = await beatsIn(folder);
      program.kill("SIGKILL");
      expect(await program.ended()).toBe("SIGKILL");
      expect(await folder.processes()).not.toEqual([]);
    }
    await using program = new SupervisorProgram(folder.path);
    await program.says(/b: ready/);
    // In reverse order, although the supervisor that knew the order is dead.
    expect(program.output).toMatch(
      /b: stopping what a killed supervisor left[^]*a: stopping what a killed supervisor left/,
    );
    program.kill("SIGTERM");
    expect(await program.ended()).toBe(0);
    expect(await folder.processes()).toEqual([]);
    const beats = await beatsIn(folder);
    expect(new Set(beats).size).toBe(beats.length);
  });

  test("killed after whichever line, it never leaves two copies or an orphan behind", async () => {
    await using folder = await ManifestFolder.create({
      "a.yaml": serviceManifest("a", { command: BEAT }),
      "b.yaml": serviceManifest("b", { command: SLEEP, dependsOn: ["a"] }),
      "c.yaml": serviceManifest("c", { command: SLEEP, dependsOn: ["b"] }),
    });
    await using _cleanup = { [Symbol.asyncDispose]: () => killAll(folder) };
    for (let lines = 1; lines <= 6; lines++) {
      await using program = new SupervisorProgram(folder.path);
      await program.says(new RegExp(`(?:.*\n){${lines}}`));
      program.kill("SIGKILL");
      await program.ended();
    }
    await using program = new SupervisorProgram(folder.path);
    await program.says(/c: ready/);
    expect((await folder.processes()).map(({ service }) => service).filter((name) => name !== "a")).toEqual(["b", "c"]);
    program.kill("SIGTERM");
    expect(await program.ended()).toBe(0);
    expect(await folder.processes()).toEqual([]);
    const beats = await beatsIn(folder);
    expect(new Set(beats).size).toBe(beats.length);
  });

  test("a process that was started but not yet written down is found as well", async () => {
    await using folder = await ManifestFolder.create({ "a.yaml": serviceManifest("a", { command: SLEEP }) });
    await using _cleanup = { [Symbol.asyncDispose]: () => killAll(folder) };
    await using first = new SupervisorProgram(folder.path);
    await first.says(/a: ready/);
    first.kill("SIGKILL");
    await first.ended();
    const [orphan] = await folder.processes();
    await rm(join(folder.path, ".homeostat", "processes", "a.json"));
    // Nothing asks for it any more: it has to go all the same.
    await folder.remove("a.yaml");
    await using second = new SupervisorProgram(folder.path);
    await second.says(/keeping /);
    expect(second.output).toContain(`a: stopping what a killed supervisor left running (pid ${orphan?.pid})`);
    expect(await folder.processes()).toEqual([]);
    second.kill("SIGTERM");
    expect(await second.ended()).toBe(0);
  });

  test("a second supervisor of the same folder refuses, and the first one goes on", async () => {
    await using folder = await ManifestFolder.create({ "a.yaml": serviceManifest("a", { command: SLEEP }) });
    await using first = new SupervisorProgram(folder.path);
    await first.says(/a: ready/);
    await using second = new SupervisorProgram(folder.path);
    expect(await second.ended()).toBe(1);
    expect(second.output).toMatch(/another supervisor \(pid \d+, since .*\) keeps/);
    expect(await folder.processes()).toHaveLength(1);
    first.kill("SIGINT");
    expect(await first.ended()).toBe(0);
  });

  test("a second Ctrl-C kills what will not stop, and the exit code tells", async () => {
    await using folder = await ManifestFolder.create({
      "a.yaml": serviceManifest("a", {
        command: ["sh", "-c", "trap '' TERM; echo ready > up; while :; do sleep 0.05; done"],
        stopGraceMs: 600_000,
      }),
    });
    await using program = new SupervisorProgram(folder.path);
    await program.says(/a: ready/);
    await expect.poll(() => folder.read("up").catch(() => ""), { timeout: DEADLINE_MS }).toBe("ready\n");
    program.kill("SIGINT");
    await program.says(/a: stopping/);
    // The same key press, passed on by npm, is not a second one.
    program.kill("SIGINT");
    const again = setInterval(() => program.kill("SIGINT"), 100);
    try {
      await program.says(/killing all services/);
    } finally {
      clearInterval(again);
    }
    expect(await program.ended()).toBe(1);
    expect(await folder.processes()).toEqual([]);
  });

  test("a second Ctrl-C ends it even if its output is no longer read", async () => {
    await using folder = await ManifestFolder.create({
      "a.yaml": serviceManifest("a", {
        command: ["sh", "-c", "trap '' TERM; touch up; while :; do sleep 0.05; done"],
        stopGraceMs: 86_400_000,
      }),
      "b.yaml": Array.from({ length: 10 }, (_, i) =>
        serviceManifest(`b${i}`, { command: ["true"], backoff: { initialMs: 1, maxMs: 1 } }),
      ).join(""),
    });
    await using _cleanup = { [Symbol.asyncDispose]: () => killAll(folder) };
    const main = join(import.meta.dirname, "main.ts");
    const script = `exec "$0" --conditions=source ${main} ${folder.path} --listen none --log-level debug 2>&1`;
    const child = spawn("/bin/sh", ["-c", script, process.execPath], { stdio: ["ignore", "pipe", "ignore"] });
    const ended = once(child, "exit");
    // What a pipe holds, and then nothing more.
    child.stdout.once("readable", () => {});
    await expect.poll(() => folder.read("up").catch(() => undefined), { timeout: DEADLINE_MS }).toBe("");
    await sleep(2_000);
    child.kill("SIGINT");
    await sleep(700);
    child.kill("SIGINT");
    const late = setTimeout(() => child.kill("SIGKILL"), DEADLINE_MS);
    expect(await ended).toEqual([1, null]);
    clearTimeout(late);
    child.stdout.destroy();
    expect(await folder.processes()).toEqual([]);
  });

  test("--help explains, and a mistake in the command line is told with exit code 2", async () => {
    await using help = new SupervisorProgram("--help");
    expect(await help.ended()).toBe(0);
    expect(help.output).toContain("Usage: npm start -- [folder] [options]");
    await using wrong = new SupervisorProgram("--frob");
    expect(await wrong.ended()).toBe(2);
    expect(wrong.output).toContain("--frob");
    await using nowhere = new SupervisorProgram("/does/not/exist");
    expect(await nowhere.ended()).toBe(1);
    expect(nowhere.output).toContain("there is no folder /does/not/exist");
  });
});
