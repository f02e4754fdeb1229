import { Phase, type Immutable, type Resource } from "homeostat";
import type { ControllerReader } from "homeostat/controller";

import {
  ConfigFile,
  ConfigFileStatus,
  HealthCheck,
  HealthStatus,
  Process,
  ProcessStatus,
  RESTART_ANNOTATION,
  Service,
  ServiceStatus,
  type ConfigFileSpec,
  type HealthStatusSpec,
  type ProcessSpec,
  type ProcessStatusSpec,
  type ServiceSpec,
  type ServiceStatusSpec,
} from "../resources/index.ts";
import { dependenciesOf, findCycle, type DependencyGraph } from "./dependency-graph.ts";
import { digest } from "./digest.ts";
import { concerning } from "./service-labels.ts";
import { servicesOf } from "./template.ts";

/** Everything that decides what to do about one service, read from the state at one moment. */
export interface ServiceView {
  /** Unit: milliseconds since the Unix epoch. */
  readonly nowMs: number;
  readonly spec: Immutable<ServiceSpec>;
  /** The service is to go. */
  readonly removed: boolean;
  /** The restart that was asked for last; empty for none. */
  readonly restartedAt: string;
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
  readonly status: Immutable<ServiceStatusSpec> | undefined;
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
  readonly failed: boolean;
}

/** A health check of the service, with what it found out about the present run. */
export interface Check extends Pick<HealthStatusSpec, "run" | "health" | "message"> {
  readonly name: string;
  readonly restart: boolean;
}

type Readable =
  | typeof Service
  | typeof ServiceStatus
  | typeof Process
  | typeof ProcessStatus
  | typeof ConfigFile
  | typeof ConfigFileStatus
  | typeof HealthCheck
  | typeof HealthStatus;
type Reader = Pick<ControllerReader<Readable>, "getOrNull" | "list">;

/** Reads what decides about one service: itself, its neighbours, and the files and checks that name it. */
export async function readServiceView(
  state: Reader,
  { metadata, spec }: Resource<ServiceSpec>,
  nowMs: number,
): Promise<ServiceView> {
  const { id } = metadata;
  const named = { labels: concerning(id) };
  const specOf = async <R extends Readable>(type: R, name: string) => (await state.getOrNull(type, name))?.spec;
  const graph = await readDependencies(state, id, spec.dependsOn);
  const own = dependenciesOf(graph, id);
  return {
    nowMs,
    spec,
    removed: isRemoved({ metadata }),
    restartedAt: restartOf(metadata.annotations),
    status: await specOf(ServiceStatus, id),
    process: await specOf(Process, id),
    actual: await specOf(ProcessStatus, id),
    cycle: findCycle(graph, id),
    dependencies: await Promise.all(
      spec.dependsOn.map(async (name) => {
        const service = await state.getOrNull(Service, name);
        const declared = service !== undefined;
        return { name, declared, removed: declared && isRemoved(service), status: await specOf(ServiceStatus, name) };
      }),
    ),
    dependants: await Promise.all(
      (await state.list(Service, named)).map(async (one) => {
        const name = one.metadata.id;
        const process = await specOf(Process, name);
        return {
          name,
          alive: isOccupied(process, await specOf(ProcessStatus, name)),
          restartsWith: one.spec.restartWithDependencies,
          knownGeneration: process?.generations[id],
          inCycle: name === id || own.has(name),
        };
      }),
    ),
    configs: await Promise.all(
      (await state.list(ConfigFile, named)).filter(isInForce).map(async (one) => {
        const name = one.metadata.id;
        const { inputs, digest: content = "", error = "" } = (await specOf(ConfigFileStatus, name)) ?? {};
        const services = await readServices(state, one.spec.template);
        return { name, settled: inputs === configInputs(one.spec, services), digest: content, failed: error !== "" };
      }),
    ),
    checks: await Promise.all(
      (await state.list(HealthCheck, named)).filter(isInForce).map(async (one) => {
        const name = one.metadata.id;
        const status = await specOf(HealthStatus, name);
        const { run = 0, health = "unknown", message = "" } = status?.service === id ? status : {};
        return { name, run, health, message, restart: one.spec.onUnhealthy === "restart" };
      }),
    ),
  };
}

const isInForce = ({ metadata }: Pick<Resource, "metadata">): boolean => metadata.phase === Phase.running;
const isRemoved = (resource: Pick<Resource, "metadata">): boolean => !isInForce(resource);

/** What is declared of the services on all ways that begin at one. */
async function readDependencies(state: Reader, start: string, dependsOn: readonly string[]): Promise<DependencyGraph> {
  const graph = new Map<string, readonly string[]>([[start, dependsOn]]);
  for (const names of graph.values()) {
    for (const name of names) {
      if (graph.has(name)) continue;
      const service = await state.getOrNull(Service, name);
      if (service !== undefined) graph.set(name, service.spec.dependsOn);
    }
  }
  return graph;
}

function restartOf(annotations: Readonly<Record<string, string>>): string {
  const keys = Object.keys(annotations).filter((key) => key.endsWith(RESTART_ANNOTATION));
  return keys.map((key) => annotations[key]).join();
}

/** What templates see of a service: what was declared, nothing that changes while it runs. */
export type ServiceData = Immutable<Pick<ServiceSpec, "command" | "env" | "cwd">>;

/** What `{{ services.… }}` stands for in these texts: the services that they name. */
export async function readServices(
  state: Pick<ControllerReader<typeof Service>, "getOrNull">,
  ...templates: readonly string[]
): Promise<Readonly<Record<string, ServiceData>>> {
  const found: Record<string, ServiceData> = {};
  for (const name of new Set(templates.flatMap((template) => [...servicesOf(template)]))) {
    const service = await state.getOrNull(Service, name);
    if (service === undefined) continue;
    const { command, env, cwd } = service.spec;
    found[name] = { command, env, cwd };
  }
  return found;
}

/** Digest of everything that a config file is rendered from. @param services - Those that its template names. */
export function configInputs(
  { path, template, values, mode }: Immutable<ConfigFileSpec>,
  services: Readonly<Record<string, ServiceData>>,
): string {
  return digest({ path, template, values, mode, services });
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
