import type { Clock } from "../clock/index.ts";
import {
  compareVersions,
  Phase,
  replaceMetadata,
  type Metadata,
  type Pointer,
  type Resource,
} from "../resource/index.ts";
import type { CoreState } from "./core-state.ts";
import { EventType } from "./event.ts";
import { withState } from "./finalizer-operations.ts";
import type { DestroyOptions } from "./options.ts";
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
  if (await waitForRelease(core, pointer, going, options.signal)) return core.destroy(pointer, options);
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

/** Waits until the resource has no finalizers: true; or is destroyed by somebody else: false. */
async function waitForRelease(
  core: CoreState,
  pointer: Pointer,
  going: Resource | undefined,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let known = going;
  const watch = await core.watch(pointer, { signal });
  for await (const event of watch) {
    switch (event.type) {
      case EventType.errored:
        throw event.error;
      case EventType.destroyed:
        return false;
      case EventType.created:
      case EventType.updated:
        // The watch shows the present, not what happened before it began or while it lost its place.
        if (known !== undefined && !isSameLife(known.metadata, event.resource.metadata)) return false;
        if (isReleased(event.resource)) return true;
        known = event.resource;
        break;
      case EventType.bootstrapped:
      case EventType.noop:
      case EventType.resynced:
        break;
    }
  }
  throw watchEnded(pointer, signal);
}

/** False when `after` is certainly another resource, created at the same address after `before` was destroyed. */
export function isSameLife(before: Metadata, after: Metadata): boolean {
  return before.created === after.created && compareVersions(before.version, after.version) <= 0;
}
