import { StateError } from "../../resource/index.ts";
import type { CoreState } from "../core-state.ts";
import type { CallOptions } from "../options.ts";
import { ForwardingState, type Address, type ForwardedOperation } from "./forwarding-state.ts";

interface TentativeStore {
  readonly store: CoreState;
  /** Calls that are under way: only a store without any is let go. */
  calls: number;
}

/**
 * Gives each namespace a store of its own: same type and id in two namespaces are different resources, with different
 * histories. A store is made when its namespace is named, and kept, unless it says that it holds nothing: reads of
 * namespaces that do not exist leave nothing behind. The router disposes those that it keeps.
 */
export class NamespaceRouter extends ForwardingState {
  readonly #build: (namespace: string) => CoreState;
  readonly #stores = new Map<string, CoreState>();
  /** Stores that have not been seen to hold anything that has to be kept. */
  readonly #tentative = new Map<string, TentativeStore>();
  #disposal: Promise<void> | undefined;

  /** @param build - Makes the store of a namespace. It may throw for namespaces that it does not accept. */
  constructor(build: (namespace: string) => CoreState) {
    super();
    this.#build = build;
  }

  /** Disposes the stores of all namespaces. Idempotent. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#disposal ??= disposeAll([
      ...this.#stores.values(),
      ...this.#tentative.values().map(({ store }) => store),
    ]));
  }

  protected forward<Target extends object, Options extends CallOptions, Result>(
    operation: ForwardedOperation<Target, Options, Result>,
    { namespace }: Address,
    target: Target,
    options: Options | undefined,
  ): Promise<Result> {
    const store = this.#stores.get(namespace);
    if (store !== undefined) return operation.run(store, target, options);
    return this.#onTentative(namespace, (tentative) => operation.run(tentative, target, options));
  }

  /** A call on a store that may turn out to hold nothing. What the builder throws is the call's failure. */
  async #onTentative<T>(namespace: string, call: (store: CoreState) => Promise<T>): Promise<T> {
    const tentative = this.#tentative.get(namespace) ?? this.#open(namespace);
    tentative.calls++;
    try {
      return await call(tentative.store);
    } finally {
      tentative.calls--;
      this.#settle(namespace, tentative);
    }
  }

  #open(namespace: string): TentativeStore {
    const tentative = { store: this.#buildStore(namespace), calls: 0 };
    // Two for each that is added, so that they cannot gather.
    for (const [other, waiting] of [...this.#tentative].slice(0, 2)) {
      this.#tentative.delete(other);
      this.#tentative.set(other, waiting);
      this.#settle(other, waiting);
    }
    this.#tentative.set(namespace, tentative);
    return tentative;
  }

  /** Keeps a store that holds something, and lets go of one that holds nothing. */
  #settle(namespace: string, { store, calls }: TentativeStore): void {
    if (calls > 0 || this.#tentative.get(namespace)?.store !== store) return;
    const usage = store.usage?.() ?? "held";
    if (usage === "watched") return;
    this.#tentative.delete(namespace);
    if (usage === "held") this.#stores.set(namespace, store);
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
