import type { Clock } from "../../clock/index.ts";
import { Phase, replaceMetadata, type Pointer, type Resource } from "../../resource/index.ts";
import type { CoreState } from "../core-state.ts";
import { EventType } from "../event.ts";
import { withState } from "./finalizer-operations.ts";
import type { DestroyOptions } from "../options.ts";
import { deriveUntilWritten } from "./update-with-conflicts.ts";
import { watchEnded } from "./watch-ended.ts";

/** Resolves to true when the resource has no finalizers. */
export async function teardown(
  core: CoreState,
  clock: Pick<Clock, "defer">,
  pointer: Pointer,
  options: DestroyOptions,
): Promise<boolean> {
  options.signal?.throwIfAborted();
  if (core.teardown !== undefined) return core.teardown(pointer, options);
  return isReleased(await moveToTearingDown(core, clock, pointer, options));
}

export async function teardownAndDestroy(
  core: CoreState,
  clock: Pick<Clock, "defer">,
  pointer: Pointer,
  options: DestroyOptions,
): Promise<void> {
  options.signal?.throwIfAborted();
  if (core.teardownAndDestroy !== undefined) return core.teardownAndDestroy(pointer, options);
  let going: Resource | undefined;
  if (core.teardown === undefined) {
    going = await moveToTearingDown(core, clock, pointer, options);
    if (isReleased(going)) return core.destroy(pointer, options);
  } else if (await core.teardown(pointer, options)) {
    return core.destroy(pointer, options);
  }
  if (await waitForRelease(core, pointer, going?.metadata.created, options.signal)) {
    return core.destroy(pointer, options);
  }
}

const isReleased = ({ metadata }: Resource): boolean => metadata.finalizers.length === 0;

/** When somebody else was faster, that is success as well; who owns the resource then does not matter. */
function moveToTearingDown(
  core: CoreState,
  clock: Pick<Clock, "defer">,
  pointer: Pointer,
  { owner, signal }: DestroyOptions,
): Promise<Resource> {
  return deriveUntilWritten(core, clock, {
    pointer,
    owner: { name: owner },
    expectedPhase: "any",
    signal,
    derive: (resource) => {
      const { metadata } = resource;
      if (metadata.phase === Phase.tearingDown) return resource;
      return replaceMetadata(resource, withState(metadata, Phase.tearingDown, metadata.finalizers));
    },
  });
}

/**
 * Waits until the resource has no finalizers: true; or is destroyed by somebody else: false.
 *
 * @param createdAt - When the resource was created, if that is known. Another one at the same address, which the watch
 * may show because it began later or lost its place, is not the one that is to go.
 */
async function waitForRelease(
  core: CoreState,
  pointer: Pointer,
  createdAt: string | undefined,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let created = createdAt;
  const watch = await core.watch(pointer, { signal });
  for await (const event of watch) {
    switch (event.type) {
      case EventType.errored:
        throw event.error;
      case EventType.destroyed:
        return false;
      case EventType.created:
      case EventType.updated:
        created ??= event.resource.metadata.created;
        if (event.resource.metadata.created !== created) return false;
        if (isReleased(event.resource)) return true;
        break;
      case EventType.bootstrapped:
      case EventType.noop:
      case EventType.resynced:
        break;
    }
  }
  throw watchEnded(pointer, signal);
}
