import type { Resource } from "../resource/index.ts";
import type { ResourceList } from "./core-state.ts";

/** A {@link ResourceList} of resources that are sorted already. The array becomes the list: it is frozen, not copied. */
export function sealResourceList<Spec>(sorted: Resource<Spec>[], revision: number | undefined): ResourceList<Spec> {
  return Object.freeze(Object.assign(sorted, { revision }));
}
