import { abortable } from "../internal/abortable.ts";
import { StateError, type Kind, type Pointer, type Resource } from "../resource/index.ts";
import {
  compileQuery,
  type CallOptions,
  type CoreState,
  type CreateOptions,
  type DestroyOptions,
  type Event,
  type GetOptions,
  type ListOptions,
  type ResourceList,
  type StoreUsage,
  type UpdateOptions,
  type Watch,
  type WatchKindOptions,
  type WatchOptions,
} from "../state/index.ts";
import {
  Collection,
  type CollectionOptions,
  type Cursor,
  BatchWatch,
  EventWatch,
  createSlices,
  openKindCursor,
  openResourceCursor,
  TimestampSource,
  type Backend,
  type GroupCommit,
  type WatcherWakeups,
} from "../store/index.ts";
import { resolveMemoryOptions, type MemoryStateOptions, type ResolvedMemoryOptions } from "./memory-options.ts";
import { checkUnique, Persistence, type DurableWrite } from "./persistence.ts";

/** What the namespaces of a State share. A namespace that was let go and comes back goes on with them. */
export type SharedParts = Pick<CollectionOptions, "timestamps" | "slices" | "epoch"> & {
  /** Where all of them are stored, if they are. */
  readonly backend?: Backend | undefined;
  readonly group?: GroupCommit | undefined;
};

export const createSharedParts = ({ clock, epoch }: ResolvedMemoryOptions): SharedParts => ({
  timestamps: new TimestampSource(clock),
  slices: createSlices(clock),
  epoch,
});

/**
 * The in-memory State of one namespace: the core operations only, which `wrapState` completes. It looks at type and id
 * and never at the namespace of its arguments; `MemoryState` routes each namespace to one of these.
 */
export class MemoryNamespace implements CoreState {
  readonly #namespace: string;
  readonly #options: ResolvedMemoryOptions;
  readonly #collectionOptions: CollectionOptions;
  readonly #collections = new Map<string, Collection>();
  /** Types of collections with nothing in their history: an idle one goes when another comes. */
  readonly #unwritten = new Set<string>();
  readonly #persistence: Persistence | undefined;
  readonly #group: GroupCommit | undefined;
  #closed = false;

  /** @param shared - What all namespaces of a State share. Default: parts of its own. */
  constructor(namespace: string, options?: MemoryStateOptions, shared?: SharedParts) {
    this.#namespace = namespace;
    this.#options = resolveMemoryOptions(options);
    const { history, clock } = this.#options;
    const parts = shared ?? createSharedParts(this.#options);
    this.#collectionOptions = { history, clock, ...parts };
    const store = this.#options.backingStore(namespace);
    this.#persistence = store && new Persistence(store);
    this.#group = parts.group;
    for (const stored of parts.backend?.load(namespace, history.maxCapacity) ?? []) {
      this.#written(stored.type).restore(stored);
    }
  }

  /** Whether writes are stored before they are visible. */
  get #isDurable(): boolean {
    return this.#persistence !== undefined || this.#group !== undefined;
  }

  async get(pointer: Pointer, options?: GetOptions): Promise<Resource> {
    this.#check(options);
    if (this.#persistence !== undefined) await this.#load(this.#persistence, options);
    return this.#peek(pointer.type).get(pointer);
  }

  async getOrNull(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined> {
    this.#check(options);
    if (this.#persistence !== undefined) await this.#load(this.#persistence, options);
    return this.#collections.get(pointer.type)?.find(pointer.id);
  }

  async list(kind: Kind, options?: ListOptions): Promise<ResourceList> {
    this.#check(options);
    const query = options && (await compileQuery(options));
    if (this.#persistence !== undefined) await this.#load(this.#persistence, options);
    const collection = this.#peek(kind.type);
    return query === undefined ? collection.list() : collection.query(query, options?.signal);
  }

  async create(resource: Resource, options?: CreateOptions): Promise<Resource> {
    this.#check(options);
    const admitted = this.#options.types.admit(resource);
    const collection = this.#written(admitted.metadata.type);
    const owner = options?.owner ?? "";
    if (this.#isDurable) {
      return this.#durably(collection, options, {
        operation: "create",
        pointer: admitted.metadata,
        prepare: () => collection.prepareCreate(admitted, owner),
        persist: (store, stored) => store.put(stored),
        commit: (stored) => collection.commitCreate(stored),
      });
    }
    const stored = collection.prepareCreate(admitted, owner);
    collection.commitCreate(stored);
    return stored;
  }

  async update(resource: Resource, options?: UpdateOptions): Promise<Resource> {
    this.#check(options);
    const admitted = this.#options.types.admit(resource);
    const collection = this.#changed(admitted.metadata.type);
    const owner = options?.owner ?? "";
    const phase = options?.expectedPhase ?? "running";
    if (this.#isDurable) {
      return this.#durably(collection, options, {
        operation: "update",
        pointer: admitted.metadata,
        prepare: () => collection.prepareUpdate(admitted, owner, phase),
        persist: (store, stored) => store.put(stored),
        commit: (stored) => collection.commitUpdate(stored),
      });
    }
    const stored = collection.prepareUpdate(admitted, owner, phase);
    collection.commitUpdate(stored);
    return stored;
  }

  async destroy(pointer: Pointer, options?: DestroyOptions): Promise<void> {
    this.#check(options);
    const collection = this.#changed(pointer.type);
    const owner = options?.owner ?? "";
    if (this.#isDurable) {
      await this.#durably(collection, options, {
        operation: "destroy",
        pointer: pointer,
        prepare: () => collection.prepareDestroy(pointer, owner),
        persist: (store, stored) => store.destroy(stored.metadata),
        commit: (stored) => collection.commitDestroy(stored),
      });
      return;
    }
    collection.commitDestroy(collection.prepareDestroy(pointer, owner));
  }

  async watch(pointer: Pointer, options: WatchOptions = {}): Promise<Watch> {
    this.#check(options);
    if (this.#persistence !== undefined) await this.#load(this.#persistence, options);
    this.#check(options);
    const collection = this.#collection(pointer.type);
    const cursor = openResourceCursor(collection, pointer.id, options, this.#options.overrun);
    return new EventWatch(cursor, collection.wakeups, options.signal);
  }

  watchKind(kind: Kind, options: WatchKindOptions = {}): Promise<Watch> {
    return this.#openKind(kind, options, (cursor, wakeups) => new EventWatch(cursor, wakeups, options.signal));
  }

  watchKindBatches(kind: Kind, options: WatchKindOptions = {}): Promise<Watch<readonly Event[]>> {
    return this.#openKind(kind, options, (cursor, wakeups) => new BatchWatch(cursor, wakeups, options.signal));
  }

  /**
   * Ends all watches; later operations are refused. Writes that were called before are finished first.
   *
   * @throws {StateError} `unavailable` when the backing store has not finished them in `disposeGraceMs`.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const { wakeups } of this.#collections.values()) wakeups.closeAll();
    await this.#persistence?.close(this.#options.clock, this.#options.disposeGraceMs);
  }

  /** Calls `open` in the moment of the last check, so that no abort and no disposal comes in between. */
  async #openKind<W>(
    kind: Kind,
    options: WatchKindOptions,
    open: (cursor: Cursor, wakeups: WatcherWakeups) => W,
  ): Promise<W> {
    this.#check(options);
    const query = await compileQuery(options);
    if (this.#persistence !== undefined) await this.#load(this.#persistence, options);
    this.#check(options);
    const collection = this.#collection(kind.type);
    return open(openKindCursor(collection, options, query, this.#options.overrun), collection.wakeups);
  }

  /** What it holds: a router lets go of a namespace that holds nothing. */
  usage(): StoreUsage {
    let usage: StoreUsage = this.#persistence?.isWriting === true ? "watched" : "unused";
    for (const collection of this.#collections.values()) {
      if (collection.history.written > 0) return "held";
      if (collection.isWatched) usage = "watched";
    }
    return usage;
  }

  #check(options: CallOptions | undefined): void {
    options?.signal?.throwIfAborted();
    if (this.#closed)
      throw new StateError("unavailable", `the state of namespace ${JSON.stringify(this.#namespace)} is closed`);
  }

  #collection(type: string): Collection {
    const known = this.#collections.get(type);
    if (known !== undefined) return known;
    this.#letGo();
    const collection = this.#newCollection(type);
    this.#collections.set(type, collection);
    this.#unwritten.add(type);
    return collection;
  }

  /** The collection of a type, or an empty one that is not kept: reads of what does not exist leave nothing behind. */
  #peek(type: string): Collection {
    return this.#collections.get(type) ?? this.#newCollection(type);
  }

  /** The collection of a type that is written: it must not go while the write is under way. */
  #written(type: string): Collection {
    const collection = this.#collection(type);
    this.#unwritten.delete(type);
    return collection;
  }

  /** The collection of a type in which something is changed: when the store is loaded later, it may hold it then. */
  #changed(type: string): Collection {
    return this.#isDurable ? this.#written(type) : this.#peek(type);
  }

  #newCollection(type: string): Collection {
    return new Collection({ namespace: this.#namespace, type }, this.#collectionOptions);
  }

  /** Lets go of collections that were only watched: looks at two for each new one, so that they cannot gather. */
  #letGo(): void {
    for (const type of [...this.#unwritten].slice(0, 2)) {
      const collection = this.#collections.get(type);
      this.#unwritten.delete(type);
      if (collection?.isUsed === false) this.#collections.delete(type);
      else if (collection?.history.written === 0) this.#unwritten.add(type);
    }
  }

  #load(persistence: Persistence, options?: CallOptions): Promise<void> {
    const loaded = persistence.load((resources) => {
      // All or nothing: a load that is refused half-way is tried again, and must not find its own first half.
      const admitted = resources.map((resource) => this.#options.types.admit(resource));
      checkUnique(admitted);
      for (const resource of admitted) this.#collection(resource.metadata.type).load(resource);
    });
    return options?.signal === undefined ? loaded : abortable(loaded, options.signal);
  }

  /** A write that is aborted while it waits its turn does not happen; one that the store works on may still. */
  #durably(collection: Collection, options: CallOptions | undefined, write: DurableWrite): Promise<Resource> {
    const signal = options?.signal;
    if (this.#group !== undefined) {
      const written = this.#group.write({ ...write, collection }, signal);
      return signal === undefined ? written : abortable(written, signal);
    }
    const persistence = this.#persistence;
    if (persistence === undefined) throw new Error("nothing keeps what is written");
    const written = persistence.track(this.#write(persistence, collection, signal, write), write);
    return signal === undefined ? written : abortable(written, signal);
  }

  /** Check, persist, commit, publish: one critical section per collection, in which reads see what was before. */
  async #write(
    persistence: Persistence,
    collection: Collection,
    signal: AbortSignal | undefined,
    write: DurableWrite,
  ): Promise<Resource> {
    await this.#load(persistence);
    return persistence.exclusive(collection.kind.type, async () => {
      signal?.throwIfAborted();
      const stored = write.prepare();
      await write.persist(persistence.store, stored);
      write.commit(stored);
      return stored;
    });
  }
}
