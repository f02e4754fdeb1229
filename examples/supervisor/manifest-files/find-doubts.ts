import type { Resource } from "homeostat";

import { findCycle, type DependencyGraph } from "../logic/dependency-graph.ts";
import { ConfigFile, HealthCheck, Service, type ManifestProblem } from "../resources/index.ts";
import type { FieldPath, ParsedFile } from "./parse-files.ts";

/**
 * References of a manifest that lead nowhere, or in a circle. They cost nothing but a warning, since they may be right
 * once another manifest is there.
 *
 * @param services - All services that are in force, with what they depend on.
 */
export function findDoubts(file: ParsedFile, services: DependencyGraph): ManifestProblem[] {
  return file.resources.flatMap((resource) =>
    doubtsAbout(resource, services).map(({ path, message }) => ({
      severity: "warning",
      ...file.placeOf(resource, path),
      message,
    })),
  );
}

interface Doubt {
  readonly path: FieldPath;
  readonly message: string;
}

function doubtsAbout({ metadata: { id, type }, spec }: Resource, services: DependencyGraph): Doubt[] {
  const unknown = (path: FieldPath, name: string): Doubt[] =>
    services.has(name) ? [] : [{ path, message: `no service ${JSON.stringify(name)} is declared` }];
  switch (type) {
    case Service.type: {
      const { dependsOn } = Service.parseSpec(spec);
      const cycle = findCycle(services, id);
      const circle = cycle && { path: ["spec", "dependsOn"], message: `dependency cycle: ${cycle.join(" → ")}` };
      return [...dependsOn.flatMap((name, i) => unknown(["spec", "dependsOn", i], name)), ...(circle ? [circle] : [])];
    }
    case HealthCheck.type:
      return unknown(["spec", "service"], HealthCheck.parseSpec(spec).service);
    case ConfigFile.type:
      return ConfigFile.parseSpec(spec).restarts.flatMap((name, i) => unknown(["spec", "restarts", i], name));
    default:
      return [];
  }
}
