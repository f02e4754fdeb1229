import { formatPointer, type Resource } from "homeostat";
import { parseManifests } from "homeostat/yaml";

import { ConfigFile, HealthCheck, Service, type ManifestProblem } from "../resources/index.ts";
import type { ManifestFile } from "./read-folder.ts";

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

/** Ids become file names, so they are kept plain. */
const PLAIN_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

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
  const manifests = await parseManifests(file.text, { types: MANIFEST_TYPES, file: name });
  const problems: ManifestProblem[] = manifests.errors.map(({ line, column, field, reason }) => ({
    severity: "error",
    line,
    column,
    field,
    message: reason,
  }));
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

/** Why a resource cannot be put in force, although it is well formed. */
function objectionTo(
  { metadata }: Resource,
  seen: ReadonlyMap<string, string>,
): { readonly path: FieldPath; readonly message: string } | undefined {
  const { id, namespace } = metadata;
  if (!PLAIN_ID.test(id)) {
    const message = `${JSON.stringify(id.slice(0, 100))} must be a name of at most 63 letters, digits, '.', '_' and '-'`;
    return { path: ["metadata", "id"], message };
  }
  if (namespace !== "default") return { path: ["metadata", "namespace"], message: "must be default, or absent" };
  const other = seen.get(formatPointer(metadata));
  if (other === undefined) return undefined;
  return { path: ["metadata", "id"], message: `${id} is declared in ${other} already` };
}
