import { matchesLabels, type AnyResourceType, type LabelQuery } from "../../resource/index.ts";
import type { Mapper } from "../input.ts";

/** Maps a change to the primary of the same id, in the type's own namespace: `mapped(Config, sameId(Service))`. */
export const sameId =
  <const R extends AnyResourceType>(target: R): Mapper<R["type"]> =>
  ({ id }) => [target.ref(id)];

/**
 * Maps a change to the primary whose id stands in a label: `mapped(Config, byLabel(Service, "service"))`. Without the label
 * it concerns no primary; a change from one value to another concerns both.
 *
 * @param query - Only changes whose labels match. Default: all.
 */
export const byLabel =
  <const R extends AnyResourceType>(target: R, label: string, query: LabelQuery = []): Mapper<R["type"]> =>
  ({ labels }) => {
    const id = labels[label];
    return id !== undefined && matchesLabels(query, labels) ? [target.ref(id)] : [];
  };
