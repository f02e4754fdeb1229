import { compareText } from "../internal/compare-text.ts";
import {
  compareVersions,
  formatPointer,
  Phase,
  StateError,
  type Kind,
  type Metadata,
  type Pointer,
  type Resource,
} from "../resource/index.ts";
import {
  compileQuery,
  sealResourceList,
  type CallOptions,
  type CompiledQuery,
  type GetOptions,
  type ListOptions,
  type ResourceList,
  type TeardownSignal,
} from "../state/index.ts";
import type { CacheObserver, ObservedCache } from "./cache-observer.ts";
import { CachedTeardownSignal } from "./cached-teardown-signal.ts";
import type { Gauge } from "./metrics.ts";

/** Changes that may gather unsorted before sorting everything anew is cheaper than merging them. */
const FEWEST_CHANGES = 64;

/**
 * The resources of one kind in memory, fed by the same watch that wakes controllers.
 *
 * It is *filling* until the watch says that it has delivered what was there at the start; reads wait for that. A
 * watch that lost its place makes it *fill again* beside the old contents, which are served until the new ones
 * are complete. Resources are shared, frozen values: neither feeding nor reading copies them.
 */
export class KindCache implements ObservedCache {
  readonly kind: Kind;
  readonly #gauge: Gauge;
  #byId = new Map<string, Resource>();
  /** The contents that are being filled, if any; live changes belong to them as well. */
  #filling: Map<string, Resource> | undefined = new Map();
  #ready = false;
  #revision: number | undefined;
  #snapshot: ResourceList | undefined;
  /** The contents in order at the time of the last list, and what has changed since; undefined when too much has. */
  #sorted: Resource[] | undefined;
  readonly #changedIds = new Set<string>();
  readonly #waits = new Set<() => void>();
  readonly #observers = new Map<string, Set<CacheObserver>>();

  constructor(kind: Kind, gauge: Gauge) {
    this.kind = kind;
    this.#gauge = gauge;
  }

  /** True once the first contents are complete. */
  get ready(): boolean {
    return this.#ready;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** True while changes are only collected, for contents that nobody sees yet. */
  get filling(): boolean {
    return this.#filling !== undefined;
  }

  /** Number of changes of the kind that the contents reflect, where the State counts them. */
  get revision(): number | undefined {
    return this.#revision;
  }

  /** Takes one of the contents that are being filled. */
  append(resource: Resource): void {
    const filling = (this.#filling ??= new Map());
    const { id } = resource.metadata;
    if (!this.#ready && !filling.has(id)) this.#gauge.value++;
    filling.set(id, resource);
  }

  /** The watch starts over: what follows are new contents. */
  refill(): void {
    if (!this.#ready) this.#gauge.value -= this.#filling?.size ?? 0;
    this.#filling = new Map();
  }

  /**
   * The contents are complete, and are what reads see from now on. A second call in a row does nothing.
   *
   * @returns what was there before and is no more.
   */
  filled(revision: number | undefined): readonly Resource[] {
    const filling = this.#filling;
    if (revision !== undefined) this.#revision = revision;
    if (filling === undefined) return [];
    const before = this.#byId;
    const first = !this.#ready;
    if (!first) this.#gauge.value += filling.size - before.size;
    this.#byId = filling;
    this.#filling = undefined;
    this.#ready = true;
    this.#forgetOrder();
    this.#snapshot = undefined;
    for (const [id, observers] of this.#observers) this.#tellFilled(filling.get(id), observers, first);
    this.#wake();
    return [...before.values()].filter(({ metadata }) => !filling.has(metadata.id));
  }

  /** Replaces or inserts. The order of the watch decides what is newest: a resource that is created anew starts at version 1. */
  put(resource: Resource, revision?: number): void {
    const { metadata } = resource;
    if (!this.#byId.has(metadata.id)) this.#gauge.value++;
    this.#byId.set(metadata.id, resource);
    this.#changed(metadata.id, metadata, revision);
  }

  /** Removes by id; an unknown one is fine. */
  remove(metadata: Metadata, revision?: number): void {
    if (this.#filling !== undefined) {
      if (this.#filling.delete(metadata.id) && !this.#ready) this.#gauge.value--;
      return;
    }
    if (this.#byId.delete(metadata.id)) this.#gauge.value--;
    this.#changed(metadata.id, "nothing", revision);
  }

  /** What is there now, complete or not. */
  peek(id: string): Resource | undefined {
    return this.#byId.get(id);
  }

  /** @throws {StateError} `not_found`. @throws the signal's reason, when aborted while waiting. */
  async get(pointer: Pointer, options?: GetOptions): Promise<Resource> {
    const resource = await this.getOrNull(pointer, options);
    if (resource === undefined) throw notFound(pointer);
    return resource;
  }

  /** {@link get}, with undefined for a resource that does not exist. */
  async getOrNull(pointer: Pointer, options: GetOptions = {}): Promise<Resource | undefined> {
    const { atLeast, signal } = options;
    signal?.throwIfAborted();
    if (!this.#ready) await this.#wait(() => this.#ready, signal);
    if (atLeast !== undefined) await this.#wait(() => this.#knows(pointer.id, atLeast), signal);
    return this.#byId.get(pointer.id);
  }

  /** The matching resources, sorted by id: the same frozen array for everyone until the next change. */
  async list(options: ListOptions = {}): Promise<ResourceList> {
    const { atLeast, signal } = options;
    signal?.throwIfAborted();
    const compiled = compileQuery(options);
    const query = compiled instanceof Promise ? await compiled : compiled;
    if (!this.#ready) await this.#wait(() => this.#ready, signal);
    if (atLeast !== undefined) await this.#waitForRevision(atLeast, signal);
    return this.listNow(query);
  }

  /** {@link list} for a cache that is ready. */
  listNow(query?: CompiledQuery): ResourceList {
    const all = this.#list();
    if (query === undefined) return all;
    return sealResourceList(
      all.filter((resource) => query.matches(resource)),
      this.#revision,
    );
  }

  /** A signal that aborts when the resource is absent, tearing down or removed, or when the parent aborts. */
  async signalWithTeardown(pointer: Pointer, options: CallOptions = {}): Promise<TeardownSignal> {
    const { signal } = options;
    signal?.throwIfAborted();
    if (!this.#ready) await this.#wait(() => this.#ready, signal);
    return new CachedTeardownSignal(this, pointer, signal);
  }

  isRunning(id: string): boolean {
    return this.#byId.get(id)?.metadata.phase === Phase.running;
  }

  observe(id: string, observer: CacheObserver): void {
    const observers = this.#observers.get(id);
    if (observers === undefined) this.#observers.set(id, new Set([observer]));
    else observers.add(observer);
  }

  unobserve(id: string, observer: CacheObserver): void {
    const observers = this.#observers.get(id);
    if (observers?.delete(observer) && observers.size === 0) this.#observers.delete(id);
  }

  #changed(id: string, now: Metadata | "nothing", revision: number | undefined): void {
    if (revision !== undefined) this.#revision = revision;
    this.#snapshot = undefined;
    if (this.#sorted !== undefined) {
      this.#changedIds.add(id);
      if (this.#changedIds.size > FEWEST_CHANGES + this.#sorted.length) this.#forgetOrder();
    }
    if (this.#observers.size > 0) for (const observer of this.#observers.get(id) ?? []) observer.changed(now);
    this.#wake();
  }

  /** What the first contents lack may be on its way still: they are older than anything that observers have done. */
  #tellFilled(resource: Resource | undefined, observers: ReadonlySet<CacheObserver>, first: boolean): void {
    for (const observer of observers) {
      if (!first) observer.swapped(resource?.metadata ?? "nothing");
      else if (resource !== undefined) observer.changed(resource.metadata);
    }
  }

  #forgetOrder(): void {
    this.#sorted = undefined;
    this.#changedIds.clear();
  }

  #list(): ResourceList {
    if (this.#snapshot !== undefined) return this.#snapshot;
    // Either way it is a new array, which becomes the list.
    this.#sorted =
      this.#sorted === undefined ? sortedById(this.#byId.values()) : merge(this.#sorted, this.#changedIds, this.#byId);
    this.#changedIds.clear();
    return (this.#snapshot = sealResourceList(this.#sorted, this.#revision));
  }

  #knows(id: string, version: string): boolean {
    const resource = this.#byId.get(id);
    return resource !== undefined && compareVersions(resource.metadata.version, version) >= 0;
  }

  async #waitForRevision(atLeast: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#revision === undefined) {
      throw new StateError(
        "unsupported",
        `the State does not count the changes of ${this.kind.type}: atLeast cannot be kept`,
      );
    }
    await this.#wait(() => (this.#revision ?? 0) >= atLeast, signal);
  }

  /** Resolves when `holds` does; it is asked after each change. */
  #wait(holds: () => boolean, signal: AbortSignal | undefined): Promise<void> | undefined {
    if (holds()) return undefined;
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (!holds()) return;
        end();
        resolve();
      };
      const onAbort = (): void => {
        end();
        reject(signal?.reason);
      };
      const end = (): void => {
        this.#waits.delete(check);
        signal?.removeEventListener("abort", onAbort);
      };
      this.#waits.add(check);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  #wake(): void {
    if (this.#waits.size > 0) for (const check of this.#waits) check();
  }
}

export function notFound(pointer: Pointer): StateError {
  return new StateError("not_found", `${formatPointer(pointer)} does not exist`, { pointer });
}

function sortedById(resources: Iterable<Resource>): Resource[] {
  return [...resources].sort((a, b) => compareText(a.metadata.id, b.metadata.id));
}

/** `sorted` with the resources of `changedIds` as they are in `now`. */
function merge(
  sorted: readonly Resource[],
  changedIds: ReadonlySet<string>,
  now: ReadonlyMap<string, Resource>,
): Resource[] {
  const changed: Resource[] = [];
  for (const id of changedIds) {
    const resource = now.get(id);
    if (resource !== undefined) changed.push(resource);
  }
  changed.sort((a, b) => compareText(a.metadata.id, b.metadata.id));
  const merged: Resource[] = [];
  let next = 0;
  for (const resource of sorted) {
    const { id } = resource.metadata;
    if (changedIds.has(id)) continue;
    for (
      let other = changed[next];
      other !== undefined && compareText(other.metadata.id, id) < 0;
      other = changed[next]
    ) {
      merged.push(other);
      next++;
    }
    merged.push(resource);
  }
  for (; next < changed.length; next++) {
    const other = changed[next];
    if (other !== undefined) merged.push(other);
  }
  return merged;
}
