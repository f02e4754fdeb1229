import type {
  AnyResourceType,
  Change,
  CreateOrChange,
  Kind,
  Pointer,
  Ref,
  Resource,
  ResourceType,
} from "../../resource/index.ts";
import type { ResourceList } from "../core-state.ts";
import type { CallOptions, CreateOptions, DestroyOptions, ExpectedPhase, GetOptions, ListOptions } from "../options.ts";
import type { State, TeardownSignal } from "../state.ts";

/** Options of {@link OwnedState.create}. */
export interface OwnedCreateOptions extends CallOptions {
  /** Creates without an owner. Default: false. */
  readonly noOwner?: boolean | undefined;
}

/** Options of {@link OwnedState.modify}. */
export interface OwnedModifyOptions extends OwnedCreateOptions {
  /** Phase that an existing resource must be in. Default: `running`. */
  readonly expectedPhase?: ExpectedPhase | undefined;
}

/** Options of {@link OwnedState.destroy}. */
export interface OwnedDestroyOptions extends CallOptions {
  /** Acts for this owner; the empty string is none. Default: the view's owner. */
  readonly owner?: string | undefined;
}

/**
 * A view of a {@link State} that writes in the name of one owner: what it creates belongs to that owner, and what
 * belongs to others it cannot change. Everything can be read, and finalizers are free for all.
 *
 * A view holds nothing, so it needs no disposal.
 */
export class OwnedState {
  readonly #state: State;
  readonly owner: string;

  constructor(state: State, owner: string) {
    this.#state = state;
    this.owner = owner;
  }

  /** @throws {StateError} `not_found`; `type_mismatch` when typed and something else came. */
  get<Spec>(type: ResourceType<Spec, string, never>, id: string, options?: GetOptions): Promise<Resource<Spec>>;
  get<Spec>(ref: Ref<Spec>, options?: GetOptions): Promise<Resource<Spec>>;
  get(target: AnyResourceType | Pointer, idOrOptions?: string | GetOptions, options?: GetOptions): Promise<Resource> {
    if (typeof idOrOptions !== "string") return this.#state.get(target as Pointer, idOrOptions);
    return this.#state.get(target as AnyResourceType, idOrOptions, options);
  }

  /** {@link get}, with undefined for a resource that does not exist. */
  getOrNull<Spec>(
    type: ResourceType<Spec, string, never>,
    id: string,
    options?: GetOptions,
  ): Promise<Resource<Spec> | undefined>;
  getOrNull<Spec>(ref: Ref<Spec>, options?: GetOptions): Promise<Resource<Spec> | undefined>;
  getOrNull(
    target: AnyResourceType | Pointer,
    idOrOptions?: string | GetOptions,
    options?: GetOptions,
  ): Promise<Resource | undefined> {
    if (typeof idOrOptions !== "string") return this.#state.getOrNull(target as Pointer, idOrOptions);
    return this.#state.getOrNull(target as AnyResourceType, idOrOptions, options);
  }

  list<Spec>(type: ResourceType<Spec, string, never>, options?: ListOptions): Promise<ResourceList<Spec>>;
  list(kind: Kind, options?: ListOptions): Promise<ResourceList>;
  list(kind: Kind, options?: ListOptions): Promise<ResourceList> {
    return this.#state.list(kind, options);
  }

  /** {@link State.signalWithTeardown} */
  signalWithTeardown(pointer: Pointer, options?: CallOptions): Promise<TeardownSignal> {
    return this.#state.signalWithTeardown(pointer, options);
  }

  /** @throws {StateError} `already_exists`; `invalid` when the resource carries another owner. */
  create<Spec>(resource: Resource<Spec>, options: OwnedCreateOptions = {}): Promise<Resource<Spec>> {
    return this.#state.create(resource, this.#createOptions(options));
  }

  /** @throws {StateError} `not_found`, `owner_conflict`, `version_conflict`, `phase_conflict` unless running. */
  update<Spec>(resource: Resource<Spec>, options: CallOptions = {}): Promise<Resource<Spec>> {
    return this.#state.update(resource, { owner: this.owner, signal: options.signal });
  }

  /** {@link State.modify} */
  modify<Spec>(
    type: ResourceType<Spec, string, never>,
    id: string,
    change: CreateOrChange<NoInfer<Spec>>,
    options?: OwnedModifyOptions,
  ): Promise<Resource<Spec>>;
  modify<Spec>(
    initial: Resource<Spec>,
    change: Change<NoInfer<Spec>>,
    options?: OwnedModifyOptions,
  ): Promise<Resource<Spec>>;
  modify(target: AnyResourceType | Resource, ...args: readonly unknown[]): Promise<Resource> {
    if (typeof args[0] === "string") {
      const [id, change, options = {}] = args as [string, Change<unknown>, OwnedModifyOptions?];
      return this.#state.modify(target as AnyResourceType, id, change, this.#modifyOptions(options));
    }
    const [change, options = {}] = args as [Change<unknown>, OwnedModifyOptions?];
    return this.#state.modify(target as Resource, change, this.#modifyOptions(options));
  }

  /** {@link State.updateWithConflicts} */
  updateWithConflicts<Spec>(
    type: ResourceType<Spec, string, never>,
    id: string,
    change: Change<NoInfer<Spec>>,
    options: OwnedModifyOptions = {},
  ): Promise<Resource<Spec>> {
    return this.#state.updateWithConflicts(type, id, change, this.#modifyOptions(options));
  }

  /** {@link State.teardown} */
  teardown(pointer: Pointer, options: OwnedDestroyOptions = {}): Promise<boolean> {
    return this.#state.teardown(pointer, this.#destroyOptions(options));
  }

  /** @throws {StateError} `not_found`, `owner_conflict`, `pending_finalizers`. */
  destroy(pointer: Pointer, options: OwnedDestroyOptions = {}): Promise<void> {
    return this.#state.destroy(pointer, this.#destroyOptions(options));
  }

  /** {@link State.addFinalizer} */
  addFinalizer(pointer: Pointer, ...finalizers: readonly string[]): Promise<void> {
    return this.#state.addFinalizer(pointer, ...finalizers);
  }

  /** {@link State.removeFinalizer} */
  removeFinalizer(pointer: Pointer, ...finalizers: readonly string[]): Promise<void> {
    return this.#state.removeFinalizer(pointer, ...finalizers);
  }

  #createOptions({ noOwner, signal }: OwnedCreateOptions): CreateOptions {
    return { owner: noOwner === true ? "" : this.owner, signal };
  }

  #modifyOptions(options: OwnedModifyOptions): CreateOptions & Pick<OwnedModifyOptions, "expectedPhase"> {
    return { ...this.#createOptions(options), expectedPhase: options.expectedPhase };
  }

  #destroyOptions({ owner = this.owner, signal }: OwnedDestroyOptions): DestroyOptions {
    return { owner, signal };
  }
}
