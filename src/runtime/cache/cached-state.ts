import { isSameLife, lifeOf, type Kind, type Pointer, type Resource } from "../../resource/index.ts";
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
import type { KindCache } from "./kind-cache.ts";
import type { KindMap } from "../kind-map.ts";

/**
 * A store whose cached kinds are read from the caches of a runtime. Everything else, and all writes and watches, go to
 * the store underneath; so what was written may not be readable at once. A read for a life that the cache does not have
 * goes to the store: the cache may lag behind. The stores's own teardown is not used: it would be past the cache.
 */
export class CachedState implements CoreState {
  readonly #core: CoreState;
  readonly #caches: KindMap<KindCache>;

  constructor(core: CoreState, caches: KindMap<KindCache>) {
    this.#core = core;
    this.#caches = caches;
  }

  get(pointer: Pointer, options?: GetOptions): Promise<Resource> {
    const cache = this.#cacheFor(pointer);
    return cache === undefined ? this.#core.get(pointer, options) : cache.get(pointer, options);
  }

  getOrNull(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined> {
    const cache = this.#cacheFor(pointer);
    return cache === undefined ? getOrNull(this.#core, pointer, options) : cache.getOrNull(pointer, options);
  }

  list(kind: Kind, options?: ListOptions): Promise<ResourceList> {
    const cache = this.#caches.get(kind.namespace, kind.type);
    return cache === undefined ? this.#core.list(kind, options) : cache.list(options);
  }

  create(resource: Resource, options?: CreateOptions): Promise<Resource> {
    return this.#core.create(resource, options);
  }

  update(resource: Resource, options?: UpdateOptions): Promise<Resource> {
    return this.#core.update(resource, options);
  }

  destroy(pointer: Pointer, options?: DestroyOptions): Promise<void> {
    return this.#core.destroy(pointer, options);
  }

  watch(pointer: Pointer, options?: WatchOptions): Promise<Watch> {
    return this.#core.watch(pointer, options);
  }

  watchKind(kind: Kind, options?: WatchKindOptions): Promise<Watch> {
    return this.#core.watchKind(kind, options);
  }

  watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
    return this.#core.watchKindBatches(kind, options);
  }

  /** What serves reads of a resource; undefined for the store. */
  #cacheFor(pointer: Pointer): KindCache | undefined {
    const cache = this.#caches.get(pointer.namespace, pointer.type);
    if (cache === undefined || lifeOf(pointer) === undefined) return cache;
    const known = cache.peek(pointer.id);
    return known !== undefined && isSameLife(pointer, known.metadata) ? cache : undefined;
  }
}
