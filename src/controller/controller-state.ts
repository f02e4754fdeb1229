import type { AnyResourceType, Change, CreateOrChange, Ref, Resource, SpecOf } from "../resource/index.ts";
import type {
  CallOptions,
  ExpectedPhase,
  GetOptions,
  ListOptions,
  ResourceList,
  TeardownSignal,
} from "../state/index.ts";

type ResourceOf<R extends AnyResourceType> = Resource<SpecOf<R>, R["type"]>;

/** What a typed reference leads to. */
type ResourceAt<R extends Ref> = R extends Ref<infer Spec, infer Type> ? Resource<Spec, Type> : never;

/**
 * Reads, limited to what the controller declared. Reads of cached kinds are served from memory and see at least the
 * change that woke the controller and its own writes.
 *
 * Helpers that read should ask for one of these: the state of every controller that declared the types is one, and so
 * is a {@link State}.
 */
export interface ControllerReader<Readable extends AnyResourceType> {
  /** @throws {StateError} `not_found`. @throws {UndeclaredError} when the resource is neither input nor output. */
  get<R extends Readable>(type: R, id: string, options?: GetOptions): Promise<ResourceOf<R>>;
  get<R extends Ref<unknown, Readable["type"]>>(ref: R, options?: GetOptions): Promise<ResourceAt<R>>;

  getOrNull<R extends Readable>(type: R, id: string, options?: GetOptions): Promise<ResourceOf<R> | undefined>;
  getOrNull<R extends Ref<unknown, Readable["type"]>>(ref: R, options?: GetOptions): Promise<ResourceAt<R> | undefined>;

  list<R extends Readable>(type: R, options?: ListOptions): Promise<ResourceList<SpecOf<R>, R["type"]>>;

  /** A signal that aborts when the resource is torn down or gone. Dispose it to stop watching. */
  signalWithTeardown(ref: Ref<unknown, Readable["type"]>, options?: CallOptions): Promise<TeardownSignal>;
}

/** Reads past the cache, limited in the same way. */
export interface ControllerUncachedReader<Readable extends AnyResourceType> {
  /** {@link ControllerReader.get} past the cache. */
  getUncached<R extends Readable>(type: R, id: string, options?: GetOptions): Promise<ResourceOf<R>>;
  getUncached<R extends Ref<unknown, Readable["type"]>>(ref: R, options?: GetOptions): Promise<ResourceAt<R>>;

  /** {@link ControllerReader.list} past the cache. */
  listUncached<R extends Readable>(type: R, options?: ListOptions): Promise<ResourceList<SpecOf<R>, R["type"]>>;
}

/** Options of a controller's create. */
export interface ControllerCreateOptions extends CallOptions {
  /** Creates the resource without an owner. Default: false, the controller owns what it creates. */
  readonly noOwner?: boolean | undefined;
}

/** Options of a controller's modify. */
export interface ControllerModifyOptions extends ControllerCreateOptions {
  /** Phase that an existing resource must be in. Default: `running`. */
  readonly expectedPhase?: ExpectedPhase | undefined;
}

/** Options of a controller's destroy. */
export interface ControllerDestroyOptions extends CallOptions {
  /** Acts for this owner; the empty string is none. Default: the controller. */
  readonly owner?: string | undefined;
}

/** Writes, limited to the outputs that the controller declared, and finalizers, limited to its strong inputs. */
export interface ControllerWriter<Writable extends AnyResourceType, Finalizable extends AnyResourceType> {
  /** @throws {StateError} `already_exists`. @throws {UndeclaredError} when the type is no output. */
  create<R extends Resource<unknown, Writable["type"]>>(resource: R, options?: ControllerCreateOptions): Promise<R>;

  /** @throws {StateError} `not_found`, `owner_conflict`, `version_conflict`, `phase_conflict`. */
  update<R extends Resource<unknown, Writable["type"]>>(resource: R, options?: CallOptions): Promise<R>;

  /**
   * Creates the resource, or changes it with as many attempts as it takes; writes nothing when nothing differs. The
   * draft of a new resource's spec is an empty object, so anything may be missing in it: fill it, or return a spec.
   *
   * @throws whatever `change` throws, unchanged; {@link StateError} `owner_conflict`, `phase_conflict`, `already_exists`.
   */
  modify<R extends Writable>(
    type: R,
    id: string,
    change: CreateOrChange<SpecOf<R>>,
    options?: ControllerModifyOptions,
  ): Promise<ResourceOf<R>>;

  /**
   * {@link modify} for a resource that exists: it never creates one.
   *
   * @throws whatever `change` throws, unchanged; {@link StateError} `not_found`, `owner_conflict`, `phase_conflict`.
   */
  updateWithConflicts<R extends Writable>(
    type: R,
    id: string,
    change: Change<SpecOf<R>>,
    options?: ControllerModifyOptions,
  ): Promise<ResourceOf<R>>;

  /** @returns true when nothing keeps the resource any more. @throws {StateError} `not_found`, `owner_conflict`. */
  teardown(ref: Ref<unknown, Writable["type"]>, options?: ControllerDestroyOptions): Promise<boolean>;

  /** @throws {StateError} `not_found`, `owner_conflict`, `pending_finalizers`. */
  destroy(ref: Ref<unknown, Writable["type"]>, options?: ControllerDestroyOptions): Promise<void>;

  /** @throws {StateError} `not_found`. @throws {UndeclaredError} when the resource is no strong, primary or mapped input. */
  addFinalizer(ref: Ref<unknown, Finalizable["type"]>, ...finalizers: readonly string[]): Promise<void>;

  /** A resource that is gone already is fine. */
  removeFinalizer(ref: Ref<unknown, Finalizable["type"]>, ...finalizers: readonly string[]): Promise<void>;
}

/** The state as one controller sees it: what it did not declare does not compile, and is refused at run time. */
export interface ControllerState<
  Readable extends AnyResourceType = AnyResourceType,
  Writable extends AnyResourceType = AnyResourceType,
  Finalizable extends AnyResourceType = AnyResourceType,
>
  extends ControllerReader<Readable>, ControllerUncachedReader<Readable>, ControllerWriter<Writable, Finalizable> {}
