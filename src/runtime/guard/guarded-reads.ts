import { abortable } from "../../internal/abortable.ts";
import type { Logger } from "../../log/index.ts";
import type { Kind, Pointer, Resource } from "../../resource/index.ts";
import type { CallOptions, GetOptions, ListOptions, ResourceList, State, TeardownSignal } from "../../state/index.ts";
import type { Access } from "./access.ts";
import { notFound, type KindCache } from "../cache/kind-cache.ts";
import type { KindMap } from "../kind-map.ts";
import type { OwnWrites } from "../cache/own-writes.ts";

export interface GuardedReadsInit {
  readonly backing: State;
  readonly access: Access;
  readonly caches: KindMap<KindCache>;
  readonly ownWrites: OwnWrites;
  /** The default signal of every call. */
  readonly signal: AbortSignal;
  /** Absent: uncached reads are not warned of. */
  readonly warnings: Logger | undefined;
}

/**
 * The reads of one controller: first the check of its declarations, then the cache, where the kind has one, or the
 * backing state. A cache is read once it has seen the controller's own writes of what is asked for.
 */
export class GuardedReads {
  access: Access;
  readonly #backing: State;
  readonly #caches: KindMap<KindCache>;
  readonly #ownWrites: OwnWrites;
  readonly #signal: AbortSignal;
  readonly #defaults: { readonly signal: AbortSignal };
  readonly #warnings: Logger | undefined;

  constructor(init: GuardedReadsInit) {
    this.access = init.access;
    this.#backing = init.backing;
    this.#caches = init.caches;
    this.#ownWrites = init.ownWrites;
    this.#signal = init.signal;
    this.#defaults = Object.freeze({ signal: init.signal });
    this.#warnings = init.warnings;
  }

  get(pointer: Pointer, options?: GetOptions): Promise<Resource> {
    const { namespace, type, id } = pointer;
    const refused = this.access.refuseRead(namespace, type, id);
    if (refused !== undefined) return Promise.reject(refused);
    const cache = this.#caches.get(namespace, type);
    if (cache !== undefined) {
      if (!this.#answersNow(cache, id, options)) return this.#waitAndGet(cache, pointer, options);
      const resource = cache.peek(id);
      return resource === undefined ? Promise.reject(notFound(pointer)) : Promise.resolve(resource);
    }
    this.#warn(namespace, type, id);
    return this.#backing.get(pointer, this.withSignal(options));
  }

  getOrNull(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined> {
    const { namespace, type, id } = pointer;
    const refused = this.access.refuseRead(namespace, type, id);
    if (refused !== undefined) return Promise.reject(refused);
    const cache = this.#caches.get(namespace, type);
    if (cache !== undefined) {
      if (this.#answersNow(cache, id, options)) return Promise.resolve(cache.peek(id));
      return this.#waitAndGetOrNull(cache, pointer, options);
    }
    this.#warn(namespace, type, id);
    return this.#backing.getOrNull(pointer, this.withSignal(options));
  }

  list(kind: Kind, options?: ListOptions): Promise<ResourceList> {
    const { namespace, type } = kind;
    const refused = this.access.refuseRead(namespace, type);
    if (refused !== undefined) return Promise.reject(refused);
    const cache = this.#caches.get(namespace, type);
    if (cache !== undefined) return this.#waitAndList(cache, options);
    this.#warn(namespace, type);
    return this.#backing.list({ namespace, type }, this.withSignal(options));
  }

  getUncached(pointer: Pointer, options?: GetOptions): Promise<Resource> {
    const { namespace, type, id } = pointer;
    const refused = this.access.refuseRead(namespace, type, id);
    if (refused !== undefined) return Promise.reject(refused);
    this.#warn(namespace, type, id);
    return this.#backing.get(pointer, this.withSignal(options));
  }

  listUncached({ namespace, type }: Kind, options?: ListOptions): Promise<ResourceList> {
    const refused = this.access.refuseRead(namespace, type);
    if (refused !== undefined) return Promise.reject(refused);
    this.#warn(namespace, type);
    return this.#backing.list({ namespace, type }, this.withSignal(options));
  }

  signalWithTeardown(pointer: Pointer, options?: CallOptions): Promise<TeardownSignal> {
    const { namespace, type, id } = pointer;
    const refused = this.access.refuseRead(namespace, type, id);
    if (refused !== undefined) return Promise.reject(refused);
    const cache = this.#caches.get(namespace, type);
    if (cache !== undefined) return this.#waitAndSignal(cache, pointer, options);
    this.#warn(namespace, type, id);
    return this.#backing.signalWithTeardown(pointer, this.withSignal(options));
  }

  /** `options` with the controller's signal, unless they bring one. */
  withSignal<O extends CallOptions>(options: O | undefined): O & CallOptions {
    // An object with nothing but the signal fits: all other options are optional.
    if (options === undefined) return this.#defaults as O & CallOptions;
    return options.signal === undefined ? { ...options, signal: this.#signal } : options;
  }

  /** True when the cache has nothing to wait for: then it answers without a detour. */
  #answersNow(cache: KindCache, id: string, options: GetOptions | undefined): boolean {
    return options === undefined && cache.ready && this.#ownWrites.unseen(cache, id) === undefined;
  }

  async #waitAndGet(cache: KindCache, pointer: Pointer, options: GetOptions | undefined): Promise<Resource> {
    await this.#waitForOwnWrites(cache, pointer.id, options);
    return cache.get(pointer, this.withSignal(options));
  }

  async #waitAndGetOrNull(
    cache: KindCache,
    pointer: Pointer,
    options: GetOptions | undefined,
  ): Promise<Resource | undefined> {
    await this.#waitForOwnWrites(cache, pointer.id, options);
    return cache.getOrNull(pointer, this.withSignal(options));
  }

  async #waitAndList(cache: KindCache, options: ListOptions | undefined): Promise<ResourceList> {
    await this.#waitForOwnWrites(cache, undefined, options);
    return cache.list(this.withSignal(options));
  }

  async #waitAndSignal(cache: KindCache, pointer: Pointer, options: CallOptions | undefined): Promise<TeardownSignal> {
    await this.#waitForOwnWrites(cache, pointer.id, options);
    return cache.signalWithTeardown(pointer, this.withSignal(options));
  }

  #waitForOwnWrites(
    cache: KindCache,
    id: string | undefined,
    options: CallOptions | undefined,
  ): Promise<unknown> | undefined {
    const unseen = this.#ownWrites.unseen(cache, id);
    return unseen && abortable(unseen, options?.signal ?? this.#signal);
  }

  #warn(namespace: string, type: string, id?: string): void {
    if (this.#warnings === undefined) return;
    this.#warnings.warn("uncached read", id === undefined ? { namespace, type } : { namespace, type, id });
  }
}
