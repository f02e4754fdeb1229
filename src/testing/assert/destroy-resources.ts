import {
  formatPointer,
  hasCode,
  isDestroyReady,
  isNotFound,
  type Pointer,
  type ResourceType,
} from "../../resource/index.ts";
import type { State } from "../../state/index.ts";
import { withDeadline, type WaitOptions } from "./deadline.ts";
import { resourceIds } from "./assert-resource.ts";
import { WatchFold } from "./watch-fold.ts";

type AnyType = ResourceType<unknown, string, never>;

/** Options of the functions that end resources. */
export interface EndOptions extends WaitOptions {
  /** Must equal the owner of the resources. Default: none. */
  readonly owner?: string | undefined;
}

/**
 * Tears down each of the resources and resolves to the ids of those that were. Those that do not exist, or that somebody
 * else moves at the same time, are passed over.
 */
export async function teardownResources(
  state: State,
  type: AnyType,
  ids: readonly string[],
  options: EndOptions = {},
): Promise<readonly string[]> {
  const done = await Promise.all(
    ids.map((id) => tolerant(() => state.teardown(type.ref(id), { owner: options.owner, signal: options.signal }))),
  );
  return ids.filter((_, index) => done[index]);
}

/** Tears down and destroys the resources, each as soon as its finalizers are gone, and waits until all of them are. */
export async function destroyResources(
  state: State,
  type: AnyType,
  ids: readonly string[],
  options: EndOptions = {},
): Promise<void> {
  const fold = new WatchFold();
  const remaining = () => ids.filter((id) => fold.contents.has(id));
  const failure = (limit: string) =>
    new Error(
      `not destroyed ${limit}: ${remaining()
        .map((id) => describe(fold, type.ref(id)))
        .join("; ")}`,
    );
  await withDeadline(options, failure, async (signal) => {
    await using watch = await state.watchKindBatches(type, { bootstrap: true, signal });
    await teardownResources(state, type, ids, { owner: options.owner, signal });
    for await (const batch of watch) {
      for (const event of batch) fold.apply(event);
      if (!fold.complete) continue;
      const left = remaining();
      if (left.length === 0) return;
      const ready = left.filter((id) => isReady(fold, id));
      await Promise.all(
        ready.map((id) => tolerant(() => state.destroy(type.ref(id), { owner: options.owner, signal }))),
      );
    }
    signal.throwIfAborted();
    throw new Error("the watch ended");
  });
}

/** {@link destroyResources} for all resources of the type in its namespace that have no owner, or exactly the option's. */
export async function destroyAll(state: State, type: AnyType, options: EndOptions = {}): Promise<void> {
  await destroyResources(state, type, await resourceIds(state, type, { owner: options.owner ?? "" }), options);
}

function isReady({ contents }: WatchFold, id: string): boolean {
  const resource = contents.get(id);
  return resource !== undefined && isDestroyReady(resource.metadata);
}

/** True when `act` succeeded, false when somebody else was faster. */
async function tolerant(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (isNotFound(error) || hasCode(error, "phase_conflict", "pending_finalizers")) return false;
    throw error;
  }
}

function describe({ contents }: WatchFold, pointer: Pointer): string {
  const metadata = contents.get(pointer.id)?.metadata;
  return `${formatPointer(pointer)} is ${metadata?.phase ?? "gone"}, finalizers: ${metadata?.finalizers.join(", ") ?? ""}`;
}
