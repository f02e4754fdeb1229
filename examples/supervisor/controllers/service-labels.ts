import type { Ref } from "homeostat";

import { Service, type ServiceSpec } from "../resources/index.ts";

const PREFIX = "service/";

/** Labels that say which services a status concerns, so that a change of it wakes those. */
export const serviceLabels = (services: readonly string[]): Record<string, string> =>
  Object.fromEntries(services.map((service) => [`${PREFIX}${service}`, ""]));

export const servicesInLabels = (labels: Readonly<Record<string, string>>): Ref<ServiceSpec, typeof Service.type>[] =>
  Object.keys(labels)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => Service.ref(key.slice(PREFIX.length)));
