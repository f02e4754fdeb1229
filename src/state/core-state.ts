import type { Kind, Pointer, Resource } from "../resource/index.ts";
import type { Event } from "./event.ts";
import type {
  CreateOptions,
  DestroyOptions,
  GetOptions,
  ListOptions,
  UpdateOptions,
  WatchKindOptions,
  WatchOptions,
} from "./options.ts";

/** Resources sorted by id (UTF-8 bytes). A frozen array, shared by everyone who asked for the same. */
export type ResourceList<Spec = unknown, Type extends string = string> = readonly Resource<Spec, Type>[] & {
  /** Number of changes of the kind that the list reflects, where the State counts them. */
  readonly revision: number | undefined;
};

/**
 * A registered watch: everything that happens after the call that opened it resolved is seen. Leaving the loop, by
 * whatever way, or disposing it releases it; after an abort or a disposal nothing more is delivered.
 */
export interface Watch<T = Event> extends AsyncIterableIterator<T>, AsyncDisposable {
  /**
   * Where the State runs in this process: what is pending now, taken without waiting; undefined when there is nothing.
   */
  takePending?(): T | undefined;
  /**
   * Where the State runs in this process: calls `listener`, synchronously within the write, whenever something is
   * pending, and `onEnd` once when the watch has ended: aborted, disposed, or its State was closed. For an engine that
   * must not fall behind; at most one listener; neither may throw. Use it, or iterate.
   */
  onPending?(listener: () => void, onEnd?: () => void): void;
}

/**
 * Whether a store holds contents or history (`held`, for good), nothing but watches and writes under way (`watched`), or nothing at all
 * (`unused`): then it can be let go, and made anew.
 */
export type StoreUsage = "held" | "watched" | "unused";

/**
 * The eight operations that a store implements; everything else is derived from them once ({@link wrapState}).
 *
 * Every operation rejects with a `StateError` for what it refuses, and with the signal's reason when aborted. Writes
 * of one kind are totally ordered, and its events come in that order.
 */
export interface CoreState {
  /** @throws {StateError} `not_found` */
  get(pointer: Pointer, options?: GetOptions): Promise<Resource>;
  /** The matching resources, sorted by id. An unknown kind is empty, not an error. */
  list(kind: Kind, options?: ListOptions): Promise<ResourceList>;
  /**
   * Stores a new resource and resolves to it as stored: version 1, owner and times set. The time of creation is later than
   * all that were ever given to resources of the kind, finer than a second, and stays: it names this life of the resource.
   *
   * @throws {StateError} `already_exists`; `invalid` when it carries another owner than the option's.
   */
  create(resource: Resource, options?: CreateOptions): Promise<Resource>;
  /**
   * Replaces a resource of the same life and version and resolves to it as stored, one version on. Metadata that no State
   * has given out names no life, and is compared by its version alone.
   *
   * @throws {StateError} in this order of checks: `not_found`, `version_conflict` for another life, `owner_conflict`,
   *   `version_conflict`, `phase_conflict`.
   */
  update(resource: Resource, options?: UpdateOptions): Promise<Resource>;
  /**
   * Ends what is at the address; when `pointer` is metadata that a State has given out, that life alone.
   *
   * @throws {StateError} in this order of checks: `not_found`, `version_conflict` for another life, `owner_conflict`,
   *   `pending_finalizers`.
   */
  destroy(pointer: Pointer, options?: DestroyOptions): Promise<void>;
  /**
   * Watches one resource, which need not exist: its present state first, unless replaying, then every change. Each event
   * has a position to start another watch from, the first one included, where the State keeps positions.
   *
   * @throws {StateError} `invalid` for contradictory options, `invalid_bookmark`.
   */
  watch(pointer: Pointer, options?: WatchOptions): Promise<Watch>;
  /** Watches all resources of a kind, or those that match. @throws {StateError} as {@link watch}. */
  watchKind(kind: Kind, options?: WatchKindOptions): Promise<Watch>;
  /** {@link watchKind} in non-empty batches of what is pending; a batch is shared by all who wait for the same. */
  watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>>;
  /** Optional: {@link get} without an error for a resource that does not exist. */
  getOrNull?(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined>;
  /** Optional: a teardown in one step; resolves to true when the resource may be destroyed. */
  teardown?(pointer: Pointer, options?: DestroyOptions): Promise<boolean>;
  /** Optional: teardown, wait for the finalizers, destroy, in one step. */
  teardownAndDestroy?(pointer: Pointer, options?: DestroyOptions): Promise<void>;
  /** Optional: what it holds besides what a new store in its place would. Without this, it counts as `held`. */
  usage?(): StoreUsage;
  /** Optional: releases what the State holds. */
  [Symbol.asyncDispose]?(): PromiseLike<void>;
}
