import { chmod, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { EventType } from "homeostat";
import { describe, expect, test, vi } from "vitest";

import { HealthCheck, HealthStatus, Service, ServiceStatus } from "./resources/index.ts";
import { manifest, serviceManifest, SupervisorWorld, DEADLINE_MS, TIMEOUT_MS } from "./testing/supervisor-world.ts";

const SLEEP = ["sleep", "1000"];
/** Restarts without a long wait. */
const QUICK = { backoff: { initialMs: 1, maxMs: 20 } };

/** Names of services in the order in which they got to a state. */
async function order(world: SupervisorWorld, state: string, names: readonly string[]): Promise<string[]> {
  const seen: string[] = [];
  await using watch = await world.state.watchKind(ServiceStatus, {
    bootstrap: true,
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  for await (const event of watch) {
    if (event.type !== EventType.created && event.type !== EventType.updated) continue;
    const { id } = event.resource.metadata;
    if (names.includes(id) && event.resource.spec.state === state && !seen.includes(id)) seen.push(id);
    if (seen.length === names.length) break;
  }
  return seen;
}

describe("supervisor", { timeout: TIMEOUT_MS }, () => {
  test("a declared service runs, and its output is in its log", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", {
        command: ["sh", "-c", "echo hello $NAME; exec sleep 1000"],
        env: { NAME: "you" },
      }),
    });
    const { pid } = await world.ready("a");
    expect(await world.folder.processes()).toEqual([{ service: "a", pid }]);
    const log = join(world.stateFolder, "logs", "a.log");
    await expect.poll(() => readFile(log, "utf8"), { timeout: DEADLINE_MS }).toBe("hello you\n");
  });

  test("services start when those that they depend on are ready, and stop in reverse order", async () => {
    const names = ["db", "api", "web"];
    await using world = await SupervisorWorld.start({
      "web.yaml": serviceManifest("web", { command: SLEEP, dependsOn: ["api"] }),
      "api.yaml": serviceManifest("api", { command: SLEEP, dependsOn: ["db"] }),
      // Ready only when the file is there: the others have to wait for that.
      "db.yaml":
        serviceManifest("db", { command: ["sh", "-c", "sleep 0.3; touch up; exec sleep 1000"] }) +
        manifest("HealthCheck", "db-up", { service: "db", command: ["test", "-e", "up"], intervalMs: 20 }),
    });
    expect(await order(world, "running", names)).toEqual(names);
    await expect(stat(join(world.folder.path, "up"))).resolves.toBeDefined();

    const ended = order(world, "stopping", names).then(() => {});
    const gone: string[] = [];
    await using watch = await world.state.watchKind(Service, { signal: AbortSignal.timeout(DEADLINE_MS) });
    const stopped = world.stop();
    for await (const event of watch) {
      if (event.type === EventType.destroyed) gone.push(event.resource.metadata.id);
      if (gone.length === names.length) break;
    }
    await stopped;
    await ended;
    expect(gone).toEqual(names.toReversed());
    expect(await world.folder.processes()).toEqual([]);
  });

  test("a service that is killed 20 times is there again each time, once", async () => {
    await using world = await SupervisorWorld.start({ "a.yaml": serviceManifest("a", { command: SLEEP, ...QUICK }) });
    let { pid = 0 } = await world.ready("a");
    for (let round = 1; round <= 20; round++) {
      process.kill(pid, "SIGKILL");
      const status = await world.service("a", (now) => now.ready && now.restarts === round);
      expect(status).toMatchObject({
        state: "running",
        startReason: "ended by SIGKILL",
        lastExit: { signal: "SIGKILL" },
      });
      expect(status.pid).not.toBe(pid);
      pid = status.pid ?? 0;
      expect(await world.folder.processes()).toEqual([{ service: "a", pid }]);
    }
  });

  test("what a crashed service leaves in its group, or outside of it, is gone before it starts again", async () => {
    const script = "sleep 1000 & setsid sleep 1000 & echo $$ >> starts; wait";
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", { command: ["sh", "-c", script], ...QUICK }),
    });
    const { pid = 0 } = await world.ready("a");
    await expect.poll(() => world.folder.processes(), { timeout: DEADLINE_MS }).toHaveLength(3);
    const before = await world.folder.processes();
    process.kill(pid, "SIGKILL");
    await world.service("a", ({ ready, restarts }) => ready && restarts === 1);
    const after = await world.folder.processes();
    for (const one of before) expect(after).not.toContainEqual(one);
  });

  test("a service that ignores SIGTERM is killed after its grace time", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", {
        command: ["sh", "-c", "trap 'echo asked >> asked' TERM; touch ignoring; while :; do sleep 0.05; done"],
        stopGraceMs: 300,
      }),
    });
    await world.ready("a");
    await expect.poll(() => stat(join(world.folder.path, "ignoring")), { timeout: DEADLINE_MS }).toBeDefined();
    await world.folder.remove("a.yaml");
    await world.gone("a");
    expect(await world.folder.read("asked")).toBe("asked\n");
    expect(await world.folder.processes()).toEqual([]);
  });

  test("restart policies: never, on-failure, always", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml":
        serviceManifest("once", { command: ["sh", "-c", "echo no disk >&2; exit 3"], restart: "never" }) +
        serviceManifest("job", { command: ["true"], restart: "on-failure" }) +
        serviceManifest("flaky", { command: ["false"], restart: "on-failure", ...QUICK }) +
        serviceManifest("loop", { command: ["true"], restart: "always", ...QUICK }),
    });
    expect(await world.service("once", ({ state }) => state === "failed")).toMatchObject({
      restarts: 0,
      reason: "exited with code 3: no disk",
    });
    expect(await world.service("job", ({ state }) => state === "done")).toMatchObject({ restarts: 0, ready: true });
    await world.service("flaky", ({ restarts }) => restarts >= 3);
    await world.service("loop", ({ restarts }) => restarts >= 3);
  });

  test("a command that does not exist is told, and tried again when it is corrected", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", { command: ["no-such-program"] }),
    });
    const { reason } = await world.service("a", ({ state }) => state === "backoff");
    expect(reason).toContain('cannot start "no-such-program": there is no such program');
    await world.folder.write("a.yaml", serviceManifest("a", { command: SLEEP }));
    await world.ready("a");
  });

  test("what is declared comes back when somebody removes it", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml":
        serviceManifest("a", { command: SLEEP }) + manifest("HealthCheck", "a", { service: "a", command: ["true"] }),
    });
    await world.service("a", ({ health }) => health === "healthy");
    const removed = await world.state.get(HealthCheck, "a");
    await world.state.destroy(HealthCheck.ref("a"), { owner: removed.metadata.owner });
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const again = await world.state.watchFor(HealthCheck.ref("a"), { events: [EventType.created] }, { signal });
    expect(again.metadata.created).not.toBe(removed.metadata.created);
  });

  test("a changed, added or removed manifest takes effect", async () => {
    await using world = await SupervisorWorld.start({ "a.yaml": serviceManifest("a", { command: SLEEP }) });
    await world.ready("a");
    for (let round = 1; round <= 3; round++) {
      const restarted = world.service("a", ({ ready, restarts }) => ready && restarts === round);
      await world.folder.write("a.yaml", serviceManifest("a", { command: ["sleep", `${1000 + round}`] }));
      expect((await restarted).startReason).toBe("its declaration changed");
      await world.folder.write("b.yaml", serviceManifest("b", { command: SLEEP }));
      await world.ready("b");
      await world.folder.remove("b.yaml");
      await world.gone("b");
    }
  });

  test("of many quick changes the last one counts", async () => {
    await using world = await SupervisorWorld.start({ "a.yaml": serviceManifest("a", { command: SLEEP }) });
    await world.ready("a");
    for (let i = 1; i <= 50; i++) {
      await world.folder.write("a.yaml", serviceManifest("a", { command: ["sleep", String(1000 + i)] }));
      if (i % 10 === 0) await world.folder.remove("a.yaml");
    }
    await world.folder.write("a.yaml", serviceManifest("a", { command: ["sh", "-c", "touch last; exec sleep 1000"] }));
    await expect
      .poll(() => stat(join(world.folder.path, "last")).catch(() => undefined), { timeout: DEADLINE_MS })
      .toBeDefined();
    const { pid } = await world.ready("a");
    expect(await world.folder.processes()).toEqual([{ service: "a", pid }]);
  });

  test("stop signal, grace time and dependencies change without a restart", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", { command: SLEEP }) + serviceManifest("b", { command: SLEEP }),
    });
    const { pid } = await world.ready("b");
    await world.ready("a");
    await world.folder.write(
      "a.yaml",
      serviceManifest("a", { command: SLEEP }) +
        serviceManifest("b", { command: SLEEP, dependsOn: ["a"], stopSignal: "SIGINT", stopGraceMs: 50 }),
    );
    expect(await world.service("b", ({ dependsOn }) => dependsOn.length === 1)).toMatchObject({ pid, restarts: 0 });
  });

  test("a config file is rendered before its services start, and a change restarts them, the dependent one last", async () => {
    const config = (color: string) =>
      manifest("ConfigFile", "colors", {
        path: "colors.txt",
        template: "{{ values.color }} {{ services.a.env.SHADE }}",
        values: { color },
        mode: "0600",
        restarts: ["a", "b"],
      });
    const script = "cat colors.txt; exec sleep 1000";
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", { command: ["sh", "-c", script], env: { SHADE: "dark" } }),
      "b.yaml": serviceManifest("b", {
        command: ["sh", "-c", script],
        dependsOn: ["a"],
        restartWithDependencies: true,
      }),
      "config.yaml": config("red"),
    });
    await world.ready("b");
    expect(await world.folder.read("colors.txt")).toBe("red dark");
    expect((await stat(join(world.folder.path, "colors.txt"))).mode & 0o777).toBe(0o600);

    await world.folder.write("config.yaml", config("blue"));
    const b = await world.service("b", ({ ready, restarts }) => ready && restarts === 1);
    const a = await world.ready("a");
    expect(a).toMatchObject({ restarts: 1, startReason: "config file colors changed" });
    expect(Date.parse(a.since)).toBeLessThanOrEqual(Date.parse(b.since));
    await expect.poll(() => readFile(join(world.stateFolder, "logs", "b.log"), "utf8")).toBe("red darkblue dark");
  });

  test("a change of a service that a config file speaks of is one restart, not two", async () => {
    const a = (shade: string) => serviceManifest("a", { command: SLEEP, env: { SHADE: shade } });
    await using world = await SupervisorWorld.start({
      "a.yaml": a("dark"),
      "config.yaml": manifest("ConfigFile", "c", {
        path: "c.txt",
        template: "{{ services.a.env.SHADE }}",
        restarts: ["a"],
      }),
    });
    await world.ready("a");
    await world.folder.write("a.yaml", a("light"));
    await world.service("a", ({ ready, restarts }) => ready && restarts === 1);
    expect(await world.folder.read("c.txt")).toBe("light");
    // Another change shows that no restart was pending.
    await world.folder.write("a.yaml", a("grey"));
    expect(await world.service("a", ({ ready, restarts }) => ready && restarts >= 2)).toMatchObject({ restarts: 2 });
  });

  test("a config file that somebody else changes is put back, and nothing restarts", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml":
        serviceManifest("a", { command: SLEEP }) +
        manifest("ConfigFile", "c", { path: "c.txt", template: "right", restarts: ["a"] }),
    });
    await world.ready("a");
    await world.folder.write("c.txt", "wrong");
    await expect.poll(() => world.folder.read("c.txt"), { timeout: DEADLINE_MS }).toBe("right");
    expect(await world.ready("a")).toMatchObject({ restarts: 0 });
  });

  test("an unhealthy service is restarted, and what depends on it goes on", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml":
        serviceManifest("a", { command: ["sh", "-c", "touch healthy; exec sleep 1000"], ...QUICK }) +
        serviceManifest("b", { command: SLEEP, dependsOn: ["a"] }) +
        manifest("HealthCheck", "a-file", {
          service: "a",
          command: ["sh", "-c", "test -e healthy || { echo the file is gone; exit 1; }"],
          intervalMs: 20,
          failureThreshold: 2,
        }),
    });
    await world.ready("b");
    await world.folder.remove("healthy");
    const status = await world.service("a", ({ ready, restarts }) => ready && restarts === 1);
    expect(status.startReason).toBe("unhealthy: a-file: exited with code 1: the file is gone");
    expect(await world.ready("b")).toMatchObject({ restarts: 0 });
  });

  test("a restart can be requested on the command line and in the manifest, as kubectl rollout restart does", async () => {
    await using world = await SupervisorWorld.start({ "a.yaml": serviceManifest("a", { command: SLEEP }) });
    await world.ready("a");
    const annotate = (value: string) =>
      world.state.modify(
        Service,
        "a",
        (_, { annotations }) => {
          annotations["supervisor.example.dev/restartedAt"] = value;
        },
        { owner: "ManifestController" },
      );
    await annotate("2026-01-01T00:00:00Z");
    const status = await world.service("a", ({ ready, restarts }) => ready && restarts === 1);
    expect(status.startReason).toBe("a restart was requested");
    // The manifest is read again, and keeps what it says nothing about.
    await world.folder.write("b.yaml", serviceManifest("b", { command: SLEEP }));
    await world.ready("b");
    expect((await world.state.get(Service, "a")).metadata.annotations).toMatchObject({
      "supervisor.example.dev/restartedAt": "2026-01-01T00:00:00Z",
    });
    expect(await world.ready("a")).toMatchObject({ restarts: 1, failures: 0 });
    await world.folder.write(
      "a.yaml",
      "metadata: { type: Service, id: a, annotations: { kubectl.kubernetes.io/restartedAt: now } }\nspec: { command: [sleep, 1000] }\n",
    );
    await world.service("a", ({ ready, restarts }) => ready && restarts === 2);
  });

  test("values of variables and arguments are the text that is written, and those of npm are not passed on", async () => {
    const env = "{ A: 0022, B: 1.10, C: yes, D: 1e3, E: , F: 0x1F, G: true, H: null, I: 'quo ted' }";
    vi.stubEnv("npm_config_secret", "1");
    await using world = await SupervisorWorld.start({
      "a.yaml": `metadata: { type: Service, id: a }\nspec:\n  command: [sh, -c, 'printf %s "$1|"; env | sort; exec sleep 1000', x, 007]\n  env: ${env}\n`,
    }).finally(() => vi.unstubAllEnvs());
    const log = join(world.stateFolder, "logs", "a.log");
    await expect.poll(() => readFile(log, "utf8").catch(() => ""), { timeout: DEADLINE_MS }).toContain("PATH=");
    const output = await readFile(log, "utf8");
    expect(output).toMatch(/^007\|/);
    for (const line of ["A=0022", "B=1.10", "C=yes", "D=1e3", "E=", "F=0x1F", "G=true", "H=null", "I=quo ted"]) {
      expect(output).toContain(`${line}\n`);
    }
    expect(output).not.toContain("npm_config_secret");
    expect((await world.ready("a")).logPath).toBe(log);
  });

  test("a halted service goes on to see its stop signal", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", { command: SLEEP, stopGraceMs: 86_400_000 }),
    });
    const { pid = 0 } = await world.ready("a");
    process.kill(pid, "SIGSTOP");
    await world.folder.remove("a.yaml");
    await world.gone("a");
    expect(await world.folder.processes()).toEqual([]);
  });

  test("a service is asked to stop once, however long it takes, and what it left behind as well", async () => {
    const script = `
      trap 'echo leader >> signals; exit' TERM
      sh -c "trap 'echo child >> signals' TERM; touch up; until [ -e finish ]; do sleep 0.02; done" &
      while :; do sleep 0.02; done`;
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", { command: ["sh", "-c", script], stopGraceMs: 86_400_000 }),
    });
    await world.ready("a");
    await expect.poll(() => stat(join(world.folder.path, "up")), { timeout: DEADLINE_MS }).toBeDefined();
    await world.folder.remove("a.yaml");
    await world.service("a", ({ reason }) => reason !== "");
    // Each of these wakes every controller again.
    for (const name of ["b", "c", "d"]) {
      await world.folder.write(`${name}.yaml`, serviceManifest(name, { command: SLEEP }));
      await world.ready(name);
    }
    await world.folder.write("finish", "");
    await world.gone("a");
    expect((await world.folder.read("signals")).split("\n").sort()).toEqual(["", "child", "leader"]);
  });

  test("a pipe that is held by a process without any mark does not keep a service from ending", async () => {
    const script = `
      (ulimit -S -w unlimited || ulimit -S -x unlimited; exec env -i setsid sh -c 'echo $$ > holder; exec sleep 1000') &
      until [ -s holder ]; do sleep 0.02; done
      exit 3`;
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", { command: ["sh", "-c", script], restart: "never" }),
    });
    try {
      const { reason } = await world.service("a", ({ state }) => state === "failed");
      expect(reason).toBe("exited with code 3");
      process.kill(Number(await world.folder.read("holder")), 0);
    } finally {
      process.kill(Number(await world.folder.read("holder")), "SIGKILL");
    }
  });

  test("a health check that is removed, or asks about another service, does not count any more", async () => {
    const check = (service: string) =>
      manifest("HealthCheck", "h", { service, command: ["false"], startPeriodMs: 0, onUnhealthy: "report" });
    await using world = await SupervisorWorld.start({
      "a.yaml": serviceManifest("a", { command: SLEEP }) + serviceManifest("b", { command: SLEEP }),
      "h.yaml": check("a"),
    });
    await world.service("a", ({ health }) => health === "unhealthy");
    await world.ready("b");
    await world.folder.write("h.yaml", check("b"));
    expect(await world.ready("a")).toMatchObject({ health: "none", restarts: 0 });
    await world.service("b", ({ ready, health }) => !ready && health === "unhealthy");
    await world.folder.remove("h.yaml");
    expect(await world.ready("b")).toMatchObject({ health: "none", restarts: 0, reason: "" });
    await expect.poll(async () => (await world.state.list(HealthStatus)).length).toBe(0);
  });

  test("a check that cannot be run leaves a service alone: unknown, with the reason", async () => {
    await using world = await SupervisorWorld.start({
      "a.yaml":
        serviceManifest("a", { command: SLEEP }) +
        manifest("HealthCheck", "h", {
          service: "a",
          command: ["./probe"],
          intervalMs: 20,
          failureThreshold: 1,
          startPeriodMs: 0,
        }),
      probe: "#!/bin/sh\n",
    });
    await chmod(join(world.folder.path, "probe"), 0o755);
    const { pid } = await world.ready("a");
    await world.folder.remove("probe");
    // Until it was executable there was another reason.
    expect(await world.service("a", ({ reason }) => reason.includes("no such file"))).toMatchObject({
      health: "unknown",
      pid,
      ready: false,
      reason: 'h: cannot be checked: cannot start "./probe": there is no such file',
    });
    await world.folder.write("probe", "#!/bin/sh\n");
    await chmod(join(world.folder.path, "probe"), 0o755);
    expect(await world.ready("a")).toMatchObject({ pid, restarts: 0 });
  });
});
