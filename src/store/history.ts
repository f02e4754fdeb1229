import { resourceBytes, type Resource } from "../resource/index.ts";
import { EventType, type Event } from "../state/index.ts";
import type { Bookmarks } from "./bookmark.ts";
import { historyEvent } from "./history-event.ts";
import type { ResolvedHistoryOptions } from "./history-options.ts";

/** The events that a history holds. */
type Change = typeof EventType.created | typeof EventType.updated | typeof EventType.destroyed;

/** Stands in the place of what was there before: the event is the end of its resource. */
const DESTROYED = "destroyed";

/** Memory of an event besides its resource. Unit: bytes, approximate. The old content was counted by the event before. */
const EVENT_BYTES = 64;

/**
 * The latest events of one collection: a ring, bounded in events and in bytes. Positions count from 0 and never start
 * again; watchers are cursors into it, so nothing is buffered for each of them.
 */
export class History {
  readonly #limits: ResolvedHistoryOptions;
  readonly #bookmarks: Bookmarks;
  // The ring, an event a place: its resource, what was there before, and the memory that it keeps alive.
  readonly #resources: (Resource | undefined)[] = [];
  readonly #before: (Resource | typeof DESTROYED | undefined)[] = [];
  readonly #sizes: number[] = [];
  #capacity: number;
  /** Position of the first event of this process. */
  #start = 0;
  /** Number of events ever published, which is the next position. */
  #written = 0;
  /** Position of the oldest event that the byte limit has left. */
  #oldest = 0;
  #bytes = 0;
  /** The events that were last asked for, since many watchers ask for the same. */
  #shared: { readonly from: number; readonly events: readonly Event[] } | undefined;

  constructor(limits: ResolvedHistoryOptions, bookmarks: Bookmarks) {
    this.#limits = limits;
    this.#bookmarks = bookmarks;
    this.#capacity = limits.initialCapacity;
  }

  /** Goes on behind that many events, of which it knows nothing. Before the first {@link publish}. */
  startAt(written: number): void {
    this.#start = written;
    this.#written = written;
    this.#oldest = written;
  }

  get written(): number {
    return this.#written;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Position of the oldest event that a running watcher can still read. */
  get oldestReadable(): number {
    return Math.max(0, this.#written - this.#capacity, this.#oldest);
  }

  /** Position of the oldest event that a new watcher may start at. */
  get oldestStart(): number {
    return Math.max(0, Math.min(this.#written, Math.max(this.#oldestBookmark, this.#oldest)));
  }

  /** The lowest position that a bookmark may name: any, as long as the history grows instead of losing events. */
  get #oldestBookmark(): number {
    const { maxCapacity, gap } = this.#limits;
    return this.#capacity < maxCapacity ? -1 : this.#written - this.#capacity + gap;
  }

  /**
   * Adds an event.
   *
   * @param old - The content before; undefined for a creation.
   */
  publish(type: Change, resource: Resource, old: Resource | undefined): void {
    const { maxCapacity } = this.#limits;
    if (this.#written - this.#start === this.#capacity && this.#capacity < maxCapacity) {
      this.#capacity = Math.min(2 * this.#capacity, maxCapacity);
    }
    const slot = this.#slotOf(this.#written);
    const bytes = EVENT_BYTES + resourceBytes(resource);
    this.#bytes += bytes - (this.#sizes[slot] ?? 0);
    this.#resources[slot] = resource;
    this.#before[slot] = type === EventType.destroyed ? DESTROYED : old;
    this.#sizes[slot] = bytes;
    // What it holds up to now is nothing that anyone asks for again, and may be overwritten.
    this.#shared = undefined;
    this.#written++;
    if (this.#oldest < this.#written - this.#capacity) this.#oldest = this.#written - this.#capacity;
    if (this.#bytes > this.#limits.maxBytes) this.#shed();
  }

  /** Events from position `from` up to now: one frozen array for all who ask for the same. */
  since(from: number): readonly Event[] {
    if (this.#shared?.from === from) return this.#shared.events;
    const events: Event[] = [];
    for (let position = from; position < this.#written; position++) {
      const event = this.#eventAt(position);
      if (event !== undefined) events.push(event);
    }
    this.#shared = { from, events: Object.freeze(events) };
    return events;
  }

  /** Position to start at so that the `count` latest events, of one resource or of all, are replayed, as far as kept. */
  tail(count: number, id: string | undefined): number {
    let start = this.#written;
    let seen = 0;
    for (let position = this.#written - 1; position >= this.oldestStart && seen < count; position--) {
      const resource = this.#resources[this.#slotOf(position)];
      if (resource === undefined || (id !== undefined && resource.metadata.id !== id)) continue;
      start = position;
      seen++;
    }
    return start;
  }

  /**
   * Position after the one that `bookmark` names, which may be −1, "before everything".
   *
   * @throws {StateError} `invalid_bookmark` when it is malformed, foreign, expired or of the future.
   */
  after(bookmark: Uint8Array): number {
    const position = this.#bookmarks.decode(bookmark);
    if (position < -1 || position >= this.#written) throw this.#bookmarks.invalid("names no event of this history");
    if (position < this.#oldestBookmark || position + 1 < this.#oldest) {
      throw this.#bookmarks.invalid("has expired: the history does not reach back that far");
    }
    return position + 1;
  }

  #slotOf(position: number): number {
    return (position - this.#start) % this.#capacity;
  }

  /** Made for those who read: most events of most kinds are read by none. */
  #eventAt(position: number): Event | undefined {
    const slot = this.#slotOf(position);
    const resource = this.#resources[slot];
    if (resource === undefined) return undefined;
    const before = this.#before[slot];
    if (before === DESTROYED) {
      return historyEvent(EventType.destroyed, resource, undefined, position, this.#bookmarks);
    }
    const type = before === undefined ? EventType.created : EventType.updated;
    return historyEvent(type, resource, before, position, this.#bookmarks);
  }

  /** Lets the oldest events go until the byte limit holds; the newest one always stays. */
  #shed(): void {
    while (this.#bytes > this.#limits.maxBytes && this.#oldest < this.#written - 1) {
      const slot = this.#slotOf(this.#oldest);
      this.#bytes -= this.#sizes[slot] ?? 0;
      this.#resources[slot] = undefined;
      this.#before[slot] = undefined;
      this.#sizes[slot] = 0;
      this.#oldest++;
    }
  }
}
