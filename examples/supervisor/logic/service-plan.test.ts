import { fc, test as property } from "@fast-check/vitest";
import { Phase, type Immutable } from "homeostat";
import type { LabelQuery } from "homeostat/resource";
import { describe, expect, test } from "vitest";

import {
  ConfigFile,
  ConfigFileStatus,
  HealthCheck,
  HealthStatus,
  Process,
  ProcessStatus,
  Service,
  ServiceStatus,
  type ConfigFileSpec,
  type ConfigFileStatusSpec,
  type HealthCheckSpec,
  type HealthStatusSpec,
  type ProcessSpec,
  type ProcessStatusSpec,
  type ServiceSpec,
  type ServiceStatusSpec,
} from "../resources/index.ts";
import { dependenciesOf, findCycle } from "./dependency-graph.ts";
import { planService, type ServicePlan } from "./service-plan.ts";
import { configInputs, isOccupied, readServiceView } from "./service-view.ts";

interface Declared<Spec> {
  readonly spec: Immutable<Spec>;
  readonly removed: boolean;
}

const START_MS = Date.parse("2026-01-01T00:00:00Z");

/** Services and their processes without the engine and without an operating system; one step at a time. */
class Simulation {
  readonly world = {
    services: new Map<string, Declared<ServiceSpec>>(),
    statuses: new Map<string, Immutable<ServiceStatusSpec>>(),
    processes: new Map<string, Immutable<ProcessSpec>>(),
    actual: new Map<string, Immutable<ProcessStatusSpec>>(),
    configs: new Map<string, Declared<ConfigFileSpec>>(),
    configStatuses: new Map<string, Immutable<ConfigFileStatusSpec>>(),
    checks: new Map<string, Declared<HealthCheckSpec>>(),
    healthStatuses: new Map<string, Immutable<HealthStatusSpec>>(),
  };
  nowMs = START_MS;
  restartedAt = "";

  /** The world as the plan reads it; a query names the service that the resources concern. */
  readonly #reader = {
    getOrNull: async (type: object, id: string) => {
      const declared = this.#declared(type).get(id);
      const spec = declared === undefined ? this.#specs(type).get(id) : undefined;
      return declared ?? (spec && { metadata: { id }, spec });
    },
    list: async (type: object, { labels: [term] }: { readonly labels: LabelQuery }) => {
      const service = term?.key.slice("service/".length) ?? "";
      return [...this.#declared(type).values()].filter(({ spec }) => {
        const {
          dependsOn = [],
          restarts = [],
          service: one,
        } = spec as Partial<ServiceSpec & ConfigFileSpec & HealthCheckSpec>;
        return [...dependsOn, ...restarts, one].includes(service);
      });
    },
  };

  #declared(type: object) {
    const { services, configs, checks } = this.world;
    const map = new Map<object, ReadonlyMap<string, Declared<unknown>>>([
      [Service, services],
      [ConfigFile, configs],
      [HealthCheck, checks],
    ]).get(type);
    const annotations = { "x/restartedAt": this.restartedAt };
    return new Map(
      Array.from(map ?? [], ([id, { spec, removed }]) => {
        const phase = removed ? Phase.tearingDown : Phase.running;
        return [id, { metadata: { id, phase, annotations }, spec }] as const;
      }),
    );
  }

  #specs(type: object): ReadonlyMap<string, unknown> {
    const { statuses, processes, actual, configStatuses, healthStatuses } = this.world;
    return (
      new Map<object, ReadonlyMap<string, unknown>>([
        [ServiceStatus, statuses],
        [Process, processes],
        [ProcessStatus, actual],
        [ConfigFileStatus, configStatuses],
        [HealthStatus, healthStatuses],
      ]).get(type) ?? new Map()
    );
  }

  declare(id: string, input: Partial<Parameters<typeof Service.create>[1]> = {}): void {
    // What is being removed is declared anew only when it is gone.
    if (this.world.services.get(id)?.removed === true) return;
    this.world.services.set(id, { spec: Service.parseSpec({ command: ["x"], ...input }), removed: false });
  }

  remove(id: string): void {
    const service = this.world.services.get(id);
    if (service !== undefined) this.world.services.set(id, { ...service, removed: true });
  }

  async plan(id: string): Promise<ServicePlan | undefined> {
    const service = await this.#reader.getOrNull(Service, id);
    return service === undefined
      ? undefined
      : planService(await readServiceView(this.#reader as never, service as never, this.nowMs));
  }

  /** What the service controller does. What no plan may do is checked on the way. */
  async reconcile(id: string): Promise<ServicePlan | undefined> {
    const plan = await this.plan(id);
    if (plan === undefined) return undefined;
    this.#check(id, plan);
    this.world.statuses.set(id, plan.status);
    if (plan.process !== undefined) this.world.processes.set(id, plan.process);
    if (plan.finished === true) for (const map of Object.values(this.world)) map.delete(id);
    return plan;
  }

  #check(id: string, { process }: ServicePlan): void {
    const { services, processes, actual } = this.world;
    const before = processes.get(id);
    if (process?.wanted === "running" && process.run !== before?.run) {
      for (const one of services.get(id)?.spec.dependsOn ?? []) {
        expect(services.get(one)?.removed, `${id} starts without ${one}`).toBe(false);
        expect(this.status(one)?.ready, `${id} starts before ${one}`).toBe(true);
      }
    }
    if (process?.stopCause === "removal" && before?.wanted === "running") {
      const graph = new Map(Array.from(services, ([key, { spec }]) => [key, spec.dependsOn]));
      for (const [key, { spec }] of services) {
        if (!spec.dependsOn.includes(id) || key === id || dependenciesOf(graph, id).has(key)) continue;
        expect(isOccupied(processes.get(key), actual.get(key)), `${id} stops before ${key}`).toBe(false);
      }
    }
  }

  /** What the process controller and the operating system do, all at once. */
  work(id: string): void {
    const wanted = this.world.processes.get(id);
    const actual = this.world.actual.get(id);
    const alive = actual?.phase === "running";
    if (wanted === undefined) return;
    if (alive && (wanted.wanted === "stopped" || actual.run !== wanted.run)) return this.end(id, { code: 0 }, true);
    if (actual?.run === wanted.run) return;
    const { run } = wanted;
    if (wanted.wanted === "stopped") this.world.actual.set(id, { run, phase: "idle", logPath: "log" });
    else {
      const startedAt = new Date(this.nowMs).toISOString();
      this.world.actual.set(id, { run, phase: "running", pid: run * 1000, startedAt, logPath: "log" });
    }
  }

  /** The process ends; by itself, unless it was asked. */
  end(id: string, how: { readonly code?: number; readonly signal?: string }, requested = false, ranMs = 0): void {
    const actual = this.world.actual.get(id);
    if (actual?.phase !== "running") return;
    const exit = { ...how, at: new Date(this.nowMs).toISOString(), ranMs, requested };
    this.world.actual.set(id, { run: actual.run, phase: "exited", exit, logPath: "log" });
  }

  /** Everybody does what there is to do, until there is nothing more. @throws {Error} when that never comes. */
  async settle(): Promise<void> {
    for (let round = 0; round < 200; round++) {
      const before = JSON.stringify(Object.values(this.world).map((map) => [...map]));
      let againInMs = 0;
      for (const id of this.world.services.keys()) {
        againInMs = Math.max(againInMs, (await this.reconcile(id))?.againInMs ?? 0);
        this.work(id);
      }
      const after = JSON.stringify(Object.values(this.world).map((map) => [...map]));
      if (before === after && againInMs === 0) return;
      this.nowMs += againInMs;
    }
    throw new Error(`does not settle: ${JSON.stringify([...this.world.statuses], null, 1)}`);
  }

  status(id: string): Immutable<ServiceStatusSpec> | undefined {
    return this.world.statuses.get(id);
  }
}

describe("service plan", () => {
  test("a service waits for those that it depends on, then starts", async () => {
    const sim = new Simulation();
    sim.declare("web", { dependsOn: ["db"] });
    sim.declare("db");
    expect((await sim.reconcile("web"))?.status).toMatchObject({
      state: "waiting",
      reason: "waits for db (new)",
      ready: false,
    });
    await sim.reconcile("db");
    sim.work("db");
    await sim.reconcile("db");
    expect(await sim.reconcile("web")).toMatchObject({
      status: { state: "starting" },
      process: { run: 1, wanted: "running" },
    });
    await sim.settle();
    expect(sim.status("web")).toMatchObject({ state: "running", ready: true, restarts: 0, reason: "" });
  });

  test("each failure in a row doubles the wait, up to the maximum; a stable run starts it over", async () => {
    const sim = new Simulation();
    sim.declare("a", { backoff: { initialMs: 100, maxMs: 350, stableMs: 5_000 } });
    await sim.settle();
    const waits: (number | undefined)[] = [];
    for (let i = 0; i < 4; i++) {
      sim.end("a", { code: 1 });
      const plan = await sim.reconcile("a");
      expect(plan?.status).toMatchObject({ state: "backoff", failures: i + 1, reason: "exited with code 1" });
      waits.push(plan?.againInMs);
      await sim.settle();
    }
    expect(waits).toEqual([100, 200, 350, 350]);
    sim.end("a", { signal: "SIGSEGV" }, false, 5_000);
    expect(await sim.reconcile("a")).toMatchObject({
      againInMs: 100,
      status: { failures: 1, reason: "ended by SIGSEGV" },
    });
  });

  test("a wall clock that jumps back makes no wait longer", async () => {
    const sim = new Simulation();
    sim.declare("a", { backoff: { initialMs: 100 } });
    await sim.settle();
    sim.end("a", { code: 1 });
    sim.nowMs -= 3_600_000;
    expect((await sim.reconcile("a"))?.againInMs).toBe(100);
  });

  test("looking twice counts a failure once", async () => {
    const sim = new Simulation();
    sim.declare("a");
    await sim.settle();
    sim.end("a", { code: 1 });
    await sim.reconcile("a");
    await sim.reconcile("a");
    expect(sim.status("a")).toMatchObject({ failures: 1 });
  });

  test("a change ends a wait, and begins with no failures", async () => {
    const sim = new Simulation();
    sim.declare("a", { backoff: { initialMs: 60_000, maxMs: 60_000 } });
    await sim.settle();
    sim.end("a", { code: 1 });
    expect((await sim.reconcile("a"))?.status.state).toBe("backoff");
    sim.declare("a", { command: ["y"] });
    expect((await sim.reconcile("a"))?.process).toMatchObject({ run: 2, command: ["y"] });
  });

  test("a removed service stops after all that depend on it, however far away", async () => {
    const sim = new Simulation();
    sim.declare("db");
    sim.declare("api", { dependsOn: ["db"] });
    sim.declare("web", { dependsOn: ["api"] });
    await sim.settle();
    sim.remove("db");
    expect((await sim.reconcile("db"))?.status.reason).toBe("being removed; first api must stop");
    expect((await sim.reconcile("api"))?.status.reason).toBe(
      "db, which it depends on, is being removed; first web must stop",
    );
    expect(await sim.reconcile("web")).toMatchObject({ process: { wanted: "stopped" } });
    expect((await sim.reconcile("api"))?.process).toBeUndefined();
    sim.work("web");
    expect(await sim.reconcile("api")).toMatchObject({ process: { wanted: "stopped" } });
    sim.work("api");
    expect(await sim.reconcile("db")).toMatchObject({ process: { wanted: "stopped" } });
    await sim.settle();
    expect(sim.status("db")).toBeUndefined();
    expect(sim.status("api")).toMatchObject({ state: "blocked", reason: 'depends on "db", which is not declared' });
    expect(sim.status("web")).toMatchObject({ state: "waiting", reason: "waits for api (blocked)" });
  });

  test("a restart for a change takes those along that restart with it, in order, and leaves the others alone", async () => {
    const sim = new Simulation();
    sim.declare("db");
    sim.declare("api", { dependsOn: ["db"], restartWithDependencies: true });
    sim.declare("web", { dependsOn: ["api"], restartWithDependencies: true });
    sim.declare("log", { dependsOn: ["db"] });
    await sim.settle();
    sim.declare("db", { command: ["y"] });
    expect((await sim.reconcile("db"))?.status.reason).toBe("its declaration changed; first api must stop");
    await sim.settle();
    expect(sim.status("db")).toMatchObject({ restarts: 1, startReason: "its declaration changed", ready: true });
    expect(sim.status("api")).toMatchObject({
      restarts: 1,
      startReason: "db, which it depends on, restarts",
      ready: true,
    });
    expect(sim.status("web")).toMatchObject({
      restarts: 1,
      startReason: "api, which it depends on, restarts",
      ready: true,
    });
    expect(sim.status("log")).toMatchObject({ restarts: 0, ready: true });
  });

  test("a restart that is requested by an annotation is one restart, and taking the annotation away is none", async () => {
    const sim = new Simulation();
    sim.restartedAt = "before the first start";
    sim.declare("a");
    await sim.settle();
    expect(sim.status("a")).toMatchObject({ restarts: 0 });
    sim.restartedAt = "now";
    await sim.settle();
    expect(sim.status("a")).toMatchObject({ restarts: 1, startReason: "a restart was requested", failures: 0 });
    sim.restartedAt = "";
    await sim.settle();
    expect(sim.status("a")).toMatchObject({ restarts: 1 });
  });

  test("what a process left behind is named only when there is something", async () => {
    const sim = new Simulation();
    sim.declare("a");
    await sim.settle();
    const actual = { run: 1, phase: "stopping", pid: 1000, logPath: "log" } as const;
    sim.world.actual.set("a", actual);
    expect((await sim.reconcile("a"))?.status).toMatchObject({ state: "stopping", reason: "", logPath: "log" });
    sim.world.actual.set("a", { ...actual, leftBehind: [7, 8] });
    expect((await sim.reconcile("a"))?.status.reason).toBe("ended; stopping what it left running (pid 7, 8)");
  });

  test("a crash takes nobody along", async () => {
    const sim = new Simulation();
    sim.declare("db");
    sim.declare("api", { dependsOn: ["db"], restartWithDependencies: true });
    await sim.settle();
    sim.end("db", { signal: "SIGKILL" });
    await sim.settle();
    expect(sim.status("db")).toMatchObject({ restarts: 1, ready: true });
    expect(sim.status("api")).toMatchObject({ restarts: 0, ready: true });
  });

  test("a service waits for its config files, and restarts when one changes, but not while it is being rendered", async () => {
    const sim = new Simulation();
    sim.declare("a");
    const spec = { path: "p", template: "{{ services.a.env.X }}", values: {}, mode: "0644", restarts: ["a"] };
    sim.world.configs.set("c", { spec, removed: false });
    const render = (digest: string, error = "") => {
      const { command, env, cwd } = sim.world.services.get("a")?.spec ?? Service.parseSpec({ command: ["x"] });
      sim.world.configStatuses.set("c", {
        path: "p",
        digest,
        inputs: configInputs(spec, { a: { command, env, cwd } }),
        error,
      });
    };
    expect((await sim.reconcile("a"))?.status).toMatchObject({ state: "waiting", reason: "waits for config file c" });
    render("", "no X");
    expect((await sim.reconcile("a"))?.status.reason).toBe("waits for config file c (failed)");
    render("1");
    await sim.settle();
    expect(sim.status("a")).toMatchObject({ ready: true, restarts: 0 });

    sim.declare("a", { env: { X: "1" } });
    expect((await sim.reconcile("a"))?.process).toBeUndefined();
    render("2");
    await sim.settle();
    expect(sim.status("a")).toMatchObject({ ready: true, restarts: 1 });
    render("3");
    await sim.settle();
    expect(sim.status("a")).toMatchObject({ ready: true, restarts: 2, startReason: "config file c changed" });
  });

  test("health decides about readiness, and an answer about an earlier run counts for nothing", async () => {
    const sim = new Simulation();
    sim.declare("a");
    sim.world.checks.set("h", {
      spec: {
        service: "a",
        tcp: "x:1",
        intervalMs: 1,
        timeoutMs: 1,
        successThreshold: 1,
        failureThreshold: 1,
        initialDelayMs: 0,
        startPeriodMs: 0,
        onUnhealthy: "restart",
      },
      removed: false,
    });
    const answer = (run: number, health: "healthy" | "unhealthy", message = "") => {
      sim.world.healthStatuses.set("h", {
        service: "a",
        run,
        health,
        successes: 0,
        failures: 0,
        message,
      });
    };
    await sim.settle();
    expect(sim.status("a")).toMatchObject({ state: "starting", ready: false, health: "unknown" });
    answer(0, "healthy");
    await sim.settle();
    expect(sim.status("a")).toMatchObject({ ready: false });
    answer(1, "healthy");
    await sim.settle();
    expect(sim.status("a")).toMatchObject({ state: "running", ready: true, health: "healthy" });
    answer(1, "unhealthy", "refused");
    expect(await sim.reconcile("a")).toMatchObject({
      process: { wanted: "stopped", stopCause: "unhealthy" },
      status: { reason: "unhealthy: h: refused" },
    });
    sim.work("a");
    expect((await sim.reconcile("a"))?.status).toMatchObject({
      state: "backoff",
      failures: 1,
      reason: "unhealthy: h: refused",
    });
    await sim.settle();
    expect(sim.status("a")).toMatchObject({ state: "starting", restarts: 1, health: "unknown" });
  });

  const NAMES = ["a", "b", "c"];
  const name = fc.constantFrom(...NAMES);
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("reconcile" as const), id: name }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("work" as const), id: name }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("settle" as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const), id: name }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), id: name }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("declare" as const),
        id: name,
        dependsOn: fc.uniqueArray(fc.constantFrom(...NAMES, "unknown"), { maxLength: 2 }),
        version: fc.nat(2),
        restartWithDependencies: fc.boolean(),
      }),
    },
  );

  property.prop([fc.array(step, { maxLength: 80, size: "max" })], { numRuns: 1000 })(
    "whatever happens in whatever order, services start after and stop before what they depend on, and in the end all is as declared",
    async (steps) => {
      const sim = new Simulation();
      for (const one of steps) {
        if (one.kind === "settle") await sim.settle();
        else if (one.kind === "reconcile") await sim.reconcile(one.id);
        else if (one.kind === "work") sim.work(one.id);
        else if (one.kind === "crash") sim.end(one.id, { signal: "SIGKILL" });
        else if (one.kind === "remove") sim.remove(one.id);
        else {
          const { id, dependsOn, version, restartWithDependencies } = one;
          sim.declare(id, { dependsOn, restartWithDependencies, command: ["x", String(version)] });
        }
      }
      await sim.settle();
      const graph = new Map(Array.from(sim.world.services, ([key, { spec }]) => [key, spec.dependsOn]));
      for (const [id, { spec, removed }] of sim.world.services) {
        expect(removed).toBe(false);
        const all = [id, ...dependenciesOf(graph, id)];
        const sound = all.every((one) => graph.has(one) && findCycle(graph, one) === undefined);
        const process = sim.world.processes.get(id);
        if (sound) {
          expect(sim.status(id)).toMatchObject({ state: "running", ready: true });
          expect(process).toMatchObject({ wanted: "running", command: spec.command });
        }
        // What keeps running in spite of a mistake never runs an old declaration.
        if (sim.status(id)?.state === "running") expect(process?.command).toEqual(spec.command);
      }
    },
  );
});
