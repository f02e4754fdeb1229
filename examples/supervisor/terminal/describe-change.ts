import type { Immutable } from "homeostat";

import { describeExit } from "../logic/service-plan.ts";
import { plainText } from "../process/plain-text.ts";
import {
  FOLDER_STATUS_ID,
  type ConfigFileStatusSpec,
  type HealthStatusSpec,
  type ManifestStatusSpec,
  type ServiceStatusSpec,
} from "../resources/index.ts";

/** One thing that happened, for people. */
export interface Happening {
  readonly level: "info" | "warn" | "error";
  readonly text: string;
}

const happening = (level: Happening["level"], text: string): Happening => ({ level, text: plainText(text) });

/** What a change of a service's status means. `now` is undefined when the service is gone. */
export function describeServiceChange(
  name: string,
  before: Immutable<ServiceStatusSpec> | undefined,
  now: Immutable<ServiceStatusSpec> | undefined,
): Happening[] {
  if (now === undefined) return [happening("info", `${name}: removed`)];
  const { state, ready, pid, run, reason, health, lastExit } = now;
  const why = reason === "" ? "" : `: ${reason}`;
  const sameRun = before?.run === run;
  const sameReason = before?.reason === reason;
  const sameState = sameRun && before.state === state && before.ready === ready;
  switch (state) {
    case "starting":
      return pid === undefined || (sameRun && before.pid === pid)
        ? []
        : [happening("info", `${name}: started (pid ${pid})`)];
    case "running": {
      if (!ready) return sameState && sameReason ? [] : [happening("warn", `${name}: not ready${why}`)];
      if (sameState) return sameReason || reason === "" ? [] : [happening("warn", `${name}${why}`)];
      return [happening("info", `${name}: ready (pid ${pid}${health === "none" ? "" : `, ${health}`})${why}`)];
    }
    case "backoff":
      if (sameState) return [];
      return [
        happening("warn", `${name}: ${lastExit === undefined ? reason : describeExit(lastExit)}; starts again soon`),
      ];
    case "stopping":
    case "waiting":
    case "done":
      return sameState && sameReason
        ? []
        : [happening("info", `${name}: ${state === "waiting" ? reason : `${state}${why}`}`)];
    case "blocked":
    case "failed":
      return sameState && sameReason ? [] : [happening("error", `${name}: ${state}${why}`)];
  }
}

/** What a change of a manifest's status means. */
export function describeManifestChange(
  file: string,
  before: Immutable<ManifestStatusSpec> | undefined,
  now: Immutable<ManifestStatusSpec> | undefined,
): Happening[] {
  if (now === undefined)
    return [happening("info", file === FOLDER_STATUS_ID ? "the folder can be read again" : `${file}: removed`)];
  const problems = now.problems.map((problem) => formatProblem(file, problem));
  const old = new Set(before?.problems.map((problem) => formatProblem(file, problem)));
  const fresh = now.problems.filter((_, i) => !old.has(problems[i] ?? ""));
  const found = fresh.map((problem) =>
    happening(problem.severity === "error" ? "error" : "warn", formatProblem(file, problem)),
  );
  if (problems.length === 0 && old.size > 0) return [happening("info", `${file}: in order again`)];
  return found;
}

/** `web.yaml:4:3: spec.command: …`, as compilers write it. */
export function formatProblem(file: string, problem: Immutable<ManifestStatusSpec["problems"][number]>): string {
  const { line, column, field, message } = problem;
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return plainText(`${place}: ${field === undefined ? "" : `${field}: `}${message}`);
}

/** What a change of a config file's status means. */
export function describeConfigChange(
  name: string,
  before: Immutable<ConfigFileStatusSpec> | undefined,
  now: Immutable<ConfigFileStatusSpec> | undefined,
): Happening[] {
  if (now === undefined) return [];
  if (now.error !== "")
    return now.error === before?.error ? [] : [happening("error", `config file ${name}: ${now.error}`)];
  if (now.digest === "" || (before?.digest === now.digest && before.path === now.path)) return [];
  return [happening("info", `config file ${name}: written to ${now.path}`)];
}

/** What a change of a check's status means. Good answers are told by the service. */
export function describeHealthChange(
  name: string,
  before: Immutable<HealthStatusSpec> | undefined,
  now: Immutable<HealthStatusSpec> | undefined,
): Happening[] {
  if (now?.health !== "unhealthy" || (before?.health === "unhealthy" && before.run === now.run)) return [];
  return [happening("warn", `${now.service}: unhealthy: ${name}: ${now.message}`)];
}
