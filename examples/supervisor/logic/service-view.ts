import type { Immutable } from "homeostat";

import type {
  ConfigFileSpec,
  ProcessSpec,
  ProcessStatusSpec,
  ServiceSpec,
  ServiceStatusSpec,
} from "../resources/index.ts";
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
  readonly status: Immutable<Pick<ServiceStatusSpec, "ready" | "state" | "generation">> | undefined;
}

/** A service that depends on this one. */
export interface Dependant {
  readonly name: string;
  /** A process of it may run. */
  readonly alive: boolean;
  readonly restartsWith: boolean;
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
