import { abortable } from "../../internal/abortable.ts";
import type { Logger } from "../../log/index.ts";
import { isSameLife, lifeOf, type Kind, type Pointer, type Resource } from "../../resource/index.ts";
import type { CallOptions, GetOptions, ListOptions, ResourceList, State, TeardownSignal } from "../../state/index.ts";
import type { IdObserver } from "../adapter.ts";
import type { Access } from "./access.ts";
import type { PendingCalls } from "../pending-calls.ts";
import { notFound, type KindCache } from "../cache/kind-cache.ts";
import type { KindMap } from "../kind-map.ts";
import type { OwnWrites } from "../cache/own-writes.ts";

export interface GuardedReadsInit {
  readonly backing: State;
  readonly access: Access;
  readonly caches: KindMap<KindCache>;
  readonly ownWrites: OwnWrites;
  /** Kinds where what a read finds has to be told of when it vanishes. */
  readonly unsteady: KindMap<IdObserver>;
  readonly calls: PendingCalls;
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
  readonly #unsteady: KindMap<IdObserver>;
  readonly #calls: PendingCalls;
  readonly #signal: AbortSignal;
  readonly #defaults: { readonly signal: AbortSignal };
  readonly #warnings: Logger | undefined;

  constructor(init: GuardedReadsInit) {
    this.access = init.access;
    this.#backing = init.backing;
    this.#caches = init.caches;
    this.#ownWrites = init.ownWrites;
    this.#unsteady = init.unsteady;
    this.#calls = init.calls;
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
      if (!this.#answersNow(cache, id, options))
        return this.#calls.note("cached get", pointer, this.#waitAndGet(cache, pointer, options));
      const resource = cache.peek(id);
      return resource === undefined ? Promise.reject(notFound(pointer)) : Promise.resolve(resource);
    }
    this.#warn(namespace, type, id);
    return this.#found(pointer, this.#backing.get(pointer, this.withSignal(options)));
  }

  getOrNull(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined> {
    const { namespace, type, id } = pointer;
    const refused = this.access.refuseRead(namespace, type, id);
    if (refused !== undefined) return Promise.reject(refused);
    const cache = this.#caches.get(namespace, type);
    if (cache !== undefined) {
      if (this.#answersNow(cache, id, options)) return Promise.resolve(cache.peek(id));
      return this.#calls.note("cached get", pointer, this.#waitAndGetOrNull(cache, pointer, options));
    }
    this.#warn(namespace, type, id);
    return this.#found(pointer, this.#backing.getOrNull(pointer, this.withSignal(options)));
  }

  list(kind: Kind, options?: ListOptions): Promise<ResourceList> {
    const { namespace, type } = kind;
    const refused = this.access.refuseRead(namespace, type);
    if (refused !== undefined) return Promise.reject(refused);
    const cache = this.#caches.get(namespace, type);
    if (cache !== undefined) return this.#calls.note("cached list", kind, this.#waitAndList(cache, options));
    this.#warn(namespace, type);
    return this.#backing.list({ namespace, type }, this.withSignal(options));
  }

  getUncached(pointer: Pointer, options?: GetOptions): Promise<Resource> {
    const { namespace, type, id } = pointer;
    const refused = this.access.refuseRead(namespace, type, id);
    if (refused !== undefined) return Promise.reject(refused);
    this.#warn(namespace, type, id);
    return this.#found(pointer, this.#backing.get(pointer, this.withSignal(options)));
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
    if (cache !== undefined)
      return this.#calls.note("cached watch", pointer, this.#waitAndSignal(cache, pointer, options));
    this.#warn(namespace, type, id);
    return this.#backing.signalWithTeardown(pointer, this.withSignal(options));
  }

  /** A resource that was looked at, through a mapping for example, may vanish while its watch is blind. */
  #found<R extends Resource | undefined>({ namespace, type, id }: Pointer, read: Promise<R>): Promise<R> {
    const observer = this.#unsteady.get(namespace, type);
    if (observer === undefined) return read;
    return read.then((resource) => {
      if (resource !== undefined) observer.listed([id]);
      return resource;
    });
  }

  /** `options` with the controller's signal: a call ends with the controller, whatever signal it brings. */
  withSignal<O extends CallOptions>(options: O | undefined): O & { readonly signal: AbortSignal } {
    // An object with nothing but the signal fits: all other options are optional.
    if (options === undefined) return this.#defaults as O & { readonly signal: AbortSignal };
    const { signal } = options;
    if (signal === undefined || signal === this.#signal) return { ...options, signal: this.#signal };
    return { ...options, signal: AbortSignal.any([signal, this.#signal]) };
  }

  /** True when the cache has nothing to wait for: then it answers without a detour. */
  #answersNow(cache: KindCache, id: string, options: GetOptions | undefined): boolean {
    return options === undefined && cache.ready && !this.#ownWrites.hasUnseen(cache, id);
  }

  async #waitAndGet(cache: KindCache, pointer: Pointer, options: GetOptions | undefined): Promise<Resource> {
    const joined = this.withSignal(options);
    await this.#waitForOwnWrites(cache, pointer.id, joined.signal);
    return cache.get(pointer, joined);
  }

  async #waitAndGetOrNull(
    cache: KindCache,
    pointer: Pointer,
    options: GetOptions | undefined,
  ): Promise<Resource | undefined> {
    const joined = this.withSignal(options);
    await this.#waitForOwnWrites(cache, pointer.id, joined.signal);
    return cache.getOrNull(pointer, joined);
  }

  async #waitAndList(cache: KindCache, options: ListOptions | undefined): Promise<ResourceList> {
    const joined = this.withSignal(options);
    await this.#waitForOwnWrites(cache, undefined, joined.signal);
    return cache.list(joined);
  }

  async #waitAndSignal(cache: KindCache, pointer: Pointer, options: CallOptions | undefined): Promise<TeardownSignal> {
    const joined = this.withSignal(options);
    await this.#waitForOwnWrites(cache, pointer.id, joined.signal);
    // The cache may not have come to the life that is meant.
    const reads = lifeOf(pointer) === undefined || hasLife(cache, pointer) ? cache : this.#backing;
    return reads.signalWithTeardown(pointer, joined);
  }

  #waitForOwnWrites(cache: KindCache, id: string | undefined, signal: AbortSignal): Promise<unknown> | undefined {
    const unseen = this.#ownWrites.unseen(cache, id);
    return unseen && abortable(unseen, signal);
  }

  #warn(namespace: string, type: string, id?: string): void {
    if (this.#warnings === undefined) return;
    this.#warnings.warn("uncached read", id === undefined ? { namespace, type } : { namespace, type, id });
  }
}

function hasLife(cache: KindCache, pointer: Pointer): boolean {
  const known = cache.peek(pointer.id);
  return known !== undefined && isSameLife(pointer, known.metadata);
}
