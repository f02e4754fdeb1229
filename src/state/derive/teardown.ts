import type { Clock } from "../../clock/index.ts";
import {
  assertSameLife,
  compareTimes,
  formatPointer,
  hasCode,
  lifeOf,
  Phase,
  replaceMetadata,
  StateError,
  withLife,
  withPhaseAndFinalizers,
  type Pointer,
  type Resource,
} from "../../resource/index.ts";
import type { CoreState } from "../core-state.ts";
import { EventType } from "../event.ts";
import type { DestroyOptions } from "../options.ts";
import { deriveUntilWritten } from "./update-with-conflicts.ts";
import { eventsOf, openWatch } from "./follow-watch.ts";
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

/** Every step after the first is about the life that was torn down, and no other at its address. */
export async function teardownAndDestroy(
  core: CoreState,
  clock: Pick<Clock, "defer">,
  pointer: Pointer,
  options: DestroyOptions,
): Promise<void> {
  options.signal?.throwIfAborted();
  if (core.teardownAndDestroy !== undefined) return core.teardownAndDestroy(pointer, options);
  const { going, isReady } = await beginTeardown(core, clock, pointer, options);
  const isReleasedNow = isReady || (await waitForRelease(core, going, options.signal));
  if (isReleasedNow) await ofLife(going, core.destroy(lifeOfResource(going), options));
}

const isReleased = ({ metadata }: Resource): boolean => metadata.finalizers.length === 0;

/** What is torn down, and whether nothing holds it. */
interface BegunTeardown {
  readonly going: Resource;
  readonly isReady: boolean;
}

async function beginTeardown(
  core: CoreState,
  clock: Pick<Clock, "defer">,
  pointer: Pointer,
  options: DestroyOptions,
): Promise<BegunTeardown> {
  if (core.teardown === undefined) {
    const going = await moveToTearingDown(core, clock, pointer, options);
    return { going, isReady: isReleased(going) };
  }
  // The core's own teardown does not say which life it was.
  const going = await core.get(pointer, { signal: options.signal });
  assertSameLife(pointer, going.metadata);
  if (lifeOf(pointer) !== undefined) return { going, isReady: await core.teardown(pointer, options) };
  return { going, isReady: await ofLife(going, core.teardown(lifeOfResource(going), options)) };
}

const lifeOfResource = ({ metadata }: Resource): Pointer => withLife(metadata, lifeOf(metadata));

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
      return replaceMetadata(resource, withPhaseAndFinalizers(metadata, Phase.tearingDown, metadata.finalizers));
    },
  });
}

/**
 * Waits until the resource has no finalizers: true; or is destroyed by somebody else: false. Another life at the same
 * address, which the watch may show because it began later or lost its place, says that it was destroyed.
 */
async function waitForRelease(core: CoreState, going: Resource, signal: AbortSignal | undefined): Promise<boolean> {
  const { metadata } = going;
  const watch = await openWatch(core, withLife(metadata, undefined), signal);
  for await (const event of eventsOf(watch, signal)) {
    switch (event.type) {
      case EventType.errored:
        throw event.error;
      case EventType.destroyed:
        return false;
      case EventType.created:
      case EventType.updated:
        if (compareTimes(event.resource.metadata.created, metadata.created) !== 0) return false;
        if (isReleased(event.resource)) return true;
        break;
      case EventType.bootstrapped:
      case EventType.noop:
      case EventType.resynced:
        break;
    }
  }
  throw watchEnded(metadata, signal);
}

/** The result of `step`, which names the life. @throws {StateError} `not_found` also when another is at the address. */
async function ofLife<T>({ metadata }: Resource, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (!hasCode(error, "version_conflict")) throw error;
    const message = `${formatPointer(metadata)} was destroyed by another caller, and then created anew`;
    throw new StateError("not_found", message, { cause: error, pointer: metadata });
  }
}
