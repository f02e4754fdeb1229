import {
  isTombstone,
  sourceOf,
  type AnyResourceType,
  type Kind,
  type Resource,
  type SpecSource,
  type Tombstone,
} from "../resource/index.ts";
import type { ResourceList, Watch } from "./core-state.ts";
import type { Event } from "./event.ts";
import { sealResourceList } from "./resource-list.ts";

/** True when a kind is a whole type, so that the answer is to be of that type. */
export const isResourceType = (kind: Kind): kind is AnyResourceType =>
  "cast" in kind && typeof kind.cast === "function";

const fits = (type: AnyResourceType, resource: Resource | Tombstone): boolean =>
  sourceOf(resource) === type.source || isTombstone(resource);

/** Makes lists typed, each list once: a State gives the same list to everyone who asks until something changes. */
export class ListCaster {
  readonly #done = new WeakMap<ResourceList, { readonly source: SpecSource; readonly list: ResourceList }>();

  /** {@link castList} */
  cast(type: AnyResourceType, list: ResourceList): ResourceList {
    const done = this.#done.get(list);
    if (done?.source === type.source) return done.list;
    const cast = castList(type, list);
    if (Object.isFrozen(list)) this.#done.set(list, { source: type.source, list: cast });
    return cast;
  }
}

/**
 * The list as one of `type`: the same list when a State that knows the type has made it.
 *
 * @throws {StateError} `type_mismatch`, `invalid`.
 */
export function castList(type: AnyResourceType, list: ResourceList): ResourceList {
  if (list.every((resource) => sourceOf(resource) === type.source)) return list;
  return sealResourceList(
    list.map((resource) => type.cast(resource)),
    list.revision,
  );
}

/**
 * The event as one of `type`: the same event when a State that knows the type has made it. Otherwise the resources are
 * checked when they are read, and the read throws: one that does not fit must not end the whole watch.
 */
export function castEvent(type: AnyResourceType, event: Event): Event {
  const { resource, old } = event;
  if ((resource === undefined || fits(type, resource)) && (old === undefined || fits(type, old))) return event;
  // The class has the shape of the event that it stands for; the compiler cannot follow the union through it.
  return new CastEvent(type, event) as unknown as Event;
}

/** {@link castEvent} for each; the same array when nothing differs. */
export function castBatch(type: AnyResourceType, batch: readonly Event[]): readonly Event[] {
  const cast = batch.map((event) => castEvent(type, event));
  return cast.every((event, i) => event === batch[i]) ? batch : Object.freeze(cast);
}

class CastEvent {
  readonly type: Event["type"];
  readonly #as: AnyResourceType;
  readonly #event: Event;
  #resource: Resource | Tombstone | undefined;
  #old: Resource | undefined;

  constructor(as: AnyResourceType, event: Event) {
    this.type = event.type;
    this.#as = as;
    this.#event = event;
    Object.freeze(this);
  }

  get resource(): Resource | Tombstone | undefined {
    const { resource } = this.#event;
    if (resource === undefined || isTombstone(resource)) return resource;
    return (this.#resource ??= this.#as.cast(resource));
  }

  get old(): Resource | undefined {
    const { old } = this.#event;
    return old && (this.#old ??= this.#as.cast(old));
  }

  get error(): Error | undefined {
    return this.#event.error;
  }

  get bookmark(): Uint8Array | undefined {
    return this.#event.bookmark;
  }

  get revision(): number | undefined {
    return this.#event.revision;
  }
}

/** A watch whose answers go through `cast`. What the inner watch can do besides iterating stays possible. */
export class CastWatch<T> implements Watch<T> {
  readonly #inner: Watch<T>;
  readonly #cast: (value: T) => T;
  // Only declared: where the inner watch has none, a user who asks for it must not find it.
  declare readonly takePending?: () => T | undefined;
  declare readonly onPending?: (listener: () => void, onEnd?: () => void) => void;

  constructor(inner: Watch<T>, cast: (value: T) => T) {
    this.#inner = inner;
    this.#cast = cast;
    if (inner.takePending !== undefined) {
      this.takePending = () => {
        const pending = inner.takePending?.();
        return pending === undefined ? undefined : cast(pending);
      };
    }
    if (inner.onPending !== undefined) this.onPending = (listener, onEnd) => inner.onPending?.(listener, onEnd);
  }

  next(): Promise<IteratorResult<T>> {
    return this.#inner.next().then((result) => {
      if (result.done === true) return result;
      const value = this.#cast(result.value);
      return value === result.value ? result : { done: false, value };
    });
  }

  async return(): Promise<IteratorResult<T>> {
    await this.#inner[Symbol.asyncDispose]();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#inner[Symbol.asyncDispose]();
  }
}
