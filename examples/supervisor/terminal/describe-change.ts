import type { Immutable } from "homeostat";

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
  const [old, fresh] = [before && headline(name, before), headline(name, now)];
  return fresh === undefined || (fresh.text === old?.text && before?.run === now.run) ? [] : [fresh];
}

/** A status in one line; undefined when there is nothing to tell yet. */
function headline(name: string, status: Immutable<ServiceStatusSpec>): Happening | undefined {
  const { state, ready, pid, reason, health } = status;
  const why = reason === "" ? "" : `: ${reason}`;
  switch (state) {
    case "starting":
      return pid === undefined ? undefined : happening("info", `${name}: started (pid ${pid})`);
    case "running":
      if (!ready) return happening("warn", `${name}: not ready${why}`);
      if (reason !== "") return happening("warn", `${name}${why}`);
      return happening("info", `${name}: ready (pid ${pid}${health === "none" ? "" : `, ${health}`})`);
    case "waiting":
      // Not each step of those that it waits for.
      return happening("info", `${name}: ${reason.replace(/ \([a-z ]+\)/g, "")}`);
    case "backoff":
      return happening("warn", `${name}: ${reason}; starts again soon`);
    case "stopping":
    case "done":
      return happening("info", `${name}: ${state}${why}`);
    case "blocked":
    case "failed":
      return happening("error", `${name}: ${state}${why}`);
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
  return [happening("info", `config file ${name}: rendered to ${now.path}`)];
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
