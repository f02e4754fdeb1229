import type {
  Change,
  CreateOrChange,
  Kind,
  Phase,
  Pointer,
  Ref,
  Resource,
  ResourceType,
  Tombstone,
} from "../resource/index.ts";
import type { CoreState, ResourceList, Watch } from "./core-state.ts";
import type { Event, EventType } from "./event.ts";
import type {
  CallOptions,
  CreateOptions,
  DestroyOptions,
  GetOptions,
  ListOptions,
  UpdateOptions,
  WatchKindOptions,
  WatchOptions,
} from "./options.ts";

/** What {@link State.watchFor} waits for. All given parts must hold for one event. */
export interface WatchCondition<Spec = unknown> {
  /** The event's type is one of these. Default: any that has a resource. */
  readonly events?: readonly EventType[] | undefined;
  /** Holds for the resource, which may be a tombstone when `events` allows `Destroyed`. What it throws ends the wait. */
  readonly where?: ((resource: Resource<Spec> | Tombstone) => boolean | Promise<boolean>) | undefined;
  /** The resource exists and has no finalizers. */
  readonly finalizersEmpty?: boolean | undefined;
  /** The resource's phase is one of these. */
  readonly phases?: readonly Phase[] | undefined;
}

/** A signal that aborts when a resource goes. Dispose it to stop watching. */
export interface TeardownSignal extends AsyncDisposable {
  readonly signal: AbortSignal;
}

/**
 * The store of all resources, and the only channel between the parts of a control plane.
 *
 * Wherever a kind or a pointer is asked for, a {@link ResourceType} or a typed {@link Ref} gives typed answers.
 * `get(Service, "web")` is short for `get(Service.ref("web"))`, with the check that the answer is of that type.
 */
export interface State extends CoreState {
  /** @throws {StateError} `not_found`; `type_mismatch` when typed and something else came. */
  get<Spec>(type: ResourceType<Spec, string, never>, id: string, options?: GetOptions): Promise<Resource<Spec>>;
  get<Spec>(ref: Ref<Spec>, options?: GetOptions): Promise<Resource<Spec>>;

  /** {@link get}, with undefined for a resource that does not exist. */
  getOrNull<Spec>(
    type: ResourceType<Spec, string, never>,
    id: string,
    options?: GetOptions,
  ): Promise<Resource<Spec> | undefined>;
  getOrNull<Spec>(ref: Ref<Spec>, options?: GetOptions): Promise<Resource<Spec> | undefined>;

  list<Spec>(type: ResourceType<Spec, string, never>, options?: ListOptions): Promise<ResourceList<Spec>>;
  list(kind: Kind, options?: ListOptions): Promise<ResourceList>;

  create<Spec>(resource: Resource<Spec>, options?: CreateOptions): Promise<Resource<Spec>>;
  update<Spec>(resource: Resource<Spec>, options?: UpdateOptions): Promise<Resource<Spec>>;
  destroy(pointer: Pointer, options?: DestroyOptions): Promise<void>;

  /**
   * {@link CoreState.watch}. In the typed form of this and the other watches, reading the resource of an event throws
   * `type_mismatch` or `invalid` when it is not of the type; the watch goes on.
   */
  watch<Spec>(type: ResourceType<Spec, string, never>, id: string, options?: WatchOptions): Promise<Watch<Event<Spec>>>;
  watch<Spec>(ref: Ref<Spec>, options?: WatchOptions): Promise<Watch<Event<Spec>>>;
  watchKind<Spec>(type: ResourceType<Spec, string, never>, options?: WatchKindOptions): Promise<Watch<Event<Spec>>>;
  watchKind(kind: Kind, options?: WatchKindOptions): Promise<Watch>;
  watchKindBatches<Spec>(
    type: ResourceType<Spec, string, never>,
    options?: WatchKindOptions,
  ): Promise<Watch<readonly Event<Spec>[]>>;
  watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>>;

  /**
   * Reads, changes and writes until no one came in between; writes nothing when the change made no difference.
   * Version conflicts are retried with a fresh read, after a turn of the event loop; there is no limit but the signal.
   * Given metadata, it changes that life alone, and rejects with `version_conflict` when it has ended.
   *
   * @throws whatever `change` throws, unchanged; {@link StateError} `not_found`, `phase_conflict` (before `change`
   * runs, even if it would do nothing), `owner_conflict`.
   */
  updateWithConflicts<Spec>(
    type: ResourceType<Spec, string, never>,
    id: string,
    change: Change<NoInfer<Spec>>,
    options?: UpdateOptions,
  ): Promise<Resource<Spec>>;
  updateWithConflicts<Spec>(
    ref: Ref<Spec>,
    change: Change<NoInfer<Spec>>,
    options?: UpdateOptions,
  ): Promise<Resource<Spec>>;

  /**
   * {@link updateWithConflicts}, or create when the resource does not exist. The draft of a new resource's spec is the
   * initial resource's, or an empty object when only type and id are given, so that anything may be missing in it: fill it,
   * or return a spec. Of the initial resource only the address counts when there is one already, whatever its life. Use
   * {@link updateWithConflicts} for what must not create, such as removing a finalizer.
   *
   * @throws {StateError} `already_exists` when somebody else created it in between; it is not retried.
   */
  modify<Spec>(
    type: ResourceType<Spec, string, never>,
    id: string,
    change: CreateOrChange<NoInfer<Spec>>,
    options?: UpdateOptions,
  ): Promise<Resource<Spec>>;
  modify<Spec>(
    initial: Resource<Spec>,
    change: Change<NoInfer<Spec>>,
    options?: UpdateOptions,
  ): Promise<Resource<Spec>>;

  /**
   * Resolves to the resource of the first event that meets the condition; the present state counts. At an address it waits
   * across the lives of resources there; given metadata, for that life.
   *
   * @throws the error of a watch that failed; {@link StateError} `not_found` when the life that is meant ended, unless
   *   that is what was waited for.
   */
  watchFor<Spec>(
    type: ResourceType<Spec, string, never>,
    id: string,
    condition?: WatchCondition<NoInfer<Spec>>,
    options?: CallOptions,
  ): Promise<Resource<Spec> | Tombstone>;
  watchFor<Spec>(
    ref: Ref<Spec>,
    condition?: WatchCondition<NoInfer<Spec>>,
    options?: CallOptions,
  ): Promise<Resource<Spec> | Tombstone>;

  /**
   * Asks for the end of a resource; given metadata, of that life, else `version_conflict`. Idempotent.
   *
   * @returns true when nothing keeps it any more: it has no finalizers.
   */
  teardown(pointer: Pointer, options?: DestroyOptions): Promise<boolean>;
  /**
   * Teardown, then wait until the finalizers are gone, then destroy. Done when somebody else destroys it during the wait.
   * What is created at the address afterwards is left alone.
   *
   * @throws {StateError} `version_conflict` when given metadata of an earlier life; `not_found`, also when somebody else
   * was faster with the last step; `pending_finalizers` when
   * somebody added one after the wait.
   */
  teardownAndDestroy(pointer: Pointer, options?: DestroyOptions): Promise<void>;

  /**
   * Adds finalizers, whatever the owner and phase of the resource. No write when all are there.
   *
   * @throws {StateError} `not_found`; `version_conflict` when given metadata of an earlier life.
   */
  addFinalizer(pointer: Pointer, ...finalizers: readonly string[]): Promise<void>;
  /** Removes finalizers, likewise. */
  removeFinalizer(pointer: Pointer, ...finalizers: readonly string[]): Promise<void>;

  /**
   * A signal that aborts when the resource is torn down or destroyed, does not exist, or its watch fails. It is for one
   * life: the one whose metadata is given, else the one that is there now.
   */
  signalWithTeardown(pointer: Pointer, options?: CallOptions): Promise<TeardownSignal>;

  /** Releases what the State holds; watches end. Idempotent. */
  [Symbol.asyncDispose](): PromiseLike<void>;
}
