import { StateError, type Kind, type Pointer, type Resource } from "../../resource/index.ts";
import type { CoreState, ResourceList, Watch } from "../core-state.ts";
import type { Event } from "../event.ts";
import { getOrNull } from "../get-or-null.ts";
import type {
  CreateOptions,
  DestroyOptions,
  GetOptions,
  ListOptions,
  UpdateOptions,
  WatchKindOptions,
  WatchOptions,
} from "../options.ts";
import { RefusingStore } from "./refusing-store.ts";

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
    return this.#storeOf(pointer.namespace).get(pointer, options);
  }

  getOrNull(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined> {
    return getOrNull(this.#storeOf(pointer.namespace), pointer, options);
  }

  list(kind: Kind, options?: ListOptions): Promise<ResourceList> {
    return this.#storeOf(kind.namespace).list(kind, options);
  }

  create(resource: Resource, options?: CreateOptions): Promise<Resource> {
    return this.#storeOf(resource.metadata.namespace).create(resource, options);
  }

  update(resource: Resource, options?: UpdateOptions): Promise<Resource> {
    return this.#storeOf(resource.metadata.namespace).update(resource, options);
  }

  destroy(pointer: Pointer, options?: DestroyOptions): Promise<void> {
    return this.#storeOf(pointer.namespace).destroy(pointer, options);
  }

  watch(pointer: Pointer, options?: WatchOptions): Promise<Watch> {
    return this.#storeOf(pointer.namespace).watch(pointer, options);
  }

  watchKind(kind: Kind, options?: WatchKindOptions): Promise<Watch> {
    return this.#storeOf(kind.namespace).watchKind(kind, options);
  }

  watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
    return this.#storeOf(kind.namespace).watchKindBatches(kind, options);
  }

  /** Disposes the stores of all namespaces. Idempotent. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#disposal ??= disposeAll([...this.#stores.values()]));
  }

  #storeOf(namespace: string): CoreState {
    return this.#stores.get(namespace) ?? this.#open(namespace);
  }

  /** What the builder throws is the operation's failure. */
  #open(namespace: string): CoreState {
    try {
      const store = this.#buildStore(namespace);
      this.#stores.set(namespace, store);
      return store;
    } catch (error) {
      return new RefusingStore(error);
    }
  }

  #buildStore(namespace: string): CoreState {
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
    return this.#build(namespace);
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
