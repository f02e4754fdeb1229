import { exists, type Ref } from "homeostat";
import type { LabelQuery } from "homeostat/resource";

import { Service, type ServiceSpec } from "../resources/index.ts";

const PREFIX = "service/";

/** Finds the resources that concern a service. */
export const concerning = (service: string): LabelQuery => [exists(`${PREFIX}${service}`)];

/** Labels a resource with the services that it concerns, and no others: a change of it wakes those. */
export function labelServices(labels: Record<string, string>, services: readonly string[]): void {
  for (const key of Object.keys(labels)) if (key.startsWith(PREFIX)) delete labels[key];
  for (const service of services) labels[`${PREFIX}${service}`] = "";
}

/** The services that {@link labelServices} has named. */
export const servicesInLabels = (labels: Readonly<Record<string, string>>): Ref<ServiceSpec, typeof Service.type>[] =>
  Object.keys(labels)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => Service.ref(key.slice(PREFIX.length)));
