import type { Clock } from "../clock/index.ts";
import { SortedEntries, type Entry } from "../internal/sorted-entries.ts";
import {
  firstRevision,
  assertSameLife,
  createTombstone,
  formatReference,
  NO_FINALIZERS,
  replaceMetadata,
  StateError,
  nextRevision,
  withOwner,
  type Kind,
  type Pointer,
  type Resource,
  type Tombstone,
} from "../resource/index.ts";
import {
  EventType,
  sealResourceList,
  type CompiledQuery,
  type ExpectedPhase,
  type ResourceList,
} from "../state/index.ts";
import type { StoredKind } from "./backend.ts";
import { Bookmarks, type Epoch } from "./bookmark.ts";
import { CreationTimes } from "./creation-times.ts";
import { History } from "./history.ts";
import type { ResolvedHistoryOptions } from "./history-options.ts";
import type { TimestampSource } from "./timestamp-source.ts";
import type { StoreSlices } from "./work-slices.ts";
import { WatcherWakeups } from "./watcher-wakeups.ts";

/** What a collection needs of the State that it belongs to. */
export interface CollectionOptions {
  readonly history: ResolvedHistoryOptions;
  readonly clock: Clock;
  /** Shared by all kinds of a State. */
  readonly timestamps: TimestampSource;
  /** Shared by all collections of a State. */
  readonly slices: StoreSlices;
  /** Names the life of the State in bookmarks. */
  readonly epoch: Epoch;
}

/**
 * All resources of one type in one namespace, with their history and watchers.
 *
 * A write has two halves, both synchronous: `prepare…` checks and gives the value to store, `commit…` makes it visible
 * and publishes it. Whatever must happen in between (a backing store) is the caller's, who keeps writes apart.
 */
export class Collection {
  readonly kind: Kind;
  readonly bookmarks: Bookmarks;
  readonly history: History;
  readonly wakeups: WatcherWakeups;
  readonly slices: StoreSlices;
  readonly times: CreationTimes;
  /** Stands in the events that concern the kind as a whole. */
  readonly marker: Tombstone;
  readonly #entries = new Map<string, Entry<Resource>>();
  readonly #sorted = new SortedEntries<Resource>();
  #list: ResourceList | undefined;
  #lastLocated: Entry<Resource> | undefined;
  /** What a group of writes will have made of the contents, by id; undefined for what it destroys. */
  #staged: Map<string, Resource | undefined> | undefined;
  readonly #timestamps: TimestampSource;

  constructor(kind: Kind, options: CollectionOptions) {
    this.kind = kind;
    this.bookmarks = new Bookmarks(kind, options.epoch);
    this.slices = options.slices;
    this.history = new History(options.history, this.bookmarks);
    this.wakeups = new WatcherWakeups(this.history, options.clock);
    this.#timestamps = options.timestamps;
    this.times = new CreationTimes(options.clock);
    this.marker = createTombstone({ ...kind, id: "" });
  }

  /** False when a new collection of the same kind and State would do as well. */
  get isUsed(): boolean {
    return this.history.written > 0 || this.isWatched;
  }

  get isWatched(): boolean {
    return this.wakeups.openCount > 0;
  }

  /** What matches, as it is now; a promise when that is much work. @throws the signal's reason */
  query(query: CompiledQuery, signal: AbortSignal | undefined): ResourceList | Promise<ResourceList> {
    const { written } = this.history;
    const found = this.slices.lists.filter(this.list(), query, signal);
    return found instanceof Promise
      ? found.then((list) => sealResourceList(list, written))
      : sealResourceList(found, written);
  }

  find(id: string): Resource | undefined {
    return this.#entries.get(id)?.resource;
  }

  /** @throws {StateError} `not_found` */
  get(pointer: Pointer): Resource {
    const entry = this.#entries.get(pointer.id);
    if (entry?.resource === undefined) throw notFound(pointer);
    return entry.resource;
  }

  /** Everything, sorted by id: the same frozen array until the next change. */
  list(): ResourceList {
    return (this.#list ??= sealResourceList(this.#all(), this.history.written));
  }

  prepareCreate(resource: Resource, owner: string): Resource {
    const { metadata } =
      resource.metadata.owner === owner ? resource : { metadata: withOwner(resource.metadata, owner) };
    const existing = this.#staged === undefined ? this.find(metadata.id) : this.#upcoming(metadata.id);
    if (existing !== undefined) {
      const text = `${formatReference(existing.metadata)} exists already`;
      throw new StateError("already_exists", text, { pointer: existing.metadata });
    }
    return replaceMetadata(resource, firstRevision(metadata, owner, this.times.next()));
  }

  /** From now on checks see this in place of what is there, until {@link unstage}; reads do not. */
  stage(id: string, resource: Resource | undefined): void {
    (this.#staged ??= new Map()).set(id, resource);
  }

  unstage(): void {
    this.#staged = undefined;
  }

  /** Takes over what an earlier process has stored, and goes on counting where it ended. Before anything else. */
  restore({ resources, events, revision, created }: StoredKind): void {
    this.times.continueAfter(created);
    for (const resource of resources) {
      const entry: Entry<Resource> = { resource };
      this.#entries.set(resource.metadata.id, entry);
      this.#sorted.add(entry);
    }
    this.history.startAt(revision - events.length);
    for (const { type, resource, old } of events) this.history.publish(type, resource, old);
    this.#list = undefined;
  }

  /** Makes a resource of an earlier process visible. */
  load(stored: Resource): void {
    this.times.continueAfter(stored.metadata.created);
    this.commitCreate(stored);
  }

  commitCreate(stored: Resource): void {
    const entry: Entry<Resource> = { resource: stored };
    this.#entries.set(stored.metadata.id, entry);
    this.#sorted.add(entry);
    this.#publish(EventType.created, stored, undefined);
  }

  /** @throws {StateError} `not_found`, `version_conflict`, `owner_conflict`, `phase_conflict` */
  prepareUpdate(resource: Resource, owner: string, expectedPhase: ExpectedPhase): Resource {
    const offered = resource.metadata;
    const stored = this.#locate(offered).metadata;
    if (offered.created !== stored.created) assertSameLife(offered, stored);
    if (stored.owner !== owner) throw ownerConflict(stored, owner);
    if (stored.version !== offered.version) {
      throw new StateError(
        "version_conflict",
        `${formatReference(stored)} is not at version ${offered.version}, which the update was made from`,
        {
          pointer: stored,
        },
      );
    }
    if (expectedPhase !== "any" && stored.phase !== expectedPhase) {
      throw new StateError(
        "phase_conflict",
        `${formatReference(stored)} is ${stored.phase}, not ${expectedPhase} as the update expects`,
        {
          pointer: stored,
        },
      );
    }
    return replaceMetadata(resource, nextRevision(offered, stored.created, this.#now()));
  }

  commitUpdate(updated: Resource): void {
    const entry = this.#located(updated.metadata.id);
    const old = entry?.resource;
    if (entry === undefined || old === undefined)
      throw new Error(`${formatReference(updated.metadata)} vanished within its own update`);
    entry.resource = updated;
    this.#publish(EventType.updated, updated, old);
  }

  /**
   * @returns the resource as it is last seen.
   * @throws {StateError} `not_found`; `version_conflict` for another life than `pointer` names; `owner_conflict`,
   *   `pending_finalizers`
   */
  prepareDestroy(pointer: Pointer, owner: string): Resource {
    const resource = this.#locate(pointer);
    const { metadata } = resource;
    assertSameLife(pointer, metadata);
    if (metadata.owner !== owner) throw ownerConflict(metadata, owner);
    if (metadata.finalizers !== NO_FINALIZERS && metadata.finalizers.length > 0) {
      throw new StateError(
        "pending_finalizers",
        `${formatReference(metadata)} has finalizers left: ${metadata.finalizers.join(", ")}`,
        {
          pointer: metadata,
        },
      );
    }
    return resource;
  }

  commitDestroy(resource: Resource): void {
    const entry = this.#located(resource.metadata.id);
    if (entry === undefined) throw new Error(`${formatReference(resource.metadata)} vanished within its own destroy`);
    entry.resource = undefined;
    this.#entries.delete(resource.metadata.id);
    this.#sorted.remove();
    this.#publish(EventType.destroyed, resource, undefined);
  }

  /** {@link get}, remembered for the commit of the same write, which need not search again. */
  #locate(pointer: Pointer): Resource {
    if (this.#staged !== undefined) return this.#locateUpcoming(pointer);
    const entry = this.#entries.get(pointer.id);
    if (entry?.resource === undefined) throw notFound(pointer);
    this.#lastLocated = entry;
    return entry.resource;
  }

  #locateUpcoming(pointer: Pointer): Resource {
    const resource = this.#upcoming(pointer.id);
    if (resource === undefined) throw notFound(pointer);
    return resource;
  }

  #upcoming(id: string): Resource | undefined {
    return this.#staged?.has(id) === true ? this.#staged.get(id) : this.find(id);
  }

  /** The place of the resource: another write may have come in between. */
  #located(id: string): Entry<Resource> | undefined {
    const entry = this.#lastLocated;
    this.#lastLocated = undefined;
    return entry?.resource?.metadata.id === id ? entry : this.#entries.get(id);
  }

  #all(): Resource[] {
    const resources: Resource[] = [];
    for (const { resource } of this.#sorted.read(this.#entries.values()))
      if (resource !== undefined) resources.push(resource);
    return resources;
  }

  /** The time of an update: not before a creation. */
  #now(): string {
    const text = this.#timestamps.now();
    return this.times.isBefore(this.#timestamps.ms) ? text : this.times.last;
  }

  #publish(type: "Created" | "Updated" | "Destroyed", resource: Resource, old: Resource | undefined): void {
    this.#list = undefined;
    this.history.publish(type, resource, old);
    this.wakeups.published(resource.metadata.id);
  }
}

function notFound(pointer: Pointer): StateError {
  return new StateError("not_found", `${formatReference(withoutVersion(pointer))} does not exist`, { pointer });
}

/** A pointer may be full metadata, whose version says nothing about what is missing. */
function withoutVersion({ namespace, type, id }: Pointer): Pointer {
  return { namespace, type, id };
}

function ownerConflict(stored: Resource["metadata"], owner: string): StateError {
  const owned = stored.owner === "" ? "has no owner" : `is owned by ${JSON.stringify(stored.owner)}`;
  const claimed = owner === "" ? "the write names no owner" : `the write is in the name of ${JSON.stringify(owner)}`;
  return new StateError("owner_conflict", `${formatReference(stored)} ${owned}, and ${claimed}`, { pointer: stored });
}
