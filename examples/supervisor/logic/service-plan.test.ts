import { fc, test as property } from "@fast-check/vitest";
import type { Immutable } from "homeostat";
import { describe, expect, test } from "vitest";

import {
  Service,
  type ProcessSpec,
  type ProcessStatusSpec,
  type ServiceSpec,
  type ServiceStatusSpec,
} from "../resources/index.ts";
import { dependenciesOf, findCycle } from "./dependency-graph.ts";
import { planService, type ServicePlan } from "./service-plan.ts";
import { configInputs, isOccupied, viewService, type Declared, type World } from "./service-view.ts";

type MutableMap<T> = T extends ReadonlyMap<infer K, infer V> ? Map<K, V> : never;
type SimulatedWorld = { [K in keyof World]: MutableMap<World[K]> };

const START_MS = Date.parse("2026-01-01T00:00:00Z");

/** Services and their processes without the engine and without an operating system; one step at a time. */
class Simulation {
  readonly world: SimulatedWorld = {
    services: new Map<string, Declared<ServiceSpec>>(),
    statuses: new Map<string, Immutable<ServiceStatusSpec>>(),
    processes: new Map<string, Immutable<ProcessSpec>>(),
    actual: new Map<string, Immutable<ProcessStatusSpec>>(),
    configs: new Map(),
    configStatuses: new Map(),
    checks: new Map(),
    healthStatuses: new Map(),
  };
  nowMs = START_MS;

  declare(id: string, input: Partial<Parameters<typeof Service.create>[1]> = {}): void {
    // What is being removed is declared anew only when it is gone.
    if (this.world.services.get(id)?.removed === true) return;
    this.world.services.set(id, { spec: Service.parseSpec({ command: ["x"], ...input }), removed: false });
  }

  remove(id: string): void {
    const service = this.world.services.get(id);
    if (service !== undefined) this.world.services.set(id, { ...service, removed: true });
  }

  plan(id: string): ServicePlan | undefined {
    const service = this.world.services.get(id);
    return service && planService(viewService(this.world, id, service, this.nowMs));
  }

  /** What the service controller does. What no plan may do is checked on the way. */
  reconcile(id: string): ServicePlan | undefined {
    const plan = this.plan(id);
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
    if (wanted.wanted === "stopped") this.world.actual.set(id, { run, phase: "idle" });
    else {
      const startedAt = new Date(this.nowMs).toISOString();
      this.world.actual.set(id, { run, phase: "running", pid: run * 1000, startedAt });
    }
  }

  /** The process ends; by itself, unless it was asked. */
  end(id: string, how: { readonly code?: number; readonly signal?: string }, requested = false, ranMs = 0): void {
    const actual = this.world.actual.get(id);
    if (actual?.phase !== "running") return;
    const exit = { ...how, at: new Date(this.nowMs).toISOString(), ranMs, requested };
    this.world.actual.set(id, { run: actual.run, phase: "exited", exit });
  }

  /** Everybody does what there is to do, until there is nothing more. @throws {Error} when that never comes. */
  settle(): void {
    for (let round = 0; round < 200; round++) {
      const before = JSON.stringify(Object.values(this.world).map((map) => [...map]));
      let againInMs = 0;
      for (const id of this.world.services.keys()) {
        againInMs = Math.max(againInMs, this.reconcile(id)?.againInMs ?? 0);
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
  test("a service waits for those that it depends on, then starts", () => {
    const sim = new Simulation();
    sim.declare("web", { dependsOn: ["db"] });
    sim.declare("db");
    expect(sim.reconcile("web")?.status).toMatchObject({
      state: "waiting",
      reason: "waits for db (new)",
      ready: false,
    });
    sim.reconcile("db");
    sim.work("db");
    sim.reconcile("db");
    expect(sim.reconcile("web")).toMatchObject({
      status: { state: "starting" },
      process: { run: 1, wanted: "running" },
    });
    sim.settle();
    expect(sim.status("web")).toMatchObject({ state: "running", ready: true, restarts: 0, reason: "" });
  });

  test("each failure in a row doubles the wait, up to the maximum; a stable run starts it over", () => {
    const sim = new Simulation();
    sim.declare("a", { backoff: { initialMs: 100, maxMs: 350, stableMs: 5_000 } });
    sim.settle();
    const waits: (number | undefined)[] = [];
    for (let i = 0; i < 4; i++) {
      sim.end("a", { code: 1 });
      const plan = sim.reconcile("a");
      expect(plan?.status).toMatchObject({ state: "backoff", failures: i + 1, reason: "exited with code 1" });
      waits.push(plan?.againInMs);
      sim.settle();
    }
    expect(waits).toEqual([100, 200, 350, 350]);
    sim.end("a", { signal: "SIGSEGV" }, false, 5_000);
    expect(sim.reconcile("a")).toMatchObject({ againInMs: 100, status: { failures: 1, reason: "ended by SIGSEGV" } });
  });

  test("a wall clock that jumps back makes no wait longer", () => {
    const sim = new Simulation();
    sim.declare("a", { backoff: { initialMs: 100 } });
    sim.settle();
    sim.end("a", { code: 1 });
    sim.nowMs -= 3_600_000;
    expect(sim.reconcile("a")?.againInMs).toBe(100);
  });

  test("looking twice counts a failure once", () => {
    const sim = new Simulation();
    sim.declare("a");
    sim.settle();
    sim.end("a", { code: 1 });
    sim.reconcile("a");
    sim.reconcile("a");
    expect(sim.status("a")).toMatchObject({ failures: 1 });
  });

  test("a change ends a wait, and begins with no failures", () => {
    const sim = new Simulation();
    sim.declare("a", { backoff: { initialMs: 60_000, maxMs: 60_000 } });
    sim.settle();
    sim.end("a", { code: 1 });
    expect(sim.reconcile("a")?.status.state).toBe("backoff");
    sim.declare("a", { command: ["y"] });
    expect(sim.reconcile("a")?.process).toMatchObject({ run: 2, command: ["y"] });
  });

  test("a removed service stops after all that depend on it, however far away", () => {
    const sim = new Simulation();
    sim.declare("db");
    sim.declare("api", { dependsOn: ["db"] });
    sim.declare("web", { dependsOn: ["api"] });
    sim.settle();
    sim.remove("db");
    expect(sim.reconcile("db")?.status.reason).toBe("being removed; first api must stop");
    expect(sim.reconcile("api")?.status.reason).toBe("db, which it depends on, is being removed; first web must stop");
    expect(sim.reconcile("web")).toMatchObject({ process: { wanted: "stopped" } });
    expect(sim.reconcile("api")?.process).toBeUndefined();
    sim.work("web");
    expect(sim.reconcile("api")).toMatchObject({ process: { wanted: "stopped" } });
    sim.work("api");
    expect(sim.reconcile("db")).toMatchObject({ process: { wanted: "stopped" } });
    sim.settle();
    expect(sim.status("db")).toBeUndefined();
    expect(sim.status("api")).toMatchObject({ state: "blocked", reason: 'depends on "db", which is not declared' });
    expect(sim.status("web")).toMatchObject({ state: "waiting", reason: "waits for api (blocked)" });
  });

  test("a restart for a change takes those along that restart with it, in order, and leaves the others alone", () => {
    const sim = new Simulation();
    sim.declare("db");
    sim.declare("api", { dependsOn: ["db"], restartWithDependencies: true });
    sim.declare("web", { dependsOn: ["api"], restartWithDependencies: true });
    sim.declare("log", { dependsOn: ["db"] });
    sim.settle();
    sim.declare("db", { command: ["y"] });
    expect(sim.reconcile("db")?.status.reason).toBe("its declaration changed; first api must stop");
    sim.settle();
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

  test("a crash takes nobody along", () => {
    const sim = new Simulation();
    sim.declare("db");
    sim.declare("api", { dependsOn: ["db"], restartWithDependencies: true });
    sim.settle();
    sim.end("db", { signal: "SIGKILL" });
    sim.settle();
    expect(sim.status("db")).toMatchObject({ restarts: 1, ready: true });
    expect(sim.status("api")).toMatchObject({ restarts: 0, ready: true });
  });

  test("a service waits for its config files, and restarts when one changes, but not while it is being rendered", () => {
    const sim = new Simulation();
    sim.declare("a");
    const spec = { path: "p", template: "{{ services.a.env.X }}", values: {}, mode: "0644", restarts: ["a"] };
    sim.world.configs.set("c", { spec, removed: false });
    const render = (digest: string, error = "") => {
      const specs = new Map(Array.from(sim.world.services, ([name, one]) => [name, one.spec]));
      sim.world.configStatuses.set("c", {
        path: "p",
        restarts: ["a"],
        digest,
        inputs: configInputs(spec, specs),
        error,
      });
    };
    expect(sim.reconcile("a")?.status).toMatchObject({ state: "waiting", reason: "waits for config file c" });
    render("", "no X");
    expect(sim.reconcile("a")?.status.reason).toBe("waits for config file c: no X");
    render("1");
    sim.settle();
    expect(sim.status("a")).toMatchObject({ ready: true, restarts: 0 });

    sim.declare("a", { env: { X: "1" } });
    expect(sim.reconcile("a")?.process).toBeUndefined();
    render("2");
    sim.settle();
    expect(sim.status("a")).toMatchObject({ ready: true, restarts: 1 });
    render("3");
    sim.settle();
    expect(sim.status("a")).toMatchObject({ ready: true, restarts: 2, startReason: "config file c changed" });
  });

  test("health decides about readiness, and an answer about an earlier run counts for nothing", () => {
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
        restart: true,
      });
    };
    sim.settle();
    expect(sim.status("a")).toMatchObject({ state: "starting", ready: false, health: "unknown" });
    answer(0, "healthy");
    sim.settle();
    expect(sim.status("a")).toMatchObject({ ready: false });
    answer(1, "healthy");
    sim.settle();
    expect(sim.status("a")).toMatchObject({ state: "running", ready: true, health: "healthy" });
    answer(1, "unhealthy", "refused");
    expect(sim.reconcile("a")).toMatchObject({
      process: { wanted: "stopped", stopCause: "unhealthy" },
      status: { reason: "unhealthy: h: refused" },
    });
    sim.work("a");
    expect(sim.reconcile("a")?.status).toMatchObject({
      state: "backoff",
      failures: 1,
      reason: "unhealthy: h: refused",
    });
    sim.settle();
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
    (steps) => {
      const sim = new Simulation();
      for (const one of steps) {
        if (one.kind === "settle") sim.settle();
        else if (one.kind === "reconcile") sim.reconcile(one.id);
        else if (one.kind === "work") sim.work(one.id);
        else if (one.kind === "crash") sim.end(one.id, { signal: "SIGKILL" });
        else if (one.kind === "remove") sim.remove(one.id);
        else {
          const { id, dependsOn, version, restartWithDependencies } = one;
          sim.declare(id, { dependsOn, restartWithDependencies, command: ["x", String(version)] });
        }
      }
      sim.settle();
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
