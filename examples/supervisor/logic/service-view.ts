import type { Immutable } from "homeostat";

import type {
  ConfigFileSpec,
  ConfigFileStatusSpec,
  HealthCheckSpec,
  HealthStatusSpec,
  ProcessSpec,
  ProcessStatusSpec,
  ServiceSpec,
  ServiceStatusSpec,
} from "../resources/index.ts";
import { dependenciesOf, findCycle, type DependencyGraph } from "./dependency-graph.ts";
import { digest } from "./digest.ts";
import { servicesOf } from "./template.ts";

/** Everything that decides what to do about one service, read from the state at one moment. */
export interface ServiceView {
  readonly id: string;
  /** Unit: milliseconds since the Unix epoch. */
  readonly nowMs: number;
  readonly spec: Immutable<ServiceSpec>;
  /** The service is to go. */
  readonly removed: boolean;
  readonly status: Immutable<ServiceStatusSpec> | undefined;
  readonly process: Immutable<ProcessSpec> | undefined;
  readonly actual: Immutable<ProcessStatusSpec> | undefined;
  readonly dependencies: readonly Dependency[];
  readonly dependants: readonly Dependant[];
  /** The way from the service back to itself, if there is one. */
  readonly cycle: readonly string[] | undefined;
  readonly configs: readonly Config[];
  readonly checks: readonly Check[];
}

/** A service that this one depends on. */
export interface Dependency {
  readonly name: string;
  readonly declared: boolean;
  readonly removed: boolean;
  readonly status: Immutable<Pick<ServiceStatusSpec, "ready" | "state" | "generation" | "leaving">> | undefined;
}

/** A service that depends on this one. */
export interface Dependant {
  readonly name: string;
  /** A process of it may run. */
  readonly alive: boolean;
  /** It restarts when this one does. */
  readonly restartsWith: boolean;
  /** The generation of this one that its process goes by. */
  readonly knownGeneration: number | undefined;
  /** This one depends on it as well: neither can wait for the other. */
  readonly inCycle: boolean;
}

/** A config file that the service waits for and restarts with. */
export interface Config {
  readonly name: string;
  /** Digest of the content on disk; empty when there is none. */
  readonly digest: string;
  /** The content follows from what is declared now. */
  readonly settled: boolean;
  readonly error: string;
}

/** A health check of the service. */
export interface Check {
  readonly name: string;
  /** The run that the answer is about. */
  readonly run: number;
  readonly health: "unknown" | "healthy" | "unhealthy";
  readonly message: string;
  readonly restart: boolean;
}

/** A spec with the little that counts of its metadata. */
export interface Declared<Spec> {
  readonly spec: Immutable<Spec>;
  /** It is to go. */
  readonly removed: boolean;
}

/** Everything that is known, by id. */
export interface World {
  readonly services: ReadonlyMap<string, Declared<ServiceSpec>>;
  readonly statuses: ReadonlyMap<string, Immutable<ServiceStatusSpec>>;
  readonly processes: ReadonlyMap<string, Immutable<ProcessSpec>>;
  readonly actual: ReadonlyMap<string, Immutable<ProcessStatusSpec>>;
  readonly configs: ReadonlyMap<string, Declared<ConfigFileSpec>>;
  readonly configStatuses: ReadonlyMap<string, Immutable<ConfigFileStatusSpec>>;
  readonly checks: ReadonlyMap<string, Declared<HealthCheckSpec>>;
  readonly healthStatuses: ReadonlyMap<string, Immutable<HealthStatusSpec>>;
}

/** What of the world decides about one service. */
export function viewService(
  world: World,
  id: string,
  { spec, removed }: Declared<ServiceSpec>,
  nowMs: number,
): ServiceView {
  const { services, statuses, processes, actual } = world;
  const graph: DependencyGraph = new Map(Array.from(services, ([name, one]) => [name, one.spec.dependsOn]));
  const specs = new Map(Array.from(services, ([name, one]) => [name, one.spec]));
  const ownDependencies = dependenciesOf(graph, id);
  return {
    id,
    nowMs,
    spec,
    removed,
    status: statuses.get(id),
    process: processes.get(id),
    actual: actual.get(id),
    cycle: findCycle(graph, id),
    dependencies: spec.dependsOn.map((name) => {
      const dependency = services.get(name);
      const declared = dependency !== undefined;
      return { name, declared, removed: dependency?.removed ?? false, status: statuses.get(name) };
    }),
    dependants: Array.from(services)
      .filter(([, one]) => one.spec.dependsOn.includes(id))
      .map(([name, one]) => ({
        name,
        alive: isOccupied(processes.get(name), actual.get(name)),
        restartsWith: one.spec.restartWithDependencies,
        knownGeneration: processes.get(name)?.generations[id],
        inCycle: name === id || ownDependencies.has(name),
      })),
    configs: Array.from(world.configs)
      .filter(([, one]) => !one.removed && one.spec.restarts.includes(id))
      .map(([name, one]) => {
        const { inputs, digest: content = "", error = "" } = world.configStatuses.get(name) ?? {};
        return { name, settled: inputs === configInputs(one.spec, specs), digest: content, error };
      }),
    checks: Array.from(world.checks)
      .filter(([, one]) => !one.removed && one.spec.service === id)
      .map(([name, one]) => {
        const status = world.healthStatuses.get(name);
        const { run = 0, health = "unknown", message = "" } = status?.service === id ? status : {};
        return { name, run, health, message, restart: one.spec.onUnhealthy === "restart" };
      }),
  };
}

/** What templates see of a service: what was declared, nothing that changes while it runs. */
export type ServiceData = Immutable<Pick<ServiceSpec, "command" | "env" | "cwd">>;

/** Digest of everything that a config file is rendered from. */
export function configInputs(spec: Immutable<ConfigFileSpec>, services: ReadonlyMap<string, ServiceData>): string {
  const used = [...servicesOf(spec.template)].map((name) => {
    const service = services.get(name);
    return [name, service && { command: service.command, env: service.env, cwd: service.cwd }];
  });
  const { path, template, values, mode } = spec;
  return digest({ path, template, values, mode, used });
}

/**
 * True when a process of the service runs, or may: everything but the certainty that the last run has ended, or was
 * called off before it began.
 */
export function isOccupied(
  process: Immutable<ProcessSpec> | undefined,
  actual: Immutable<ProcessStatusSpec> | undefined,
): boolean {
  if (process === undefined) return false;
  if (actual === undefined || actual.run !== process.run) return true;
  return !(actual.phase === "exited" || (actual.phase === "idle" && process.wanted === "stopped"));
}
