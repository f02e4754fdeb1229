import type { AnyResourceType, Resource } from "../../resource/index.ts";
import type { Query } from "../../state/index.ts";
import type { ClassicInput } from "../controller.ts";
import { destroyReady, weak } from "../input.ts";
import { SkipError } from "../outcome.ts";
import { shared, type Output } from "../output.ts";
import { Failures } from "./failures.ts";
import { removeOutput } from "./remove-output.ts";
import type { AnyControllerState, FinalizeContext, ResourceOf } from "./transform-context.ts";

/** Decides when a `cleanup` lets an input go, and does what has to be done before. */
export interface CleanupHandler<In extends AnyResourceType = AnyResourceType> {
  /** What it reads and wakes for. Default: nothing. */
  readonly inputs?: readonly ClassicInput[] | undefined;
  /** What it writes. Default: nothing. */
  readonly outputs?: readonly Output[] | undefined;
  /**
   * Returns when nothing stands in the way of the input's end. It runs again, for the same input, until then.
   *
   * @throws {SkipError} when it has to wait for something that wakes it.
   */
  finalize(context: FinalizeContext<In, AnyControllerState>): Promise<void> | void;
}

/** Which resources depend on an input: usually by a label. For its spec, name the type: `hasNoOutputs<typeof Cluster>(…)`. */
export type DependentsOf<In extends AnyResourceType> = (input: ResourceOf<In>) => Pick<Query, "labels" | "ids">;

/** Lets an input go when no resource of `type` depends on it any more: others remove them. */
export const hasNoOutputs = <In extends AnyResourceType = AnyResourceType>(
  type: AnyResourceType,
  dependents: DependentsOf<In>,
): CleanupHandler<In> => ({
  inputs: [weak(type)],
  async finalize({ input, state }) {
    const left = await listDependents(state, type, dependents(input));
    if (left.length > 0) throw waiting(left);
  },
});

/** Options of {@link removeOutputs}. */
export interface RemoveOutputsOptions {
  /** Removes those of these owners as well, in their names. Default: only those without an owner. */
  readonly owners?: readonly string[] | undefined;
}

/**
 * Removes the resources of `type` that depend on an input, and lets it go when they are gone. Those of other owners are left
 * alone, and not waited for.
 */
export const removeOutputs = <In extends AnyResourceType = AnyResourceType>(
  type: AnyResourceType,
  dependents: DependentsOf<In>,
  { owners = [] }: RemoveOutputsOptions = {},
): CleanupHandler<In> => ({
  inputs: [destroyReady(type)],
  outputs: [shared(type)],
  async finalize({ input, state, signal }) {
    const failures = new Failures();
    const held: Resource[] = [];
    for (const resource of await listDependents(state, type, dependents(input))) {
      signal.throwIfAborted();
      const { metadata } = resource;
      if (metadata.owner !== "" && !owners.includes(metadata.owner)) continue;
      try {
        if (!(await removeOutput(state, metadata, { owner: metadata.owner }))) held.push(resource);
      } catch (error) {
        failures.add(metadata, error);
      }
    }
    failures.throwIfAny();
    if (held.length > 0) throw waiting(held);
  },
});

/** A cache may not know the latest yet, and letting an input go cannot be undone: the state itself has the last word. */
async function listDependents(
  state: AnyControllerState,
  type: AnyResourceType,
  query: Pick<Query, "labels" | "ids">,
): Promise<readonly Resource[]> {
  const cached = await state.list(type, query);
  return cached.length > 0 ? cached : state.listUncached(type, query);
}

function waiting(resources: readonly Resource[]): SkipError {
  const [first] = resources;
  const others = resources.length > 1 ? ` and ${resources.length - 1} more` : "";
  return new SkipError(`waits for the end of ${first?.metadata.type} ${first?.metadata.id}${others}`);
}
