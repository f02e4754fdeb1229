import {
  definitionsOf,
  formatPointer,
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

export interface DescribeOptions extends CallOptions {
  /** Surrounds each call of the State, with its name. */
  readonly during?: ((what: string, act: () => Promise<Resource>) => Promise<Resource>) | undefined;
}

/**
 * Writes the definitions of types and the descriptions of namespaces into a State, where tools look for them. In a State
 * that outlives its process, those of earlier runs are brought up to date. An alias means one type. A type whose name follows no rules is not
 * described: it is known by its full name only.
 */
export async function describeTypes(
  state: State,
  types: readonly AnyResourceType[],
  namespaces: ReadonlyMap<string, string>,
  options: DescribeOptions = {},
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

async function put(state: State, resource: Resource, options: DescribeOptions): Promise<void> {
  const { signal, during = (_, act) => act() } = options;
  const name = formatPointer(resource.metadata);
  try {
    await during(`create of ${name}`, () => state.create(resource, { owner: META_OWNER, signal }));
  } catch (error) {
    if (!hasCode(error, "already_exists")) throw error;
    const update = () =>
      state.updateWithConflicts(resource.metadata, () => resource.spec, { owner: META_OWNER, signal });
    await during(`update of ${name}`, update);
  }
}
