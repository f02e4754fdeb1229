import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { childEnvironment } from "./child-environment.ts";

import { authority, serverCertificate, serverKey } from "./grpc-transport/certificates.ts";

const ROOT = resolve(import.meta.dirname, "..");
const CLI = ["--conditions=source", join(ROOT, "src", "cli.ts")];

let folder: string;
let socket: string;
const children = new Set<ChildProcess>();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "homeostat-process-"));
  socket = `unix:${join(folder, "s")}`;
});

afterEach(async () => {
  for (const child of children) {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  children.clear();
  await rm(folder, { recursive: true, force: true });
});

class Running {
  readonly child: ChildProcess;
  stdout = "";
  stderr = "";
  readonly end: Promise<number | NodeJS.Signals | null>;
  #listeners: (() => void)[] = [];

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [...CLI, ...args], {
      cwd: folder,
      env: childEnvironment({ XDG_RUNTIME_DIR: folder, ...env }),
      stdio: ["pipe", "pipe", "pipe"],
    });
    children.add(this.child);
    this.child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      this.stdout += chunk;
      for (const listener of this.#listeners) listener();
    });
    this.child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.stderr += chunk;
      for (const listener of this.#listeners) listener();
    });
    this.end = once(this.child, "close").then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals | null);
  }

  /** Resolves as soon as it has written this, anywhere. */
  async wrote(part: string): Promise<void> {
    const has = (): boolean => `${this.stdout}${this.stderr}`.includes(part);
    if (has()) return;
    const { promise, resolve: found } = Promise.withResolvers<void>();
    this.#listeners.push(() => has() && found());
    const ended = this.end.then((code) => {
      if (!has()) throw new Error(`ended with ${code} before it wrote ${part}: ${this.stdout}${this.stderr}`);
    });
    await Promise.race([promise, ended]);
  }
}

interface Outcome {
  readonly code: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(args: readonly string[], input = "", env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  const running = new Running(args, env);
  running.child.stdin?.end(input);
  const code = await running.end;
  return { code, stdout: running.stdout, stderr: running.stderr };
}

const at = (line: string, input?: string): Promise<Outcome> => run([...line.split(" "), "--endpoint", socket], input);

async function serving(...more: readonly string[]): Promise<Running> {
  const server = new Running(["serve", "--state", "memory", "--listen", socket, ...more]);
  await server.wrote("serving memory at");
  return server;
}

const GUEST = "metadata: { type: Guests.hotel.example, id: ada, labels: { floor: '1' } }\nspec: { room: 7 }\n";

describe("serve, and commands on the other side of a socket", () => {
  test("a resource from its manifest to its end", async () => {
    const server = await serving();
    expect(await at("apply -f -", GUEST)).toEqual({
      code: 0,
      stdout: "Guests.hotel.example/ada created\n",
      stderr: "",
    });
    expect((await at("get Guests.hotel.example -o jsonpath={.spec.room}")).stdout).toBe("7\n");
    expect((await at("delete Guests.hotel.example ada")).stdout).toContain("deleted");
    expect(await at("get Guests.hotel.example ada")).toMatchObject({ code: 3, stdout: "" });
    server.child.kill("SIGINT");
    expect(await server.end).toBe(0);
    await expect(stat(join(folder, "s"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("a watch shows changes until Ctrl-C, and SIGTERM ends it as well", async () => {
    await serving();
    const watch = new Running(["watch", "Guests.hotel.example", "--endpoint", socket]);
    await watch.wrote("waiting");
    await at("apply -f -", GUEST);
    await watch.wrote("ada");
    watch.child.kill("SIGINT");
    expect(await watch.end).toBe(130);
    expect(watch.stdout).toMatch(/^\* +NAMESPACE.*\n\+ +default +Guests +ada +1\n$/);
    const other = new Running(["watch", "Guests.hotel.example", "--endpoint", socket]);
    await other.wrote("ada");
    other.child.kill("SIGTERM");
    expect(await other.end).toBe(143);
  });

  test("a reader that goes away ends a watch quietly", async () => {
    await serving();
    await at("apply -f -", GUEST);
    const watch = new Running(["watch", "Guests.hotel.example", "-o", "name", "--endpoint", socket]);
    await watch.wrote("ada");
    watch.child.stdout?.destroy();
    await at("label Guests.hotel.example ada a=1");
    expect(await watch.end).toBe(0);
    expect(watch.stderr).toBe("");
  });

  test("a reader of a long list that goes away ends it quietly; one of notes is not missed", async () => {
    await serving();
    const many = Array.from({ length: 300 }, (_, i) =>
      GUEST.replace("id: ada", `id: guest-${i}`).replace("room: 7", `room: ${"x".repeat(1000)}`),
    );
    expect((await at("apply -f -", many.join("---\n"))).code).toBe(0);
    const list = new Running(["get", "Guests.hotel.example", "-o", "yaml", "--endpoint", socket]);
    await list.wrote("metadata:");
    list.child.stdout?.destroy();
    expect(await list.end).toBe(0);
    const missing = new Running([
      "get",
      "Guests.hotel.example",
      "nobody",
      "guest-7",
      "-o",
      "name",
      "--endpoint",
      socket,
    ]);
    missing.child.stderr?.destroy();
    expect(await missing.end).toBe(3);
    expect(missing.stdout).toBe("Guests.hotel.example/guest-7\n");
  });

  test("Ctrl-C ends what waits for standard input", async () => {
    const pipe = join(folder, "first.yaml");
    await once(spawn("mkfifo", [pipe]), "exit");
    const waiting = new Running(["apply", "-f", pipe, "-f", "-"]);
    // Opening a pipe to write waits until somebody reads it: then standard input is next.
    await writeFile(pipe, "");
    waiting.child.kill("SIGINT");
    expect(await waiting.end).toBe(130);
    expect(waiting.stderr).toBe("");
  });

  test("a watch outlives its server, and says so", async () => {
    const first = await serving();
    await at("apply -f -", GUEST);
    const watch = new Running(["watch", "Guests.hotel.example", "-o", "json", "--endpoint", socket]);
    await watch.wrote("bootstrapped");
    first.child.kill("SIGKILL");
    await first.end;
    await watch.wrote("interrupted");
    await serving();
    await at("apply -f -", GUEST.replace("id: ada", "id: bob"));
    await watch.wrote("bob");
    watch.child.kill("SIGINT");
    expect(await watch.end).toBe(130);
    const events = watch.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { event: string; metadata?: { id: string } })
      .map(({ event, metadata }) => (metadata === undefined ? event : `${event} ${metadata.id}`));
    expect(events.slice(0, 3)).toEqual(["created ada", "bootstrapped", "resynced"]);
    expect(events).toContain("destroyed ada");
    expect(events.at(-1)).toMatch(/bob|bootstrapped/);
    expect(watch.stderr).toMatch(/is interrupted: .*[^]*could not go on/);
  });

  test("nobody there: the message says what to do", async () => {
    expect(await run(["get", "svc"])).toEqual({
      code: 5,
      stdout: "",
      stderr: expect.stringMatching(/^homeostat: no answer from unix:.*homeostat run starts.*--endpoint.*\n$/),
    });
    expect(await at("get svc")).toMatchObject({ code: 5, stderr: expect.stringContaining(socket) });
  });
});

const PLANE = join(ROOT, "test", "fixtures", "control-plane.config.ts");

describe("run", () => {
  test("runs a control plane where the other commands look for it, until it is told to stop", async () => {
    const plane = new Running(["run", PLANE]);
    await plane.wrote("homeostat: running, serving at unix:");
    const watch = new Running(["get", "str", "-w"]);
    await watch.wrote("42");
    const text = "metadata: { type: int, id: more }\nspec: { value: 7 }\n";
    expect((await run(["apply", "-f", "-"], text)).stdout).toContain("created");
    await watch.wrote("more");
    watch.child.kill("SIGINT");
    await watch.end;
    expect((await run(["get", "str"])).stdout).toMatch(/answer +1 +42\n.*more +1 +7\n/);
    expect((await run(["get", "rd", "-o", "name"])).stdout).toContain("strs.plane.example.dev");
    // The server knows the types: what is wrong is found there, and told with its place here.
    expect(await run(["apply", "-f", "-"], text.replace("7", "seven"))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^stdin:2:9: spec.value: /),
    });
    plane.child.kill("SIGTERM");
    expect(await plane.end).toBe(0);
    expect(plane.stdout).toBe("");
    expect(await run(["get", "str"])).toMatchObject({ code: 5 });
  });

  test.each([
    ["import", 1, "the configuration is broken"],
    ["export", 2, "export default defineControlPlane"],
    ["start", 1, "cannot start like this"],
    ["runtime", 1, "this state cannot watch"],
    ["listen", 1, "without TLS"],
  ])("a part that fails ends it: %s", async (trouble, expected, message) => {
    const { code, stderr } = await run(["run", PLANE], "", { TROUBLE: trouble });
    expect(code).toBe(expected);
    expect(stderr).toContain(message);
  });

  test("on a file, what was there is there again after a kill", async () => {
    const start = async (): Promise<Running> => {
      const serving = new Running(["serve", "--state", "sqlite:data.db", "--listen", socket]);
      await serving.wrote("homeostat: serving");
      return serving;
    };
    const first = await start();
    const text = "metadata: { namespace: n, type: Guests.example.dev, id: a }\nspec: { value: 7 }\n";
    expect((await run(["apply", "-f", "-", "--endpoint", socket], text)).stdout).toContain("created");
    const second = await run(["serve", "--state", "sqlite:data.db", "--listen", `unix:${join(folder, "s2")}`]);
    expect(second).toMatchObject({ code: 5, stderr: expect.stringContaining(`open: pid ${first.child.pid}`) });
    first.child.kill("SIGKILL");
    await first.end;
    const again = await start();
    const get = ["get", "Guests.example.dev", "a", "-n", "n", "-o", "jsonpath={.spec.value}", "--endpoint", socket];
    expect(await run(get)).toMatchObject({ code: 0, stdout: "7\n" });
    again.child.kill("SIGTERM");
    expect(await again.end).toBe(0);
    const plane = new Running(["run", PLANE, "--state", "sqlite:plane.db"]);
    await plane.wrote("homeostat: running");
    plane.child.kill("SIGTERM");
    expect(await plane.end).toBe(0);
    expect((await stat(join(folder, "plane.db"))).size).toBeGreaterThan(0);
    expect(await run(["run", PLANE, "--state", "postgres://x"])).toMatchObject({ code: 2 });
  });

  test("metrics and health over HTTP, logs as JSON", async () => {
    const plane = new Running(["run", PLANE, "--http", "0", "--log-format", "json", "--log-level", "debug"]);
    await plane.wrote("homeostat: running");
    const url = /metrics at (http:\S+)\/metrics\n/.exec(plane.stderr)?.[1] ?? "";
    expect(await (await fetch(`${url}/readyz`)).text()).toBe("ok\n");
    expect(await (await fetch(`${url}/metrics`)).text()).toContain("homeostat_queue_processed_total{controller=");
    plane.child.kill("SIGTERM");
    expect(await plane.end).toBe(0);
    const logged = plane.stderr.split("\n").filter((line) => line.startsWith("{"));
    expect(logged.length).toBeGreaterThan(0);
    for (const line of logged) expect(JSON.parse(line)).toMatchObject({ component: "controller-runtime" });
    expect(await run(["run", PLANE, "--http", "nowhere"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--http nowhere:"),
    });
    expect(await run(["run", PLANE, "--log-format", "xml"])).toMatchObject({ code: 2 });
  });

  test("only those get in who show a certificate and a token", async () => {
    const files = { "server.pem": serverCertificate, "server.key": serverKey, "ca.pem": authority, tokens: "secret\n" };
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    const tls = ["--cert", "server.pem", "--key", "server.key", "--token-file", "tokens"];
    const plane = new Running(["run", PLANE, "--listen", "tcp:127.0.0.1:0", ...tls]);
    await plane.wrote("serving at tcp:");
    const address = /serving at (tcp:\S+)\n/.exec(plane.stderr)?.[1] ?? "";
    const client = ["get", "int", "--endpoint", address, "--ca", "ca.pem", "--server-name", "localhost"];
    expect(await run([...client, "--token", "secret"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("answer"),
    });
    expect(await run([...client, "--token", "wrong"])).toMatchObject({ code: 1 });
    expect(await run(["get", "int", "--endpoint", address])).toMatchObject({ code: 5 });
    plane.child.kill("SIGTERM");
    expect(await plane.end).toBe(0);
  });

  test("stopping takes no longer than it may", async () => {
    const plane = new Running(["run", PLANE, "--stop-timeout", "300ms"], { TROUBLE: "stop" });
    await plane.wrote("homeostat: running");
    plane.child.kill("SIGTERM");
    expect(await plane.end).toBe(1);
    expect(plane.stderr).toContain('did not stop within 300 ms: it waits for task "stubborn"');
    expect(plane.stderr).toContain("(reconcile of Ints.plane.example.dev(default/answer))");
  });

  test("a second Ctrl-C does not wait", async () => {
    const plane = new Running(["run", PLANE], { TROUBLE: "stop" });
    await plane.wrote("homeostat: running");
    plane.child.kill("SIGINT");
    await plane.wrote("StubbornController");
    plane.child.kill("SIGINT");
    expect(await plane.end).toBe(130);
  });
});

describe("the command line as such", () => {
  test("bash completes with the script", async () => {
    const plane = new Running(["run", PLANE]);
    await plane.wrote("homeostat: running");
    await writeFile(join(folder, "homeostat-command"), `#!/bin/sh\nexec "${process.execPath}" ${CLI.join(" ")} "$@"\n`);
    await chmod(join(folder, "homeostat-command"), 0o755);
    const complete = async (line: string): Promise<readonly string[]> => {
      const script = `
        homeostat() { "${join(folder, "homeostat-command")}" "$@"; }
        source <(homeostat completion bash)
        COMP_LINE=$1 COMP_POINT=\${#1}
        _homeostat
        printf '%s\\n' "\${COMPREPLY[@]}"`;
      const child = spawn("bash", ["-c", script, "bash", line], {
        env: childEnvironment({ XDG_RUNTIME_DIR: folder }),
        stdio: ["ignore", "pipe", "inherit"],
      });
      children.add(child);
      return (await text(child.stdout)).trim().split("\n");
    };
    expect(await complete("homeostat d")).toEqual(["describe", "diff", "delete"]);
    expect(await complete("homeostat get st")).toEqual(["strs", "str"]);
    expect(await complete("homeostat get int a")).toEqual(["answer"]);
    expect(await complete("homeostat get -o js")).toEqual(["json", "jsonpath="]);
    expect(await complete("homeostat label --o")).toEqual(["--overwrite", "--owner"]);
  });
});
