import {
  definitionsOf,
  hasCode,
  META_NAMESPACE,
  META_OWNER,
  NamespaceType,
  ResourceDefinitionType,
  type AnyResourceType,
  type Resource,
} from "../resource/index.ts";
import type { CallOptions, State } from "../state/index.ts";

const META_DESCRIPTION = "What the system knows about its own types and namespaces.";

/**
 * Writes the definitions of types and the descriptions of namespaces into a State, where tools look for them. In a State
 * that outlives its process, those of earlier runs are brought up to date. An alias means one type. A type whose name follows no rules is not
 * described: it is known by its full name only.
 */
export async function describeTypes(
  state: State,
  types: readonly AnyResourceType[],
  namespaces: ReadonlyMap<string, string>,
  options: CallOptions = {},
): Promise<void> {
  const all = [ResourceDefinitionType, NamespaceType, ...types];
  const descriptions = new Map([
    [META_NAMESPACE, META_DESCRIPTION],
    ...types.map(({ namespace }) => [namespace, ""] as const).filter(([name]) => name !== META_NAMESPACE),
    ...namespaces,
  ]);
  for (const [name, description] of descriptions) {
    await put(state, NamespaceType.create(name, { description }), options);
  }
  for (const definition of (await definitionsOf(all)).values()) await put(state, definition, options);
}

async function put(state: State, resource: Resource, { signal }: CallOptions): Promise<void> {
  try {
    await state.create(resource, { owner: META_OWNER, signal });
  } catch (error) {
    if (!hasCode(error, "already_exists")) throw error;
    await state.updateWithConflicts(
      resource.metadata,
      (_, metadata) => {
        Object.assign(metadata.annotations, resource.metadata.annotations);
        return resource.spec;
      },
      { owner: META_OWNER, signal },
    );
  }
}
