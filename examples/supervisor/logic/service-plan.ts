import type { Immutable } from "homeostat";

import type { ExitSpec, ProcessSpec, ServiceStatusSpec } from "../resources/index.ts";
import { digest } from "./digest.ts";
import { isOccupied, type Dependant, type Dependency, type ServiceView } from "./service-view.ts";

/** What is to be written: the status, and the process as it should be. */
export interface ServicePlan {
  readonly status: ServiceStatusSpec;
  /** The process to ask for; undefined to leave it as it is. */
  readonly process?: ProcessSpec | undefined;
  /** Nothing is left of a service that is to go: it may be forgotten. */
  readonly finished?: boolean | undefined;
  /** Look again after this time. Unit: milliseconds. */
  readonly againInMs?: number | undefined;
}

/** What a branch of the plan has found out; the rest of the status follows. */
interface Finding extends Omit<ServicePlan, "status"> {
  readonly state: ServiceStatusSpec["state"];
  readonly ready?: boolean | undefined;
  readonly leaving?: boolean | undefined;
  readonly reason: string;
  readonly generation?: number | undefined;
}

interface Counters {
  readonly failures: number;
  readonly countedRun: number;
  readonly lastExit: Immutable<ExitSpec> | undefined;
}

/**
 * Decides what to do about a service. Pure: the same view gives the same plan, and carrying a plan out twice does no
 * more than once.
 *
 * A process is first asked to stop, and the next one asked for only when that has ended. Before it is asked, those
 * that depend on it have stopped: all of them when the service goes, those that restart with it when it restarts.
 */
export function planService(view: ServiceView): ServicePlan {
  const counters = countExit(view);
  const finding = isOccupied(view.process, view.actual) ? planRunning(view) : planStopped(view, counters);
  const { state, ready = false, leaving = false, reason, generation, ...rest } = finding;
  const run = rest.process?.run ?? view.process?.run ?? view.status?.run ?? 0;
  const pid = occupiedPid(view);
  const { status } = view;
  const unchanged = status?.state === state && status.run === run && status.pid === pid;
  return {
    ...rest,
    status: {
      state,
      ready,
      leaving,
      pid,
      health: healthOf(view),
      since: unchanged ? status.since : new Date(view.nowMs).toISOString(),
      restarts: Math.max(0, run - 1),
      run,
      ...counters,
      generation: generation ?? status?.generation ?? 1,
      dependsOn: [...view.spec.dependsOn],
      reason,
      startReason: rest.process?.startReason ?? view.process?.startReason ?? "",
      logPath: view.actual?.logPath ?? status?.logPath,
    },
  };
}

/** Counts the end of a run once: how many failures in a row there were. */
function countExit({ process, actual, status, spec }: ServiceView): Counters {
  const before = {
    failures: status?.failures ?? 0,
    countedRun: status?.countedRun ?? 0,
    lastExit: status?.lastExit,
  };
  const exit = actual?.exit;
  if (process === undefined || exit === undefined || actual?.run !== process.run) return before;
  if (before.countedRun >= process.run) return before;
  const stable = exit.ranMs >= spec.backoff.stableMs;
  const failed = process.wanted === "running" || process.stopCause === "unhealthy";
  return { failures: failed ? (stable ? 1 : before.failures + 1) : 0, countedRun: process.run, lastExit: exit };
}

function planRunning(view: ServiceView): Finding {
  const { process, actual, status } = view;
  if (process === undefined || process.wanted === "stopped") {
    return { state: "stopping", reason: process?.stopReason ?? "", leaving: process?.stopCause === "removal" };
  }
  const stop = reasonToStop(view);
  if (stop !== undefined) {
    const { cause, reason } = stop;
    const leaving = cause === "removal";
    // Those that restart with this one see the generation, and stop; this one is not ready, so they stay stopped.
    const generation = cause === "change" ? process.generation + 1 : undefined;
    const follows = ({ restartsWith, knownGeneration }: Dependant) =>
      restartsWith && generation !== undefined && knownGeneration !== undefined && knownGeneration !== generation;
    const first = view.dependants.filter((one) => one.alive && !one.inCycle && (leaving || follows(one)));
    if (first.length > 0) {
      const names = first.map(({ name }) => name).join(", ");
      return { state: "stopping", reason: `${reason}; first ${names} must stop`, generation, leaving };
    }
    const stopped = { ...thaw(process), wanted: "stopped", stopCause: cause, stopReason: reason } as const;
    return { state: "stopping", reason, generation, leaving, process: stopped };
  }
  const update = liveUpdate(view);
  const note = complaint(view) ?? actual?.warning ?? "";
  if (actual?.run !== process.run || actual.phase === "idle" || actual.phase === "starting") {
    return { state: "starting", reason: note, process: update };
  }
  if (actual.phase === "stopping") {
    const left = actual.leftBehind?.join(", ");
    return {
      state: "stopping",
      reason: left === undefined ? "" : `ended; stopping what it left running (pid ${left})`,
      process: update,
    };
  }
  const health = healthOf(view);
  const ready = health === "none" || health === "healthy";
  const wasReady = status?.run === process.run && status.state === "running";
  const failing = view.checks.find((one) => one.run === process.run && one.message !== "");
  const waits = ready || failing === undefined ? note : `${failing.name}: ${failing.message}`;
  return {
    state: ready || wasReady ? "running" : "starting",
    ready,
    reason: waits || (ready ? "" : "waits for its health check"),
    process: update,
    // A change that was taken back before its restart began counts for nothing.
    generation: process.generation,
  };
}

function planStopped(view: ServiceView, { failures, lastExit }: Counters): Finding {
  const { process, actual, spec } = view;
  if (view.removed) return { state: "stopping", reason: "being removed", finished: true };
  const wrong = complaint(view);
  if (wrong !== undefined) return { state: "blocked", reason: wrong };

  const ended = process !== undefined && actual?.phase === "exited" ? actual.exit : undefined;
  const changed = process !== undefined && changeOf(view) !== undefined;
  if (ended !== undefined && process?.wanted === "running" && !changed) {
    const success = ended.code === 0;
    if (spec.restart === "never" || (spec.restart === "on-failure" && success)) {
      return { state: success ? "done" : "failed", ready: success, reason: describeExit(ended) };
    }
  }
  if (ended !== undefined && failures > 0 && !changed) {
    const waitMs = backoffMs(spec.backoff, failures);
    // The wall clock may jump; the wait never gets longer by that.
    const leftMs = Math.min(waitMs, Date.parse(ended.at) + waitMs - view.nowMs);
    if (leftMs > 0) return { state: "backoff", reason: endReason(view, ended), againInMs: leftMs };
  }
  const waits = waitReason(view);
  if (waits !== undefined) return { state: "waiting", reason: waits };
  const startReason = process === undefined ? "" : endReason(view, lastExit);
  return { state: "starting", reason: startReason, process: nextProcess(view, startReason) };
}

/** The wait before the next start after so many failures in a row. More doublings than 40 reach any maximum. */
const backoffMs = ({ initialMs, maxMs }: ServiceView["spec"]["backoff"], failures: number): number =>
  Math.min(maxMs, initialMs * 2 ** Math.min(failures - 1, 40));

/** What ended the last run. */
function endReason({ process }: ServiceView, exit: Immutable<ExitSpec> | undefined): string {
  if (process !== undefined && process.stopReason !== "") return process.stopReason;
  return exit === undefined ? "" : describeExit(exit);
}

/** A mistake in the manifests that keeps the service from starting. What runs already keeps running. */
function complaint({ dependencies, cycle }: ServiceView): string | undefined {
  if (cycle !== undefined) return `dependency cycle: ${cycle.join(" → ")}`;
  const unknown = dependencies.filter(({ declared }) => !declared).map(({ name }) => JSON.stringify(name));
  if (unknown.length === 0) return undefined;
  return `depends on ${unknown.join(" and ")}, which ${unknown.length === 1 ? "is" : "are"} not declared`;
}

function waitReason({ dependencies, configs }: ServiceView): string | undefined {
  const waits = [
    ...dependencies.filter((one) => one.removed || one.status?.ready !== true).map(describeWait),
    ...configs
      .filter((one) => !one.settled || one.digest === "")
      .map(({ name, failed }) => `config file ${name}${failed ? " (failed)" : ""}`),
  ];
  return waits.length === 0 ? undefined : `waits for ${waits.join(", ")}`;
}

const describeWait = ({ name, removed, status }: Dependency): string =>
  `${name} (${removed ? "being removed" : (status?.state ?? "new")})`;

/** Why a process that is wanted should stop after all. */
function reasonToStop(
  view: ServiceView,
): { readonly cause: ProcessSpec["stopCause"]; readonly reason: string } | undefined {
  if (view.removed) return { cause: "removal", reason: "being removed" };
  const gone = view.dependencies.find(({ removed, status }) => removed || status?.leaving === true);
  if (gone !== undefined)
    return {
      cause: "removal",
      reason: `${gone.name}, which it depends on, is ${gone.removed ? "being removed" : "stopping"}`,
    };
  const change = changeOf(view);
  if (change !== undefined) return { cause: "change", reason: change };
  const { process } = view;
  const ill = view.checks.find((one) => one.run === process?.run && one.health === "unhealthy" && one.restart);
  return ill && { cause: "unhealthy", reason: `unhealthy: ${ill.name}: ${ill.message}` };
}

/** What differs between the run and what is declared, as far as it takes a restart. Not before config files are settled. */
function changeOf({ spec, process, configs, dependencies, restartedAt }: ServiceView): string | undefined {
  if (process === undefined || configs.some(({ settled }) => !settled)) return undefined;
  if (fingerprintOf(spec) !== process.fingerprint) return "its declaration changed";
  // Taking the annotation away asks for nothing.
  if (restartedAt !== "" && restartedAt !== process.restartedAt) return "a restart was requested";
  const config = configs.find((one) => one.digest !== "" && one.digest !== process.configs[one.name]);
  if (config !== undefined) return `config file ${config.name} changed`;
  if (!spec.restartWithDependencies) return undefined;
  const dependency = dependencies.find(({ name, status }) => {
    const then = process.generations[name];
    return then !== undefined && status !== undefined && status.generation !== then;
  });
  return dependency && `${dependency.name}, which it depends on, restarts`;
}

/** The parts of a declaration that only a new process can follow. */
const fingerprintOf = ({ command, env, cwd, log }: ServiceView["spec"]): string => digest({ command, env, cwd, log });

function nextProcess(view: ServiceView, startReason: string): ProcessSpec {
  const { spec, status, process } = view;
  return {
    run: Math.max(status?.run ?? 0, process?.run ?? 0) + 1,
    wanted: "running",
    command: [...spec.command],
    env: { ...spec.env },
    cwd: spec.cwd,
    log: { ...spec.log },
    fingerprint: fingerprintOf(spec),
    restartedAt: view.restartedAt,
    configs: Object.fromEntries(view.configs.map((one) => [one.name, one.digest])),
    generation: status?.generation ?? 1,
    generations: Object.fromEntries(view.dependencies.map((one) => [one.name, one.status?.generation ?? 1])),
    stopCause: "",
    stopReason: "",
    startReason,
    ...liveFields(spec),
  };
}

/** What a running process follows without a restart. */
const liveFields = (spec: ServiceView["spec"]): Pick<ProcessSpec, "dependsOn" | "stopSignal" | "stopGraceMs"> => ({
  dependsOn: [...spec.dependsOn],
  stopSignal: spec.stopSignal,
  stopGraceMs: spec.stopGraceMs,
});

function liveUpdate({ spec, process, dependencies }: ServiceView): ProcessSpec | undefined {
  if (process === undefined) return undefined;
  // A dependency that came later is followed from now on.
  const added = dependencies.flatMap(({ name, status }) => (status === undefined ? [] : [[name, status.generation]]));
  const generations = { ...Object.fromEntries(added), ...process.generations };
  const updated = { ...thaw(process), ...liveFields(spec), generations };
  return digest(updated) === digest(process) ? undefined : updated;
}

const thaw = (process: Immutable<ProcessSpec>): ProcessSpec => structuredClone(process) as ProcessSpec;

function healthOf({ process, actual, checks }: ServiceView): ServiceStatusSpec["health"] {
  if (checks.length === 0) return "none";
  if (process === undefined || actual?.phase !== "running" || actual.run !== process.run) return "unknown";
  const answers = checks.map((one) => (one.run === process.run ? one.health : "unknown"));
  if (answers.includes("unhealthy")) return "unhealthy";
  return answers.includes("unknown") ? "unknown" : "healthy";
}

function occupiedPid({ actual }: ServiceView): number | undefined {
  return actual?.phase === "idle" || actual?.phase === "exited" ? undefined : actual?.pid;
}

/** How a process ended, in one line. */
export function describeExit({ code, signal, error, lastLine }: Immutable<ExitSpec>): string {
  if (error !== undefined) return error;
  const how = signal === undefined ? `exited with code ${code ?? "unknown"}` : `ended by ${signal}`;
  return lastLine === undefined || code === 0 ? how : `${how}: ${lastLine}`;
}
