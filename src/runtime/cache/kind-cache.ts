import { isErrorValue, messageOf } from "../../internal/foreign-value.ts";
import { abortable } from "../../internal/abortable.ts";
import { SortedEntries, type Entry } from "../../internal/sorted-entries.ts";
import {
  compareVersions,
  formatPointer,
  StateError,
  type Kind,
  type Metadata,
  type Pointer,
  type Resource,
} from "../../resource/index.ts";
import {
  compileQuery,
  sealResourceList,
  type CallOptions,
  type CompiledQuery,
  type GetOptions,
  type ListOptions,
  type ResourceList,
  type TeardownSignal,
} from "../../state/index.ts";
import type { CacheObserver, Content, ObservedCache } from "./cache-observer.ts";
import { CacheSighting } from "./cache-sighting.ts";
import { CacheWaits } from "./cache-waits.ts";
import { CachedTeardownSignal } from "./cached-teardown-signal.ts";
import type { Gauge } from "../metrics/metrics.ts";

/** What a cache asks the State behind it, where its events alone cannot end a wait. */
export interface CacheOrigin {
  get(pointer: Pointer, options: CallOptions): Promise<Resource | undefined>;
  /** Number of changes of the kind, where the State counts them. */
  revision(kind: Kind, options: CallOptions): Promise<number | undefined>;
}

/**
 * The resources of one kind in memory, fed by the same watch that wakes controllers.
 *
 * It is *filling* until the watch says that it has delivered what was there at the start; reads wait for that. A
 * watch that lost its place makes it *fill again* beside the old contents, which are served until the new ones
 * are complete. Once it is *closed*, since nothing feeds it any more, reads and waits reject with `unavailable`. Resources
 * are shared, frozen values: neither feeding nor reading copies them.
 */
export class KindCache implements ObservedCache {
  readonly kind: Kind;
  readonly #gauge: Gauge;
  readonly #origin: CacheOrigin;
  #entries = new Map<string, Entry<Resource>>();
  #sorted = new SortedEntries<Resource>();
  /** The contents that are being filled, if any. */
  #filling: Map<string, Entry<Resource>> | undefined = new Map();
  #ready = false;
  /** Number of changes of the kind that the contents reflect, where the State counts them. */
  #revision: number | undefined;
  #snapshot: ResourceList | undefined;
  readonly #waits = new CacheWaits();
  /** Aborts when the cache is closed. */
  readonly #closing = new AbortController();
  readonly #observers = new Map<string, Set<CacheObserver>>();

  constructor(kind: Kind, gauge: Gauge, origin: CacheOrigin) {
    this.kind = kind;
    this.#gauge = gauge;
    this.#origin = origin;
  }

  /** True from the completion of the first contents until the cache is closed. */
  get ready(): boolean {
    return this.#ready && !this.#closing.signal.aborted;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** True while changes are only collected, for contents that are not visible yet. */
  get filling(): boolean {
    return this.#filling !== undefined;
  }

  /** Takes one of the contents that are being filled. */
  append(resource: Resource): void {
    const filling = (this.#filling ??= new Map());
    const { id } = resource.metadata;
    if (!this.#ready && !filling.has(id)) this.#gauge.value++;
    filling.set(id, { resource });
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
    const before = this.#entries;
    const first = !this.#ready;
    if (!first) this.#gauge.value += filling.size - before.size;
    this.#entries = filling;
    this.#sorted = new SortedEntries();
    this.#filling = undefined;
    this.#ready = true;
    this.#snapshot = undefined;
    for (const [id, observers] of this.#observers) {
      const now = filling.get(id)?.resource?.metadata ?? "nothing";
      for (const observer of observers) observer.swapped(now);
    }
    this.#waits.check();
    const vanished: Resource[] = [];
    for (const [id, { resource }] of before) if (resource !== undefined && !filling.has(id)) vanished.push(resource);
    return vanished;
  }

  /** Replaces or inserts. The order of the watch decides what is newest: a resource that is created anew starts at version 1. */
  put(resource: Resource, revision?: number): void {
    const { metadata } = resource;
    const entry = this.#entries.get(metadata.id);
    if (entry === undefined) {
      const added = { resource };
      this.#entries.set(metadata.id, added);
      this.#sorted.add(added);
      this.#gauge.value++;
    } else {
      entry.resource = resource;
    }
    this.#changed(metadata.id, metadata, revision);
  }

  /** Removes by id; an unknown one is fine. */
  remove(metadata: Metadata, revision?: number): void {
    if (this.#filling !== undefined) {
      if (this.#filling.delete(metadata.id) && !this.#ready) this.#gauge.value--;
      return;
    }
    const entry = this.#entries.get(metadata.id);
    if (entry !== undefined) {
      entry.resource = undefined;
      this.#entries.delete(metadata.id);
      this.#sorted.remove();
      this.#gauge.value--;
    }
    this.#changed(metadata.id, "nothing", revision);
  }

  /** What is there now, complete or not. */
  peek(id: string): Resource | undefined {
    return this.#entries.get(id)?.resource;
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
    if (!this.ready) await this.#untilReady(signal);
    if (atLeast !== undefined) await this.#untilVersion(pointer.id, atLeast, signal);
    return this.peek(pointer.id);
  }

  /** The matching resources, sorted by id: the same frozen array for everyone until the next change. */
  async list(options: ListOptions = {}): Promise<ResourceList> {
    const { atLeast, signal } = options;
    signal?.throwIfAborted();
    const compiled = compileQuery(options);
    const query = compiled instanceof Promise ? await compiled : compiled;
    if (!this.ready) await this.#untilReady(signal);
    if (atLeast !== undefined) await this.#untilRevision(atLeast, signal);
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
    if (!this.ready) await this.#untilReady(signal);
    return new CachedTeardownSignal(this, pointer, signal);
  }

  contentOf(id: string): Content {
    return this.peek(id)?.metadata ?? "nothing";
  }

  async stored(id: string): Promise<Content> {
    const pointer = { ...this.kind, id };
    const { signal } = this.#closing;
    return (await this.#origin.get(pointer, { signal }))?.metadata ?? "nothing";
  }

  /** Nothing feeds the cache any more. Every wait for it ends, and so does every read from now on. Idempotent. */
  close(cause: unknown): void {
    if (this.#closing.signal.aborted) return;
    const { namespace, type } = this.kind;
    const why = isErrorValue(cause) ? `: ${messageOf(cause)}` : "";
    const text = `the cache of ${type} in ${JSON.stringify(namespace)} is closed${why}`;
    const error = new StateError("unavailable", text, { cause });
    this.#closing.abort(error);
    this.#waits.fail(error);
    const observers = [...this.#observers.values()].flatMap((some) => [...some]);
    for (const observer of observers) observer.closed(error);
  }

  observe(id: string, observer: CacheObserver): void {
    if (this.#closing.signal.aborted) {
      observer.closed(this.#closing.signal.reason);
      return;
    }
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
    if (this.#observers.size > 0) for (const observer of this.#observers.get(id) ?? []) observer.changed(now);
    this.#waits.check();
  }

  #list(): ResourceList {
    if (this.#snapshot !== undefined) return this.#snapshot;
    const resources: Resource[] = [];
    for (const { resource } of this.#sorted.read(this.#entries.values())) {
      if (resource !== undefined) resources.push(resource);
    }
    return (this.#snapshot = sealResourceList(resources, this.#revision));
  }

  #untilReady(signal: AbortSignal | undefined): Promise<void> {
    return this.#waits.until(() => this.#ready, signal);
  }

  /** Ends as well with what the State holds: the resource may have gone, or been created anew. */
  async #untilVersion(id: string, atLeast: string, signal: AbortSignal | undefined): Promise<void> {
    const isKnown = (now: Content): boolean => now !== "nothing" && compareVersions(now.version, atLeast) >= 0;
    if (isKnown(this.contentOf(id))) return;
    const sighting = new CacheSighting(this, id, isKnown);
    try {
      sighting.ask();
      await (signal === undefined ? sighting.settled : abortable(sighting.settled, signal));
    } finally {
      sighting.end();
    }
  }

  async #untilRevision(atLeast: number, signal: AbortSignal | undefined): Promise<void> {
    const { type } = this.kind;
    if (this.#revision === undefined) {
      throw new StateError("unsupported", `the State does not count the changes of ${type}: atLeast cannot be kept`);
    }
    const holds = (): boolean => (this.#revision ?? 0) >= atLeast;
    if (holds()) return;
    const unreachable = new AbortController();
    const fail = (error: unknown): void => unreachable.abort(error);
    this.#origin.revision(this.kind, { signal: this.#closing.signal }).then((revision) => {
      if (revision !== undefined && revision >= atLeast) return;
      const text = `atLeast ${atLeast} is not of this State, which has counted ${revision} changes of ${type}`;
      fail(new StateError("invalid", text));
    }, fail);
    const either = signal === undefined ? unreachable.signal : AbortSignal.any([signal, unreachable.signal]);
    await this.#waits.until(holds, either);
  }
}

export function notFound(pointer: Pointer): StateError {
  return new StateError("not_found", `${formatPointer(pointer)} does not exist`, { pointer });
}
