import { StateError, type Kind, type Pointer, type Resource } from "../resource/index.ts";
import type { CoreState, ResourceList, Watch } from "./core-state.ts";
import type { Event } from "./event.ts";
import { getOrNull } from "./get-or-null.ts";
import type {
  CreateOptions,
  DestroyOptions,
  GetOptions,
  ListOptions,
  UpdateOptions,
  WatchKindOptions,
  WatchOptions,
} from "./options.ts";

/**
 * Gives each namespace a store of its own: same type and id in two namespaces are different resources, with different
 * histories. Stores are made when their namespace is first named, by reads as well, and kept; the router disposes them.
 */
export class NamespaceRouter implements CoreState {
  readonly #build: (namespace: string) => CoreState;
  readonly #stores = new Map<string, CoreState>();
  #disposal: Promise<void> | undefined;

  /** @param build - Makes the store of a namespace. It may throw for namespaces that it does not accept. */
  constructor(build: (namespace: string) => CoreState) {
    this.#build = build;
  }

  get(pointer: Pointer, options?: GetOptions): Promise<Resource> {
    return this.#route(pointer, (store) => store.get(pointer, options));
  }

  getOrNull(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined> {
    return this.#route(pointer, (store) => getOrNull(store, pointer, options));
  }

  list(kind: Kind, options?: ListOptions): Promise<ResourceList> {
    return this.#route(kind, (store) => store.list(kind, options));
  }

  create(resource: Resource, options?: CreateOptions): Promise<Resource> {
    return this.#route(resource.metadata, (store) => store.create(resource, options));
  }

  update(resource: Resource, options?: UpdateOptions): Promise<Resource> {
    return this.#route(resource.metadata, (store) => store.update(resource, options));
  }

  destroy(pointer: Pointer, options?: DestroyOptions): Promise<void> {
    return this.#route(pointer, (store) => store.destroy(pointer, options));
  }

  watch(pointer: Pointer, options?: WatchOptions): Promise<Watch> {
    return this.#route(pointer, (store) => store.watch(pointer, options));
  }

  watchKind(kind: Kind, options?: WatchKindOptions): Promise<Watch> {
    return this.#route(kind, (store) => store.watchKind(kind, options));
  }

  watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
    return this.#route(kind, (store) => store.watchKindBatches(kind, options));
  }

  /** Disposes the stores of all namespaces. Idempotent. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#disposal ??= disposeAll([...this.#stores.values()]));
  }

  /** What the builder throws is the operation's failure. */
  #route<T>({ namespace }: Kind, call: (store: CoreState) => Promise<T>): Promise<T> {
    try {
      return call(this.#storeOf(namespace));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  #storeOf(namespace: string): CoreState {
    const known = this.#stores.get(namespace);
    if (known !== undefined) return known;
    if (this.#disposal !== undefined) {
      throw new StateError(
        "unavailable",
        `namespace ${JSON.stringify(namespace)} has no store: the router is disposed`,
      );
    }
    if (typeof namespace !== "string") {
      throw new StateError(
        "invalid",
        `a namespace must be a string, got ${namespace === null ? "null" : typeof namespace}`,
      );
    }
    const built = this.#build(namespace);
    this.#stores.set(namespace, built);
    return built;
  }
}

/** Disposes every store, whatever happens to the others. */
async function disposeAll(stores: readonly CoreState[]): Promise<void> {
  const results = await Promise.allSettled(stores.map(async (store) => store[Symbol.asyncDispose]?.()));
  const errors: unknown[] = results
    .filter((result) => result.status === "rejected")
    .map(({ reason }) => reason as unknown);
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} stores could not be disposed`);
}
