import type { Kind, Pointer, Resource } from "../../resource/index.ts";
import {
  getOrNull,
  type CoreState,
  type CreateOptions,
  type DestroyOptions,
  type Event,
  type GetOptions,
  type ListOptions,
  type ResourceList,
  type UpdateOptions,
  type Watch,
  type WatchKindOptions,
  type WatchOptions,
} from "../../state/index.ts";

/** A State in which some kinds are those of another, which is read-only. Disposing it disposes neither. */
export class MountedState implements CoreState {
  readonly #base: CoreState;
  readonly #mounted: CoreState;
  readonly #isMounted: (kind: Kind) => boolean;
  // Only declared: where the base takes no shortcut, there is none.
  declare readonly teardown?: (pointer: Pointer, options?: DestroyOptions) => Promise<boolean>;
  declare readonly teardownAndDestroy?: (pointer: Pointer, options?: DestroyOptions) => Promise<void>;

  constructor(base: CoreState, mounted: CoreState, isMounted: (kind: Kind) => boolean) {
    this.#base = base;
    this.#mounted = mounted;
    this.#isMounted = isMounted;
    if (typeof base.teardown === "function") {
      this.teardown = async (pointer, options) => {
        if (isMounted(pointer)) await mounted.destroy(pointer, options);
        return (await base.teardown?.(pointer, options)) ?? false;
      };
    }
    if (typeof base.teardownAndDestroy === "function") {
      this.teardownAndDestroy = (pointer, options) =>
        isMounted(pointer)
          ? mounted.destroy(pointer, options)
          : (base.teardownAndDestroy?.(pointer, options) ?? Promise.resolve());
    }
  }

  get(pointer: Pointer, options?: GetOptions): Promise<Resource> {
    return this.#of(pointer).get(pointer, options);
  }

  getOrNull(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined> {
    return getOrNull(this.#of(pointer), pointer, options);
  }

  list(kind: Kind, options?: ListOptions): Promise<ResourceList> {
    return this.#of(kind).list(kind, options);
  }

  create(resource: Resource, options?: CreateOptions): Promise<Resource> {
    return this.#of(resource.metadata).create(resource, options);
  }

  update(resource: Resource, options?: UpdateOptions): Promise<Resource> {
    return this.#of(resource.metadata).update(resource, options);
  }

  destroy(pointer: Pointer, options?: DestroyOptions): Promise<void> {
    return this.#of(pointer).destroy(pointer, options);
  }

  watch(pointer: Pointer, options?: WatchOptions): Promise<Watch> {
    return this.#of(pointer).watch(pointer, options);
  }

  watchKind(kind: Kind, options?: WatchKindOptions): Promise<Watch> {
    return this.#of(kind).watchKind(kind, options);
  }

  watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
    return this.#of(kind).watchKindBatches(kind, options);
  }

  #of(kind: Kind): CoreState {
    return this.#isMounted(kind) ? this.#mounted : this.#base;
  }
}
