import type { Clock } from "../../clock/index.ts";
import type {
  ControllerCreateOptions,
  ControllerDestroyOptions,
  ControllerModifyOptions,
  ControllerState,
} from "../../controller/index.ts";
import type { Logger } from "../../log/index.ts";
import {
  hasCode,
  type AnyResourceType,
  type Change,
  type CreateOrChange,
  type Kind,
  type Pointer,
  type Resource,
} from "../../resource/index.ts";
import {
  castList,
  isResourceType,
  OwnedState,
  wrapState,
  type CallOptions,
  type GetOptions,
  type ListOptions,
  type ResourceList,
  type TeardownSignal,
} from "../../state/index.ts";
import type { IdObserver } from "../adapter.ts";
import type { Access } from "./access.ts";
import type { ControllerCore } from "./controller-core.ts";
import { GuardedReads } from "./guarded-reads.ts";
import type { KindCache } from "../cache/kind-cache.ts";
import type { KindMap } from "../kind-map.ts";
import type { OutputTracker } from "./output-tracker.ts";
import type { OwnWrites } from "../cache/own-writes.ts";
import type { PendingCalls } from "../pending-calls.ts";
import type { RateLimiter } from "../rate-limiter.ts";

/** Different finalizers of one controller that are remembered, at most: most have one. */
const MAX_FINALIZERS = 1000;

export interface FacadeInit {
  readonly name: string;
  readonly core: ControllerCore;
  readonly clock: Clock;
  readonly access: Access;
  readonly caches: KindMap<KindCache>;
  readonly ownWrites: OwnWrites;
  readonly unsteady: KindMap<IdObserver>;
  readonly calls: PendingCalls;
  /** Absent: unlimited. */
  readonly limiter: RateLimiter | undefined;
  readonly tracker: OutputTracker | undefined;
  /** Takes the finalizers that the controller adds. */
  readonly finalizers: Set<string>;
  /** Aborts when the controller has to stop; the default signal of every call. */
  readonly signal: AbortSignal;
  /** Absent: uncached reads are not warned of. */
  readonly warnings: Logger | undefined;
}

/**
 * All of the state that a controller sees. A read goes to {@link GuardedReads}; a write passes the rate limit, then the
 * check of the declarations, then goes to the backing state in the controller's name.
 *
 * The types of answers are known to the compiler by the declarations, and only to it: hence the promises of `never`.
 */
export class ControllerFacade implements ControllerState {
  readonly #reads: GuardedReads;
  readonly #owned: OwnedState;
  readonly #limiter: RateLimiter | undefined;
  readonly #tracker: OutputTracker | undefined;
  readonly #signal: AbortSignal;
  readonly #finalizers: Set<string>;

  private constructor(init: FacadeInit) {
    const backing = wrapState(init.core, { clock: init.clock });
    this.#reads = new GuardedReads({ ...init, backing });
    this.#owned = new OwnedState(backing, init.name);
    this.#limiter = init.limiter;
    this.#tracker = init.tracker;
    this.#finalizers = init.finalizers;
    this.#signal = init.signal;
  }

  /** The facade, and the one way to change what it allows: not a member, so that no controller reaches it. */
  static open(init: FacadeInit): { readonly state: ControllerFacade; readonly allow: (access: Access) => void } {
    const state = new ControllerFacade(init);
    return {
      state,
      allow: (access) => {
        state.#reads.access = access;
      },
    };
  }

  get(target: AnyResourceType | Pointer, idOrOptions?: string | GetOptions, options?: GetOptions): Promise<never> {
    if (typeof idOrOptions !== "string") return this.#reads.get(target as Pointer, idOrOptions) as Promise<never>;
    const type = target as AnyResourceType;
    return this.#reads.get(type.ref(idOrOptions), options).then(castTo(type)) as Promise<never>;
  }

  getOrNull(
    target: AnyResourceType | Pointer,
    idOrOptions?: string | GetOptions,
    options?: GetOptions,
  ): Promise<never> {
    if (typeof idOrOptions !== "string") return this.#reads.getOrNull(target as Pointer, idOrOptions) as Promise<never>;
    const type = target as AnyResourceType;
    return this.#reads
      .getOrNull(type.ref(idOrOptions), options)
      .then((resource) => resource && type.cast(resource)) as Promise<never>;
  }

  list(kind: Kind, options?: ListOptions): Promise<never> {
    return asListOf(kind, this.#reads.list(kind, options));
  }

  getUncached(
    target: AnyResourceType | Pointer,
    idOrOptions?: string | GetOptions,
    options?: GetOptions,
  ): Promise<never> {
    if (typeof idOrOptions !== "string") {
      return this.#reads.getUncached(target as Pointer, idOrOptions) as Promise<never>;
    }
    const type = target as AnyResourceType;
    return this.#reads.getUncached(type.ref(idOrOptions), options).then(castTo(type)) as Promise<never>;
  }

  listUncached(kind: Kind, options?: ListOptions): Promise<never> {
    return asListOf(kind, this.#reads.listUncached(kind, options));
  }

  signalWithTeardown(pointer: Pointer, options?: CallOptions): Promise<TeardownSignal> {
    return this.#reads.signalWithTeardown(pointer, options);
  }

  create(resource: Resource, options?: ControllerCreateOptions): Promise<never> {
    this.#tracker?.touch(resource.metadata);
    return this.#write("create", resource.metadata, options, (withSignal) =>
      this.#owned.create(resource, withSignal),
    ) as Promise<never>;
  }

  update(resource: Resource, options?: CallOptions): Promise<never> {
    this.#tracker?.touch(resource.metadata);
    return this.#write("update", resource.metadata, options, (withSignal) =>
      this.#owned.update(resource, withSignal),
    ) as Promise<never>;
  }

  modify(
    type: AnyResourceType,
    id: string,
    change: CreateOrChange<never>,
    options?: ControllerModifyOptions,
  ): Promise<never> {
    const pointer = type.ref(id);
    this.#tracker?.touch(pointer);
    return this.#write("modify", pointer, options, (withSignal) =>
      this.#owned.modify(type, id, change as CreateOrChange<unknown>, withSignal),
    ) as Promise<never>;
  }

  updateWithConflicts(
    type: AnyResourceType,
    id: string,
    change: Change<never>,
    options?: ControllerModifyOptions,
  ): Promise<never> {
    const pointer = type.ref(id);
    this.#tracker?.touch(pointer);
    return this.#write("updateWithConflicts", pointer, options, (withSignal) =>
      this.#owned.updateWithConflicts(type, id, change as Change<unknown>, withSignal),
    ) as Promise<never>;
  }

  teardown(pointer: Pointer, options?: ControllerDestroyOptions): Promise<boolean> {
    return this.#write("teardown", pointer, options, (withSignal) => this.#owned.teardown(pointer, withSignal));
  }

  destroy(pointer: Pointer, options?: ControllerDestroyOptions): Promise<void> {
    return this.#write("destroy", pointer, options, (withSignal) => this.#owned.destroy(pointer, withSignal));
  }

  addFinalizer(pointer: Pointer, ...finalizers: readonly string[]): Promise<void> {
    for (const finalizer of finalizers) if (this.#finalizers.size < MAX_FINALIZERS) this.#finalizers.add(finalizer);
    return this.#admit("addFinalizer", undefined, () => this.#addFinalizer(pointer, finalizers));
  }

  removeFinalizer(pointer: Pointer, ...finalizers: readonly string[]): Promise<void> {
    return this.#admit("removeFinalizer", undefined, () => this.#removeFinalizer(pointer, finalizers));
  }

  #addFinalizer(pointer: Pointer, finalizers: readonly string[]): Promise<void> {
    const { namespace, type, id } = pointer;
    const refused = this.#reads.access.refuseFinalizer(namespace, type, id);
    return refused === undefined ? this.#owned.addFinalizer(pointer, ...finalizers) : Promise.reject(refused);
  }

  async #removeFinalizer(pointer: Pointer, finalizers: readonly string[]): Promise<void> {
    const { namespace, type, id } = pointer;
    const refused = this.#reads.access.refuseFinalizer(namespace, type, id);
    if (refused !== undefined) throw refused;
    try {
      await this.#owned.removeFinalizer(pointer, ...finalizers);
    } catch (error) {
      // Gone, or another life is at its address: then its finalizer went with it.
      if (!hasCode(error, "not_found", "version_conflict")) throw error;
    }
  }

  #write<O extends CallOptions, T>(
    operation: string,
    { namespace, type, id }: Pointer,
    options: O | undefined,
    act: (withSignal: O & CallOptions) => Promise<T>,
  ): Promise<T> {
    return this.#admit(operation, options?.signal, () => {
      const refused = this.#reads.access.refuseWrite(operation, namespace, type, id);
      return refused === undefined ? act(this.#reads.withSignal(options)) : Promise.reject(refused);
    });
  }

  /** Applies the rate limit. Even without one, nothing is written once the controller has to stop. */
  #admit<T>(operation: string, signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
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
}

const castTo =
  (type: AnyResourceType) =>
  (resource: Resource): Resource =>
    type.cast(resource);

function asListOf(kind: Kind, answer: Promise<ResourceList>): Promise<never> {
  return (isResourceType(kind) ? answer.then((list) => castList(kind, list)) : answer) as Promise<never>;
}

/** The end of a write that was asked to stop before it could begin: a cancellation. */
function notPassed(operation: string, reason: unknown): Error {
  const error = new Error(`${operation} rate limited: the controller has to stop`, { cause: reason });
  error.name = "AbortError";
  return error;
}
