import type { Resource } from "homeostat";

import { findCycle } from "../logic/dependency-graph.ts";
import { Service, type ManifestProblem } from "../resources/index.ts";
import { servicesNamedIn, type ParsedFile } from "./parse-files.ts";

/**
 * References that lead nowhere, or in a circle, by file. They cost nothing but a warning, since they may be right once
 * another manifest is there. A cycle is reported once, at the first of its services.
 *
 * @param inForce - All that is declared, or kept as it was declared before.
 */
export function findWarnings(
  files: readonly ParsedFile[],
  inForce: readonly Resource[],
): ReadonlyMap<string, readonly ManifestProblem[]> {
  const services = new Map(
    inForce
      .filter(({ metadata }) => metadata.type === Service.type)
      .map((service) => [service.metadata.id, servicesNamedIn(service).map(({ name }) => name)]),
  );
  const reported = new Set<string>();
  return new Map(
    files.map((file) => [
      file.name,
      file.resources.flatMap((resource) => {
        const { id, type } = resource.metadata;
        const warning = (path: readonly (string | number)[], message: string): ManifestProblem => ({
          severity: "warning",
          ...file.placeOf(resource, path),
          message,
        });
        const unknown = servicesNamedIn(resource).filter(({ name }) => !services.has(name));
        const found = unknown.map(({ name, path }) => warning(path, `no service ${JSON.stringify(name)} is declared`));
        const cycle = type === Service.type ? findCycle(services, id) : undefined;
        if (cycle !== undefined && !cycle.some((name) => reported.has(name))) {
          found.push(warning(["spec", "dependsOn"], `dependency cycle: ${cycle.join(" → ")}`));
        }
        for (const name of cycle ?? []) reported.add(name);
        return found;
      }),
    ]),
  );
}
