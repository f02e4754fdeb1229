import type { Resource } from "homeostat";
import { formatPointer } from "homeostat/resource";
import { parseManifests, type Manifests } from "homeostat/yaml";

import { ConfigFile, HealthCheck, Service, type ManifestProblem } from "../resources/index.ts";
import { PLAIN_NAME } from "../resources/fields.ts";
import type { ManifestFile } from "./folder-reader.ts";

export type Declarable = typeof ConfigFile | typeof HealthCheck | typeof Service;

/** The types that manifests may declare, in the order in which they are put in force. */
export const MANIFEST_TYPES: readonly Declarable[] = [ConfigFile, HealthCheck, Service];

/** What one manifest declares. */
export interface ParsedFile {
  readonly name: string;
  readonly resources: readonly Resource[];
  readonly problems: readonly ManifestProblem[];
  /** Where a field of one of the resources stands. */
  readonly placeOf: (resource: Resource, path: FieldPath) => Pick<ManifestProblem, "line" | "column" | "field">;
}

/** Keys and indexes from the document inwards. */
export type FieldPath = readonly (string | number)[];

/** Arguments and environment variables are the text that is written: `0022` is no number there. */
const isText = ([part, field, key]: FieldPath): boolean =>
  part === "spec" && (field === "env" || field === "command") && key !== undefined;

/** Reads all manifests. A mistake costs the document that it is in. */
export async function parseFiles(files: readonly ManifestFile[]): Promise<ParsedFile[]> {
  const seen = new Map<string, string>();
  const parsed: ParsedFile[] = [];
  // One after the other: of two that declare the same, the first counts.
  for (const file of files) parsed.push(await parseFile(file, seen));
  return parsed;
}

async function parseFile(file: ManifestFile, seen: Map<string, string>): Promise<ParsedFile> {
  const { name } = file;
  if (file.error !== undefined) {
    return { name, resources: [], problems: [{ severity: "error", message: file.error }], placeOf: () => ({}) };
  }
  const manifests = await parseManifests(file.text, {
    types: MANIFEST_TYPES,
    file: name,
    keepText: isText,
  });
  const problems = oneForEachMistake(manifests.errors);
  const placeOf: ParsedFile["placeOf"] = (resource, path) => {
    const { line, column } = manifests.positionOf(resource, ...path) ?? {};
    return { line, column, field: formatField(path) };
  };
  const resources = manifests.resources.filter((resource) => {
    const objection = objectionTo(resource, seen);
    if (objection === undefined) seen.set(formatPointer(resource.metadata), name);
    else problems.push({ severity: "error", ...placeOf(resource, objection.path), message: objection.message });
    return objection === undefined;
  });
  return { name, resources, problems, placeOf };
}

const formatField = (path: FieldPath): string =>
  path.map((key, i) => (typeof key === "number" ? `[${key}]` : i === 0 ? key : `.${key}`)).join("");

/**
 * The errors in plain words, one for each mistake: a field that is misspelt is not missing as well, and a value that is
 * wrong is not wrong in a second way.
 */
function oneForEachMistake(errors: Manifests["errors"]): ManifestProblem[] {
  const typo = new Map<string, string>();
  for (const { field: unknown, reason } of errors) {
    if (unknown === undefined || !IS_UNKNOWN.test(reason)) continue;
    const missing = errors.find(
      ({ field, reason: why }) => field !== undefined && IS_MISSING.test(why) && looksLike(unknown, field),
    );
    if (missing?.field !== undefined) typo.set(unknown, missing.field);
  }
  const excused = new Set(typo.values());
  return errors
    .filter(({ field, reason }) => field === undefined || !(IS_MISSING.test(reason) && excused.has(field)))
    .filter((one, i, all) => all.findIndex(({ line, field }) => line === one.line && field === one.field) === i)
    .map(({ line, column, field, reason }) => {
      const meant = typo
        .get(field ?? "")
        ?.split(".")
        .at(-1);
      const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
      return { severity: "error", line, column, field, message: `${plainReason(reason)}${hint}` };
    });
}

const IS_UNKNOWN = /^(?:Unrecognized key|is not a known field)/;
const IS_MISSING = /^Invalid input: expected .*, received undefined$/;

/** In Zod's words or ours. */
function plainReason(reason: string): string {
  if (IS_MISSING.test(reason)) return "is missing";
  if (IS_UNKNOWN.test(reason)) return "is not a known field";
  return reason
    .replace(/^Invalid input: expected (\w+), received (\w+)$/, "must be of the type $1, not $2")
    .replace(
      /^Invalid option: expected one of (.*)$/,
      (_, options: string) => `must be one of ${options.replaceAll("|", ", ")}`,
    );
}

/** True for two fields of the same mapping whose names differ by a letter or two. */
function looksLike(a: string, b: string): boolean {
  const [here, there] = [a.lastIndexOf("."), b.lastIndexOf(".")];
  return a.slice(0, here) === b.slice(0, there) && distance(a.slice(here + 1), b.slice(there + 1)) <= 2;
}

/** Levenshtein's: letters to add, drop or change. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const [change = 0, drop = 0, add = 0] = [row[j], row[j + 1], next[j]];
      next.push(Math.min(change + (letter === b[j] ? 0 : 1), drop + 1, add + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Why a resource cannot be put in force, although it is well formed. */
function objectionTo(
  { metadata }: Resource,
  seen: ReadonlyMap<string, string>,
): { readonly path: FieldPath; readonly message: string } | undefined {
  const { id, namespace } = metadata;
  if (!PLAIN_NAME.test(id)) {
    const message = `${JSON.stringify(id.slice(0, 100))} must be a name of at most 63 letters, digits, '.', '_' and '-'`;
    return { path: ["metadata", "id"], message };
  }
  if (namespace !== "default") return { path: ["metadata", "namespace"], message: "must be default, or absent" };
  const other = seen.get(formatPointer(metadata));
  if (other === undefined) return undefined;
  return { path: ["metadata", "id"], message: `${id} is declared in ${other} already` };
}

/** The services that a declared resource names, and where. */
export function servicesNamedIn({ metadata, spec }: Resource): { readonly name: string; readonly path: FieldPath }[] {
  const all = (field: string, names: readonly string[]) => names.map((name, i) => ({ name, path: ["spec", field, i] }));
  switch (metadata.type) {
    case Service.type:
      return all("dependsOn", Service.parseSpec(spec).dependsOn);
    case ConfigFile.type:
      return all("restarts", ConfigFile.parseSpec(spec).restarts);
    case HealthCheck.type:
      return [{ name: HealthCheck.parseSpec(spec).service, path: ["spec", "service"] }];
    default:
      return [];
  }
}
