import {
  equal,
  META_NAMESPACE,
  NamespaceType,
  Phase,
  type LabelQuery,
  type Pointer,
  type Resource,
} from "../../resource/index.ts";
import type { State } from "../../state/index.ts";
import type { KindCatalog } from "../args/kind-catalog.ts";
import { APPLIED_ANNOTATION } from "./applied-mark.ts";
import { SET_LABEL } from "./apply-manifest.ts";

export interface PruneOptions {
  /** What is to stay. */
  readonly applied: readonly Pointer[];
  readonly set: string | undefined;
  readonly labels: LabelQuery | undefined;
  /** The only namespace to look into. Default: all that are described, and those of what was applied. */
  readonly namespace: string | undefined;
  readonly owner: string | undefined;
  readonly signal: AbortSignal;
}

const keyOf = ({ namespace, type, id }: Pointer): string => JSON.stringify([namespace, type, id]);

/**
 * What was applied earlier and is not any more: resources of described types that are in the set or match the labels,
 * bear the mark of `apply`, have the owner that the command writes for, and are not torn down yet.
 */
export async function findPrunable(
  state: State,
  catalog: KindCatalog,
  options: PruneOptions,
): Promise<readonly Resource[]> {
  const { applied, set, labels = [], owner = "", signal } = options;
  const query = set === undefined ? labels : [...labels, equal(SET_LABEL, set)];
  const stay = new Set(applied.map(keyOf));
  const types = new Set([...catalog.kinds, ...applied].map(({ type }) => type));
  const found: Resource[] = [];
  for (const namespace of await namespacesOf(state, catalog, options)) {
    for (const type of types) {
      if (namespace === META_NAMESPACE) continue;
      const resources = await state.list({ namespace, type }, { labels: query, signal });
      found.push(
        ...resources.filter(
          ({ metadata }) =>
            Object.hasOwn(metadata.annotations, APPLIED_ANNOTATION) &&
            metadata.owner === owner &&
            metadata.phase === Phase.running &&
            !stay.has(keyOf(metadata)),
        ),
      );
    }
  }
  return found;
}

async function namespacesOf(
  state: State,
  catalog: KindCatalog,
  { applied, namespace, signal }: PruneOptions,
): Promise<ReadonlySet<string>> {
  if (namespace !== undefined) return new Set([namespace]);
  const described = await state.list({ namespace: NamespaceType.namespace, type: NamespaceType.type }, { signal });
  return new Set([
    ...described.map(({ metadata }) => metadata.id),
    ...catalog.kinds.map(({ defaultNamespace }) => defaultNamespace),
    ...applied.map((one) => one.namespace),
  ]);
}
