import { formatPointer, type Resource } from "homeostat";
import { parseManifests } from "homeostat/yaml";

import { findCycle } from "../logic/dependency-graph.ts";
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
}

/** Ids become file names, so they are kept plain. */
const PLAIN_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** Reads all manifests. A mistake costs the document that it is in, or, for a doubtful reference, nothing but a warning. */
export async function parseFiles(files: readonly ManifestFile[]): Promise<ParsedFile[]> {
  const seen = new Map<string, string>();
  const parsed: (ParsedFile & { readonly places: ReadonlyMap<Resource, Place> })[] = [];
  for (const file of files) parsed.push(await parseFile(file, seen));

  const services = new Map<string, readonly string[]>();
  for (const { metadata, spec } of parsed.flatMap(({ resources }) => resources)) {
    if (metadata.type === Service.type) services.set(metadata.id, Service.parseSpec(spec).dependsOn);
  }
  return parsed.map(({ name, resources, problems, places }) => ({
    name,
    resources,
    problems: [
      ...problems,
      ...resources.flatMap((resource) =>
        doubtsAbout(resource, services).map((doubt) => ({ ...places.get(resource), ...doubt })),
      ),
    ],
  }));
}

interface Place {
  readonly line: number;
  readonly column: number;
}

async function parseFile(
  file: ManifestFile,
  seen: Map<string, string>,
): Promise<ParsedFile & { readonly places: ReadonlyMap<Resource, Place> }> {
  const { name } = file;
  const places = new Map<Resource, Place>();
  if (file.error !== undefined) {
    return { name, resources: [], problems: [{ severity: "error", message: file.error }], places };
  }
  const { resources, errors, positions } = await parseManifests(file.text, { types: MANIFEST_TYPES, file: name });
  const problems: ManifestProblem[] = errors.map(({ line, column, field, reason }) => ({
    severity: "error",
    line,
    column,
    field,
    message: reason,
  }));
  const good = resources.filter((resource) => {
    const { line = 1, column = 1 } = positions.get(resource) ?? {};
    places.set(resource, { line, column });
    const objection = objectionTo(resource, seen);
    if (objection === undefined) seen.set(formatPointer(resource.metadata), name);
    else problems.push({ severity: "error", line, column, ...objection });
    return objection === undefined;
  });
  return { name, resources: good, problems, places };
}

/** Why a resource cannot be put in force, although it is well formed. */
function objectionTo(
  { metadata }: Resource,
  seen: ReadonlyMap<string, string>,
): Pick<ManifestProblem, "field" | "message"> | undefined {
  const { id, namespace } = metadata;
  if (!PLAIN_ID.test(id)) {
    const message = `${JSON.stringify(id.slice(0, 100))} must be a name of at most 63 letters, digits, '.', '_' and '-'`;
    return { field: "metadata.id", message };
  }
  if (namespace !== "default") return { field: "metadata.namespace", message: "must be default, or absent" };
  const other = seen.get(formatPointer(metadata));
  return other === undefined ? undefined : { field: "metadata.id", message: `${id} is declared in ${other} already` };
}

/** References that lead nowhere, or in a circle. They may be right once another file is there, so they are warnings. */
function doubtsAbout(
  { metadata: { id, type }, spec }: Resource,
  services: ReadonlyMap<string, readonly string[]>,
): ManifestProblem[] {
  const unknown = (field: string, name: string): ManifestProblem[] =>
    services.has(name)
      ? []
      : [{ severity: "warning", field, message: `no service ${JSON.stringify(name)} is declared` }];
  switch (type) {
    case Service.type: {
      const { dependsOn } = Service.parseSpec(spec);
      const cycle = findCycle(services, id);
      return [
        ...dependsOn.flatMap((name, i) => unknown(`spec.dependsOn[${i}]`, name)),
        ...(cycle === undefined
          ? []
          : [
              {
                severity: "warning" as const,
                field: "spec.dependsOn",
                message: `dependency cycle: ${cycle.join(" → ")}`,
              },
            ]),
      ];
    }
    case HealthCheck.type:
      return unknown("spec.service", HealthCheck.parseSpec(spec).service);
    default:
      return ConfigFile.parseSpec(spec).restarts.flatMap((name, i) => unknown(`spec.restarts[${i}]`, name));
  }
}
