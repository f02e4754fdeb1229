import { isSameLife, lifeOf, type Kind, type Pointer, type Resource } from "../../resource/index.ts";
import {
  ForwardingState,
  getOrNull,
  type Address,
  type CallOptions,
  type CoreState,
  type ForwardedOperation,
  type GetOptions,
  type ListOptions,
  type ResourceList,
} from "../../state/index.ts";
import type { KindCache } from "./kind-cache.ts";
import type { KindMap } from "../kind-map.ts";

/**
 * A store whose cached kinds are read from the caches of a runtime. Everything else, and all writes and watches, go to
 * the store underneath; so what was written may not be readable at once. A read for a life that the cache does not have
 * goes to the store: the cache may lag behind. The store's own teardown is not used: it would be past the cache.
 */
export class CachedState extends ForwardingState {
  readonly #core: CoreState;
  readonly #caches: KindMap<KindCache>;

  constructor(core: CoreState, caches: KindMap<KindCache>) {
    super();
    this.#core = core;
    this.#caches = caches;
  }

  override get(pointer: Pointer, options?: GetOptions): Promise<Resource> {
    const cache = this.#cacheFor(pointer);
    return cache === undefined ? this.#core.get(pointer, options) : cache.get(pointer, options);
  }

  override getOrNull(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined> {
    const cache = this.#cacheFor(pointer);
    return cache === undefined ? getOrNull(this.#core, pointer, options) : cache.getOrNull(pointer, options);
  }

  override list(kind: Kind, options?: ListOptions): Promise<ResourceList> {
    const cache = this.#caches.get(kind.namespace, kind.type);
    return cache === undefined ? this.#core.list(kind, options) : cache.list(options);
  }

  protected forward<Target extends object, Options extends CallOptions, Result>(
    operation: ForwardedOperation<Target, Options, Result>,
    _address: Address,
    target: Target,
    options: Options | undefined,
  ): Promise<Result> {
    return operation.run(this.#core, target, options);
  }

  /** What serves reads of a resource; undefined for the store. */
  #cacheFor(pointer: Pointer): KindCache | undefined {
    const cache = this.#caches.get(pointer.namespace, pointer.type);
    if (cache === undefined || lifeOf(pointer) === undefined) return cache;
    const known = cache.peek(pointer.id);
    return known !== undefined && isSameLife(pointer, known.metadata) ? cache : undefined;
  }
}
