import { findCycle, type DependencyGraph } from "../logic/dependency-graph.ts";
import { Service, type ManifestProblem } from "../resources/index.ts";
import { servicesNamedIn, type ParsedFile } from "./parse-files.ts";

/**
 * References that lead nowhere, or in a circle, by file. They cost nothing but a warning, since they may be right once
 * another manifest is there. A cycle is reported once, at the first of its services.
 *
 * @param services - All services that are in force, with what they depend on.
 */
export function findWarnings(
  files: readonly ParsedFile[],
  services: DependencyGraph,
): ReadonlyMap<string, readonly ManifestProblem[]> {
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
