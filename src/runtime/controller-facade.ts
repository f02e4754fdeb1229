import type {
  ControllerCreateOptions,
  ControllerDestroyOptions,
  ControllerModifyOptions,
  ControllerState,
  Logger,
} from "../controller/index.ts";
import {
  hasCode,
  isNotFound,
  type AnyResourceType,
  type Change,
  type Kind,
  type Pointer,
  type Resource,
} from "../resource/index.ts";
import {
  OwnedState,
  wrapState,
  type CallOptions,
  type GetOptions,
  type ListOptions,
  type ResourceList,
  type State,
  type TeardownSignal,
  castList,
  isResourceType,
} from "../state/index.ts";
import type { Clock } from "../clock/index.ts";
import type { Access } from "./access.ts";
import type { ControllerCore } from "./controller-core.ts";
import { notFound, type KindCache } from "./kind-cache.ts";
import type { KindMap } from "./kind-map.ts";
import type { OutputTracker } from "./output-tracker.ts";
import type { OwnWrites } from "./own-writes.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import { abortable } from "./abortable.ts";

export interface FacadeInit {
  readonly name: string;
  readonly core: ControllerCore;
  readonly clock: Clock;
  readonly access: Access;
  readonly caches: KindMap<KindCache>;
  readonly ownWrites: OwnWrites;
  /** Absent: unlimited. */
  readonly limiter: RateLimiter | undefined;
  readonly tracker: OutputTracker | undefined;
  /** Aborts when the controller has to stop; the default signal of every call. */
  readonly signal: AbortSignal;
  /** Absent: uncached reads are not warned of. */
  readonly warnings: Logger | undefined;
}

/**
 * All of the state that a controller sees. A write passes the rate limit, then the check of the declarations, then goes
 * to the backing state in the controller's name; a read passes the check, then goes to the cache or the backing state.
 */
export class ControllerFacade implements ControllerState {
  readonly #backing: State;
  readonly #owned: OwnedState;
  readonly #caches: KindMap<KindCache>;
  readonly #ownWrites: OwnWrites;
  readonly #limiter: RateLimiter | undefined;
  readonly #tracker: OutputTracker | undefined;
  readonly #signal: AbortSignal;
  readonly #defaults: { readonly signal: AbortSignal };
  readonly #warnings: Logger | undefined;
  #access: Access;

  private constructor(init: FacadeInit) {
    this.#backing = wrapState(init.core, { clock: init.clock });
    this.#owned = new OwnedState(this.#backing, init.name);
    this.#caches = init.caches;
    this.#ownWrites = init.ownWrites;
    this.#limiter = init.limiter;
    this.#tracker = init.tracker;
    this.#signal = init.signal;
    this.#defaults = Object.freeze({ signal: init.signal });
    this.#warnings = init.warnings;
    this.#access = init.access;
  }

  /** The facade, and the one way to change what it allows: not a member, so that no controller reaches it. */
  static open(init: FacadeInit): { readonly state: ControllerFacade; readonly allow: (access: Access) => void } {
    const state = new ControllerFacade(init);
    return {
      state,
      allow: (access) => {
        state.#access = access;
      },
    };
  }

  get(target: AnyResourceType | Pointer, idOrOptions?: string | GetOptions, options?: GetOptions): Promise<never> {
    if (typeof idOrOptions !== "string") return this.#get(target as Pointer, idOrOptions) as Promise<never>;
    const type = target as AnyResourceType;
    return this.#get(type.ref(idOrOptions), options).then((resource) => type.cast(resource)) as Promise<never>;
  }

  getOrNull(
    target: AnyResourceType | Pointer,
    idOrOptions?: string | GetOptions,
    options?: GetOptions,
  ): Promise<never> {
    const [pointer, wanted] =
      typeof idOrOptions === "string"
        ? [(target as AnyResourceType).ref(idOrOptions), options]
        : [target as Pointer, idOrOptions];
    const cast = typeof idOrOptions === "string" ? (target as AnyResourceType) : undefined;
    const cache = this.#readyCache(pointer, wanted);
    if (cache !== undefined) {
      const refused = this.#access.refuseRead(pointer.namespace, pointer.type, pointer.id);
      if (refused !== undefined) return Promise.reject(refused);
      const resource = cache.peek(pointer.id);
      return settle(() =>
        resource === undefined || cast === undefined ? resource : cast.cast(resource),
      ) as Promise<never>;
    }
    return this.#get(pointer, wanted).then(
      (resource) => (cast === undefined ? resource : cast.cast(resource)),
      (error: unknown) => {
        if (hasCode(error, "not_found")) return undefined;
        throw error;
      },
    ) as Promise<never>;
  }

  list(kind: Kind, options?: ListOptions): Promise<never> {
    const answer = this.#list(kind, options);
    return (isResourceType(kind) ? answer.then((list) => castList(kind, list)) : answer) as Promise<never>;
  }

  getUncached(
    target: AnyResourceType | Pointer,
    idOrOptions?: string | GetOptions,
    options?: GetOptions,
  ): Promise<never> {
    if (typeof idOrOptions !== "string") return this.#getUncached(target as Pointer, idOrOptions) as Promise<never>;
    const type = target as AnyResourceType;
    return this.#getUncached(type.ref(idOrOptions), options).then((resource) => type.cast(resource)) as Promise<never>;
  }

  listUncached(kind: Kind, options?: ListOptions): Promise<never> {
    const answer = this.#listUncached(kind, options);
    return (isResourceType(kind) ? answer.then((list) => castList(kind, list)) : answer) as Promise<never>;
  }

  signalWithTeardown(pointer: Pointer, options?: CallOptions): Promise<TeardownSignal> {
    const { namespace, type, id } = pointer;
    const refused = this.#access.refuseRead(namespace, type, id);
    if (refused !== undefined) return Promise.reject(refused);
    const cache = this.#caches.get(namespace, type);
    if (cache !== undefined) return cache.signalWithTeardown(pointer, this.#withSignal(options));
    this.#warn(namespace, type, id);
    return this.#backing.signalWithTeardown(pointer, this.#withSignal(options));
  }

  create(resource: Resource, options?: ControllerCreateOptions): Promise<never> {
    this.#tracker?.touch(resource.metadata);
    return this.#write("create", resource.metadata, options?.signal, () =>
      this.#owned.create(resource, this.#withSignal(options)),
    ) as Promise<never>;
  }

  update(resource: Resource, options?: CallOptions): Promise<never> {
    this.#tracker?.touch(resource.metadata);
    return this.#write("update", resource.metadata, options?.signal, () =>
      this.#owned.update(resource, this.#withSignal(options)),
    ) as Promise<never>;
  }

  modify(type: AnyResourceType, id: string, change: Change<never>, options?: ControllerModifyOptions): Promise<never> {
    const pointer = type.ref(id);
    this.#tracker?.touch(pointer);
    return this.#write("modify", pointer, options?.signal, () =>
      this.#owned.modify(type, id, change as Change<unknown>, this.#withSignal(options)),
    ) as Promise<never>;
  }

  teardown(pointer: Pointer, options?: ControllerDestroyOptions): Promise<boolean> {
    return this.#write("teardown", pointer, options?.signal, () =>
      this.#owned.teardown(pointer, this.#withSignal(options)),
    );
  }

  destroy(pointer: Pointer, options?: ControllerDestroyOptions): Promise<void> {
    return this.#write("destroy", pointer, options?.signal, () =>
      this.#owned.destroy(pointer, this.#withSignal(options)),
    );
  }

  addFinalizer(pointer: Pointer, ...finalizers: readonly string[]): Promise<void> {
    return this.#finalizer("addFinalizer", pointer, () => this.#owned.addFinalizer(pointer, ...finalizers));
  }

  removeFinalizer(pointer: Pointer, ...finalizers: readonly string[]): Promise<void> {
    return this.#finalizer("removeFinalizer", pointer, () =>
      this.#owned.removeFinalizer(pointer, ...finalizers).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      }),
    );
  }

  #get(pointer: Pointer, options: GetOptions | undefined): Promise<Resource> {
    const { namespace, type, id } = pointer;
    const refused = this.#access.refuseRead(namespace, type, id);
    if (refused !== undefined) return Promise.reject(refused);
    const ready = this.#readyCache(pointer, options);
    if (ready !== undefined) {
      const resource = ready.peek(id);
      return resource === undefined ? Promise.reject(notFound(pointer)) : Promise.resolve(resource);
    }
    const cache = this.#caches.get(namespace, type);
    if (cache !== undefined) {
      return this.#afterOwnWrites(cache, id, options).then(() => cache.get(pointer, this.#withSignal(options)));
    }
    this.#warn(namespace, type, id);
    return this.#backing.get(pointer, this.#withSignal(options));
  }

  #getUncached(pointer: Pointer, options: GetOptions | undefined): Promise<Resource> {
    const { namespace, type, id } = pointer;
    const refused = this.#access.refuseRead(namespace, type, id);
    if (refused !== undefined) return Promise.reject(refused);
    this.#warn(namespace, type, id);
    return this.#backing.get(pointer, this.#withSignal(options));
  }

  #list(kind: Kind, options: ListOptions | undefined): Promise<ResourceList> {
    const { namespace, type } = kind;
    const refused = this.#access.refuseRead(namespace, type);
    if (refused !== undefined) return Promise.reject(refused);
    const cache = this.#caches.get(namespace, type);
    if (cache !== undefined) {
      const read = (): Promise<ResourceList> => cache.list(this.#withSignal(options));
      return this.#ownWrites.unseen(cache) === undefined
        ? read()
        : this.#afterOwnWrites(cache, undefined, options).then(read);
    }
    this.#warn(namespace, type);
    return this.#backing.list({ namespace, type }, this.#withSignal(options));
  }

  #listUncached({ namespace, type }: Kind, options: ListOptions | undefined): Promise<ResourceList> {
    const refused = this.#access.refuseRead(namespace, type);
    if (refused !== undefined) return Promise.reject(refused);
    this.#warn(namespace, type);
    return this.#backing.list({ namespace, type }, this.#withSignal(options));
  }

  /** The cache that can answer a read at once, with nothing to wait for. */
  #readyCache({ namespace, type, id }: Pointer, options: GetOptions | undefined): KindCache | undefined {
    if (options !== undefined) return undefined;
    const cache = this.#caches.get(namespace, type);
    return cache?.ready === true && this.#ownWrites.unseen(cache, id) === undefined ? cache : undefined;
  }

  async #afterOwnWrites(cache: KindCache, id: string | undefined, options: CallOptions | undefined): Promise<void> {
    const unseen = this.#ownWrites.unseen(cache, id);
    if (unseen !== undefined) await abortable(unseen, options?.signal ?? this.#signal);
  }

  #write<T>(operation: string, pointer: Pointer, signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
    const check = (): Promise<T> => {
      const { namespace, type, id } = pointer;
      const refused = this.#access.refuseWrite(operation, namespace, type, id);
      return refused === undefined ? act() : Promise.reject(refused);
    };
    return this.#limited(operation, signal, check);
  }

  #finalizer(operation: string, pointer: Pointer, act: () => Promise<void>): Promise<void> {
    const check = (): Promise<void> => {
      const { namespace, type, id } = pointer;
      const refused = this.#access.refuseFinalizer(namespace, type, id);
      return refused === undefined ? act() : Promise.reject(refused);
    };
    return this.#limited(operation, undefined, check);
  }

  /** Even without a limit, nothing is written once the controller has to stop. */
  #limited<T>(operation: string, signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
    if (this.#signal.aborted) return Promise.reject(notPassed(operation, this.#signal.reason));
    if (signal?.aborted === true) return Promise.reject(notPassed(operation, signal.reason));
    if (this.#limiter === undefined) return act();
    return this.#waitForToken(this.#limiter, operation, signal).then(act);
  }

  async #waitForToken(limiter: RateLimiter, operation: string, signal: AbortSignal | undefined): Promise<void> {
    const either =
      signal === undefined || signal === this.#signal ? this.#signal : AbortSignal.any([signal, this.#signal]);
    try {
      await limiter.take(either);
    } catch (cause) {
      throw either.aborted ? notPassed(operation, cause) : new Error(`${operation} rate limited`, { cause });
    }
  }

  #withSignal<O extends CallOptions>(options: O | undefined): O & CallOptions {
    if (options === undefined) return this.#defaults as O & CallOptions;
    return options.signal === undefined ? { ...options, signal: this.#signal } : options;
  }

  #warn(namespace: string, type: string, id?: string): void {
    if (this.#warnings === undefined) return;
    this.#warnings.warn("uncached read", id === undefined ? { namespace, type } : { namespace, type, id });
  }
}

/** The end of a write that was asked to stop before it could begin: a cancellation. */
function notPassed(operation: string, reason: unknown): Error {
  const error = new Error(`${operation} rate limited: the controller has to stop`, { cause: reason });
  error.name = "AbortError";
  return error;
}

/** A promise of what `make` gives or throws. */
function settle<T>(make: () => T): Promise<T> {
  try {
    return Promise.resolve(make());
  } catch (error) {
    return Promise.reject(error);
  }
}
