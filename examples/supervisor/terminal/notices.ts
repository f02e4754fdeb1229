import type { Immutable } from "homeostat";

import { plainText } from "../process/plain-text.ts";
import {
  FOLDER_STATUS_ID,
  type ConfigFileStatusSpec,
  type ManifestStatusSpec,
  type ServiceStatusSpec,
} from "../resources/index.ts";

/** One thing that happened, for people. */
export interface Notice {
  readonly level: "info" | "warn" | "error";
  readonly text: string;
}

/** A notice, and when it came. */
export interface TimedNotice extends Notice {
  readonly at: Date;
}

const notice = (level: Notice["level"], text: string): Notice => ({ level, text: plainText(text) });

/** What a change from one status to the next means; `now` is undefined when the resource is gone. */
export type Describe<Spec> = (
  name: string,
  before: Immutable<Spec> | undefined,
  now: Immutable<Spec> | undefined,
) => Notice[];

export const describeServiceChange: Describe<ServiceStatusSpec> = (name, before, now) => {
  if (now === undefined) return [notice("info", `${name}: removed`)];
  const [old, fresh] = [before && headline(name, before), headline(name, now)];
  return fresh === undefined || (fresh.text === old?.text && before?.run === now.run) ? [] : [fresh];
};

/** A status in one line; undefined when there is nothing to say yet, or something else says it. */
function headline(name: string, status: Immutable<ServiceStatusSpec>): Notice | undefined {
  const { state, ready, pid, reason, health } = status;
  const why = reason === "" ? "" : `: ${reason}`;
  switch (state) {
    case "starting":
      return pid === undefined ? undefined : notice("info", `${name}: started (pid ${pid})`);
    case "running":
      if (!ready) return notice("warn", `${name}: not ready${why}`);
      if (reason !== "") return notice("warn", `${name}${why}`);
      return notice("info", `${name}: ready (pid ${pid}${health === "none" ? "" : `, ${health}`})`);
    case "waiting":
      // Not each step of those that it waits for.
      return notice("info", `${name}: ${reason.replace(/ \([a-z ]+\)/g, "")}`);
    case "backoff":
      return notice("warn", `${name}: ${reason}; starts again soon`);
    case "blocked":
      return undefined; // The manifest with the mistake says it.
    case "stopping":
      return reason === "" ? undefined : notice("info", `${name}: stopping${why}`);
    case "done":
      return notice("info", `${name}: done${why}`);
    case "failed":
      return notice("error", `${name}: failed${why}`);
  }
}

export const describeManifestChange: Describe<ManifestStatusSpec> = (file, before, now) => {
  if (now === undefined) {
    return [notice("info", file === FOLDER_STATUS_ID ? "the folder can be read again" : `${file}: removed`)];
  }
  const problems = now.problems.map((problem) => formatProblem(file, problem));
  const old = new Set(before?.problems.map((problem) => formatProblem(file, problem)));
  if (problems.length === 0 && old.size > 0) return [notice("info", `${file}: the mistakes are corrected`)];
  return now.problems.flatMap(({ severity }, i) => {
    const text = problems[i] ?? "";
    return old.has(text) ? [] : [notice(severity === "error" ? "error" : "warn", text)];
  });
};

/** `web.yaml:4:3: spec.command: …`, as compilers write it. */
export function formatProblem(file: string, problem: Immutable<ManifestStatusSpec["problems"][number]>): string {
  const { line, column, field, message } = problem;
  const place = file === FOLDER_STATUS_ID ? "" : line === undefined ? `${file}: ` : `${file}:${line}:${column ?? 1}: `;
  return plainText(`${place}${field === undefined ? "" : `${field}: `}${message}`);
}

export const describeConfigChange: Describe<ConfigFileStatusSpec> = (name, before, now) => {
  if (now === undefined || (now.error === before?.error && now.digest === before.digest && now.path === before.path)) {
    return [];
  }
  if (now.error !== "") {
    return now.error === before?.error ? [] : [notice("error", `config file ${name}: ${now.error}`)];
  }
  return [notice("info", `config file ${name}: rendered to ${now.path}`)];
};
