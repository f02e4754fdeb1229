import { SystemClock, type Clock } from "../clock/index.ts";
import {
  createResource,
  lifePointer,
  sealResource,
  sourceOf,
  type AnyResourceType,
  type Change,
  type CreateOrChange,
  type Kind,
  type Pointer,
  type Ref,
  type Resource,
  type ResourceType,
  type Tombstone,
} from "../resource/index.ts";
import { asChange, asKind, asOptions, asPointer, asResource, asType, promised } from "./arguments.ts";
import type { CoreState, ResourceList, Watch } from "./core-state.ts";
import type { Event } from "./event.ts";
import { addFinalizers, removeFinalizers } from "./derive/finalizer-operations.ts";
import { getOrNull } from "./get-or-null.ts";
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
import { openWatch } from "./derive/follow-watch.ts";
import { signalWithTeardown } from "./derive/signal-with-teardown.ts";
import type { State, TeardownSignal, WatchCondition } from "./state.ts";
import { teardown, teardownAndDestroy } from "./derive/teardown.ts";
import { castBatch, castEvent, CastWatch, isResourceType, ListCaster } from "./typed-answers.ts";
import { modify, updateWithConflicts } from "./derive/update-with-conflicts.ts";
import { checkWatchCondition, watchFor } from "./derive/watch-for.ts";

/** Options of {@link wrapState}. */
export interface WrapOptions {
  /** Gives the turns of the event loop between attempts. Default: the real one. */
  readonly clock?: Pick<Clock, "defer"> | undefined;
}

/** A {@link State} on any store: adds the derived operations and the typed answers. */
export function wrapState(core: CoreState, options: WrapOptions = {}): State {
  return new WrappedState(core, options);
}

/**
 * The class behind {@link wrapState}, for stores that are a {@link State} themselves by extending it.
 *
 * What the core offers passes straight through: an untyped call costs nothing, a typed one the check of its answer.
 */
export class WrappedState implements State {
  readonly #core: CoreState;
  readonly #clock: Pick<Clock, "defer">;
  readonly #lists = new ListCaster();

  constructor(core: CoreState, options: WrapOptions = {}) {
    this.#core = core;
    this.#clock = options.clock ?? new SystemClock();
  }

  get<Spec>(type: ResourceType<Spec, string, never>, id: string, options?: GetOptions): Promise<Resource<Spec>>;
  get<Spec>(ref: Ref<Spec>, options?: GetOptions): Promise<Resource<Spec>>;
  get(target: AnyResourceType | Pointer, idOrOptions?: string | GetOptions, options?: GetOptions): Promise<Resource> {
    return promised(() => {
      if (typeof idOrOptions !== "string") return this.#core.get(asPointer(target), asOptions(idOrOptions));
      const type = asType(target);
      return this.#core.get(type.ref(idOrOptions), asOptions(options)).then((resource) => type.cast(resource));
    });
  }

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
    return promised(() => {
      if (typeof idOrOptions !== "string") return getOrNull(this.#core, asPointer(target), asOptions(idOrOptions));
      const type = asType(target);
      const answer = getOrNull(this.#core, type.ref(idOrOptions), asOptions(options));
      return answer.then((resource) => resource && type.cast(resource));
    });
  }

  list<Spec>(type: ResourceType<Spec, string, never>, options?: ListOptions): Promise<ResourceList<Spec>>;
  list(kind: Kind, options?: ListOptions): Promise<ResourceList>;
  list(kind: Kind, options?: ListOptions): Promise<ResourceList> {
    return promised(() => {
      const answer = this.#core.list(asKind(kind), asOptions(options));
      return isResourceType(kind) ? answer.then((list) => this.#lists.cast(kind, list)) : answer;
    });
  }

  create<Spec>(resource: Resource<Spec>, options?: CreateOptions): Promise<Resource<Spec>> {
    return promised(() => this.#core.create(asResource(resource), asOptions(options)) as Promise<Resource<Spec>>);
  }

  update<Spec>(resource: Resource<Spec>, options?: UpdateOptions): Promise<Resource<Spec>> {
    return promised(() => this.#core.update(asResource(resource), asOptions(options)) as Promise<Resource<Spec>>);
  }

  destroy(pointer: Pointer, options?: DestroyOptions): Promise<void> {
    return promised(() => this.#core.destroy(asPointer(pointer), asOptions(options)));
  }

  watch<Spec>(type: ResourceType<Spec, string, never>, id: string, options?: WatchOptions): Promise<Watch<Event<Spec>>>;
  watch<Spec>(ref: Ref<Spec>, options?: WatchOptions): Promise<Watch<Event<Spec>>>;
  watch(
    target: AnyResourceType | Pointer,
    idOrOptions?: string | WatchOptions,
    options?: WatchOptions,
  ): Promise<Watch> {
    return promised(() => {
      if (typeof idOrOptions !== "string") return this.#core.watch(asPointer(target), asOptions(idOrOptions));
      const type = asType(target);
      return this.#core.watch(type.ref(idOrOptions), asOptions(options)).then((watch) => castWatch(type, watch));
    });
  }

  watchKind<Spec>(type: ResourceType<Spec, string, never>, options?: WatchKindOptions): Promise<Watch<Event<Spec>>>;
  watchKind(kind: Kind, options?: WatchKindOptions): Promise<Watch>;
  watchKind(kind: Kind, options?: WatchKindOptions): Promise<Watch> {
    return promised(() => {
      const answer = this.#core.watchKind(asKind(kind), asOptions(options));
      return isResourceType(kind) ? answer.then((watch) => castWatch(kind, watch)) : answer;
    });
  }

  watchKindBatches<Spec>(
    type: ResourceType<Spec, string, never>,
    options?: WatchKindOptions,
  ): Promise<Watch<readonly Event<Spec>[]>>;
  watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>>;
  watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
    return promised(() => {
      const answer = this.#core.watchKindBatches(asKind(kind), asOptions(options));
      if (!isResourceType(kind)) return answer;
      return answer.then((watch) => new CastWatch(watch, (batch: readonly Event[]) => castBatch(kind, batch)));
    });
  }

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
  updateWithConflicts(target: AnyResourceType | Pointer, ...args: readonly unknown[]): Promise<Resource> {
    return promised(() => {
      const { pointer, type, rest } = parseTarget(target, args);
      const [change, options] = rest as [Change<unknown>, UpdateOptions?];
      const cast = type && ((resource: Resource) => type.cast(resource));
      return updateWithConflicts(this.#core, this.#clock, pointer, asChange(change), asOptions(options) ?? {}, cast);
    });
  }

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
  modify(target: AnyResourceType | Resource, ...args: readonly unknown[]): Promise<Resource> {
    return promised(() =>
      typeof args[0] === "string"
        ? this.#modifyTyped(asType(target), ...(args as [string, Change<unknown>, UpdateOptions?]))
        : this.#modifyLike(asResource(target as Resource), ...(args as [Change<unknown>, UpdateOptions?])),
    );
  }

  #modifyTyped(type: AnyResourceType, id: string, change: Change<unknown>, options?: UpdateOptions): Promise<Resource> {
    const cast = (resource: Resource): Resource => type.cast(resource);
    const initial = createResource(type.ref(id), {});
    return modify(this.#core, this.#clock, initial, asChange(change), asOptions(options) ?? {}, type.source, cast);
  }

  #modifyLike(initial: Resource, change: Change<unknown>, options?: UpdateOptions): Promise<Resource> {
    const source = sourceOf(initial);
    const cast = (resource: Resource): Resource =>
      source === undefined || sourceOf(resource) === source
        ? resource
        : sealResource(resource.metadata, resource.spec, source);
    return modify(this.#core, this.#clock, initial, asChange(change), asOptions(options) ?? {}, source, cast);
  }

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
  async watchFor(target: AnyResourceType | Pointer, ...args: readonly unknown[]): Promise<Resource | Tombstone> {
    const { pointer, type, rest } = parseTarget(target, args);
    const [condition = {}, options] = rest as [WatchCondition?, CallOptions?];
    checkWatchCondition(condition);
    const signal = asOptions(options)?.signal;
    signal?.throwIfAborted();
    const watch = await openWatch(this.#core, pointer, signal);
    return watchFor(type === undefined ? watch : castWatch(type, watch), pointer, condition, signal);
  }

  teardown(pointer: Pointer, options?: DestroyOptions): Promise<boolean> {
    return promised(() => teardown(this.#core, this.#clock, lifePointer(asPointer(pointer)), asOptions(options) ?? {}));
  }

  teardownAndDestroy(pointer: Pointer, options?: DestroyOptions): Promise<void> {
    return promised(() =>
      teardownAndDestroy(this.#core, this.#clock, lifePointer(asPointer(pointer)), asOptions(options) ?? {}),
    );
  }

  addFinalizer(pointer: Pointer, ...finalizers: readonly string[]): Promise<void> {
    return promised(() => addFinalizers(this.#core, this.#clock, lifePointer(asPointer(pointer)), finalizers));
  }

  removeFinalizer(pointer: Pointer, ...finalizers: readonly string[]): Promise<void> {
    return promised(() => removeFinalizers(this.#core, this.#clock, lifePointer(asPointer(pointer)), finalizers));
  }

  signalWithTeardown(pointer: Pointer, options?: CallOptions): Promise<TeardownSignal> {
    return promised(() =>
      signalWithTeardown(this.#core, this.#clock, lifePointer(asPointer(pointer)), asOptions(options) ?? {}),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#core[Symbol.asyncDispose]?.();
  }
}

const castWatch = (type: AnyResourceType, watch: Watch): Watch =>
  new CastWatch(watch, (event) => castEvent(type, event));

/**
 * Tells the two forms of an address apart: a type and an id, or one pointer. It is copied: an operation of several steps
 * must not follow a pointer that its caller changes meanwhile.
 */
function parseTarget(
  target: AnyResourceType | Pointer,
  args: readonly unknown[],
): { readonly pointer: Pointer; readonly type: AnyResourceType | undefined; readonly rest: readonly unknown[] } {
  const [id, ...rest] = args;
  if (typeof id !== "string") return { pointer: lifePointer(asPointer(target)), type: undefined, rest: args };
  const type = asType(target);
  return { pointer: type.ref(id), type, rest };
}
