import type { Clock } from "../../clock/index.ts";
import {
  assertSameLife,
  changeResource,
  formatReference,
  hasCode,
  nextVersion,
  Phase,
  StateError,
  type Change,
  type Pointer,
  type Resource,
  type SpecSource,
} from "../../resource/index.ts";
import type { CoreState } from "../core-state.ts";
import { getOrNull } from "../get-or-null.ts";
import type { ExpectedPhase, UpdateOptions } from "../options.ts";

/** Reads, derives and writes one resource. */
export interface Derivation {
  /** Of a life, if it names one: another at its address is left alone. */
  readonly pointer: Pointer;
  /** What to write; the very same resource when there is nothing to write. Runs once for each attempt. */
  readonly derive: (current: Resource) => Resource | Promise<Resource>;
  /** `stored` writes in the name of the owner. */
  readonly owner: { readonly name: string | undefined } | "stored";
  readonly expectedPhase: ExpectedPhase;
  readonly signal: AbortSignal | undefined;
}

/**
 * The loop behind all read-change-write operations. A version conflict starts it over with a fresh read, after a turn
 * of the event loop: others get theirs. A read that is served from a cache waits until that knows a later version.
 *
 * @throws {StateError} `version_conflict` only when the life that `pointer` names is over.
 */
export async function deriveUntilWritten(
  core: Pick<CoreState, "get" | "update">,
  clock: Pick<Clock, "defer">,
  { pointer, derive, owner, expectedPhase, signal }: Derivation,
): Promise<Resource> {
  let atLeast: string | undefined;
  let refusal: { readonly owner: string; readonly error: unknown } | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const current = await core.get(pointer, atLeast === undefined ? { signal } : { signal, atLeast });
    assertSameLife(pointer, current.metadata);
    // Writing as the owner that was just read fails when somebody took the resource over since, and only then is a
    // second attempt any better.
    if (refusal?.owner === current.metadata.owner) throw refusal.error;
    checkPhase(current, expectedPhase);
    const derived = await derive(current);
    if (derived === current) return current;
    const name = owner === "stored" ? current.metadata.owner : owner.name;
    try {
      return await core.update(derived, { owner: name, expectedPhase, signal });
    } catch (error) {
      if (owner === "stored" && hasCode(error, "owner_conflict")) refusal = { owner: current.metadata.owner, error };
      else if (!hasCode(error, "version_conflict")) throw error;
      else atLeast = nextVersion(current.metadata.version);
    }
    await new Promise<void>((resolve) => clock.defer(resolve));
  }
}

function checkPhase(resource: Resource, expected: ExpectedPhase): void {
  const { metadata } = resource;
  if (expected === "any" || metadata.phase === expected) return;
  throw new StateError("phase_conflict", `${formatReference(metadata)} is ${metadata.phase}, expected ${expected}`, {
    pointer: metadata,
  });
}

/** A check that also completes what it checks: {@link ResourceType.cast}. */
export type Cast = (resource: Resource) => Resource;

/** Updates a resource that exists; `cast` is applied to what `change` is to see, and to the answer. */
export async function updateWithConflicts(
  core: Pick<CoreState, "get" | "update">,
  clock: Pick<Clock, "defer">,
  pointer: Pointer,
  change: Change<unknown>,
  options: UpdateOptions,
  cast: Cast | undefined,
): Promise<Resource> {
  const stored = await deriveUntilWritten(core, clock, {
    pointer,
    owner: { name: options.owner },
    expectedPhase: options.expectedPhase ?? Phase.running,
    signal: options.signal,
    derive: async (current) => {
      const before = cast === undefined ? current : cast(current);
      const after = await changeResource(before, change);
      return after === before ? current : after;
    },
  });
  return cast === undefined ? stored : cast(stored);
}

/** Updates a resource, or creates what `change` makes of `initial` when there is none. */
export async function modify(
  core: Pick<CoreState, "get" | "getOrNull" | "create" | "update">,
  clock: Pick<Clock, "defer">,
  initial: Resource,
  change: Change<unknown>,
  options: UpdateOptions,
  source: SpecSource | undefined,
  cast: Cast,
): Promise<Resource> {
  const { signal, owner } = options;
  signal?.throwIfAborted();
  const { namespace, type, id } = initial.metadata;
  const pointer = { namespace, type, id };
  if ((await getOrNull(core, pointer, { signal })) === undefined) {
    const changed = await changeResource(initial, change, source);
    return cast(await core.create(cast(changed), { owner, signal }));
  }
  return updateWithConflicts(core, clock, pointer, change, options, cast);
}
