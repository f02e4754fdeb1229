import type { Pointer, Resource } from "../../resource/index.ts";
import {
  ForwardingState,
  type Address,
  type CallOptions,
  type CoreState,
  type CreateOptions,
  type DestroyOptions,
  type ForwardedOperation,
  type UpdateOptions,
} from "../../state/index.ts";
import type { KindCache } from "../cache/kind-cache.ts";
import type { KindMap } from "../kind-map.ts";
import type { PendingCalls } from "../pending-calls.ts";
import type { ControllerMetrics } from "../metrics/metrics.ts";
import type { WriteLedger, Written } from "../causes/write-ledger.ts";
import type { OwnWrites } from "../cache/own-writes.ts";

/**
 * The backing state as one controller uses it: counts its calls, knows which of them are not answered, and notes its
 * writes to caches that lag behind. The store's own teardown is not offered: it does not say which version it wrote.
 */
export class ControllerCore extends ForwardingState {
  readonly #core: CoreState;
  readonly #metrics: ControllerMetrics;
  /** Caches that may lag behind writes. */
  readonly #lagging: KindMap<KindCache>;
  readonly #ownWrites: OwnWrites;
  readonly #calls: PendingCalls;
  readonly #controller: string;
  readonly #writes: WriteLedger;

  constructor(
    core: CoreState,
    metrics: ControllerMetrics,
    lagging: KindMap<KindCache>,
    ownWrites: OwnWrites,
    calls: PendingCalls,
    writes: WriteLedger,
    controller: string,
  ) {
    super();
    this.#writes = writes;
    this.#controller = controller;
    this.#calls = calls;
    this.#core = core;
    this.#metrics = metrics;
    this.#lagging = lagging;
    this.#ownWrites = ownWrites;
  }

  /** Reads; writes have methods of their own. */
  protected forward<Target extends object, Options extends CallOptions, Result>(
    operation: ForwardedOperation<Target, Options, Result>,
    address: Address,
    target: Target,
    options: Options | undefined,
  ): Promise<Result> {
    this.#metrics.reads++;
    return this.#calls.note(operation.verb, address, operation.run(this.#core, target, options));
  }

  override create(resource: Resource, options?: CreateOptions): Promise<Resource> {
    this.#metrics.writes++;
    return this.#follow("create", resource.metadata, this.#core.create(resource, options));
  }

  override update(resource: Resource, options?: UpdateOptions): Promise<Resource> {
    this.#metrics.writes++;
    return this.#follow("update", resource.metadata, this.#core.update(resource, options));
  }

  override destroy(pointer: Pointer, options?: DestroyOptions): Promise<void> {
    this.#metrics.writes++;
    const cache = this.#lagging.get(pointer.namespace, pointer.type);
    const destroyed = this.#attributed(
      pointer,
      () => "nothing",
      this.#calls.note("destroy", pointer, this.#core.destroy(pointer, options)),
    );
    return cache === undefined ? destroyed : this.#ownWrites.followDestroy(cache, pointer.id, destroyed);
  }

  #follow(operation: string, pointer: Pointer, written: Promise<Resource>): Promise<Resource> {
    const { namespace, type, id } = pointer;
    const cache = this.#lagging.get(namespace, type);
    const noted = this.#attributed(pointer, ({ metadata }) => metadata, this.#calls.note(operation, pointer, written));
    return cache === undefined ? noted : this.#ownWrites.follow(cache, id, noted);
  }

  /** Notes who made a write, where the writer depends on the kind itself. */
  #attributed<T>(pointer: Pointer, leftBy: (result: T) => Written, write: Promise<T>): Promise<T> {
    if (!this.#writes.tracks(pointer.namespace, pointer.type)) return write;
    return write.then((result) => {
      this.#writes.add(pointer, leftBy(result), this.#controller);
      return result;
    });
  }
}
