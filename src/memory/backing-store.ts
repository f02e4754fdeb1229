import type { Pointer, Resource } from "../resource/index.ts";

/**
 * Keeps what one in-memory namespace holds beyond the life of the process. All content stays in memory as well.
 *
 * `put` and `destroy` run inside the write, after all checks and before anybody can see it: when they reject, the
 * write rejects with the same error and nothing has changed, so the store is never behind memory. One that never settles
 * holds up writes of its type until their signals abort, and the State's disposal for `disposeGraceMs`.
 */
export interface BackingStore {
  /** Calls `handler` once for each stored resource. Called before the first operation; retried by the next one if it rejects. */
  load(handler: (resource: Resource) => void): Promise<void>;
  /** Stores or overwrites a resource exactly as it will be committed. */
  put(resource: Resource): Promise<void>;
  /** Removes a resource; a missing one is fine. */
  destroy(pointer: Pointer): Promise<void>;
}
