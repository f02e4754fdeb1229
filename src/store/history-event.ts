import type { Resource, Tombstone } from "../resource/index.ts";
import { EventType, type Event } from "../state/index.ts";
import type { Bookmarks } from "./bookmark.ts";

/**
 * Every event of an in-memory State is one of these, so that all have one hidden class. It is frozen and shared by all
 * watchers; the bookmark is encoded only for those who read it.
 */
class HistoryEvent {
  readonly type: EventType;
  readonly resource: Resource | Tombstone;
  readonly old: Resource | undefined;
  readonly #position: number | undefined;
  readonly #bookmarks: Bookmarks | undefined;

  constructor(
    type: EventType,
    resource: Resource | Tombstone,
    old: Resource | undefined,
    position: number | undefined,
    bookmarks: Bookmarks | undefined,
  ) {
    this.type = type;
    this.resource = resource;
    this.old = old;
    this.#position = position;
    this.#bookmarks = bookmarks;
    Object.freeze(this);
  }

  get bookmark(): Uint8Array | undefined {
    return this.#position === undefined ? undefined : this.#bookmarks?.encode(this.#position);
  }

  get revision(): number | undefined {
    return this.#position === undefined ? undefined : this.#position + 1;
  }
}

/** An event at a position of the history. */
export function historyEvent(
  type: EventType,
  resource: Resource | Tombstone,
  old: Resource | undefined,
  position: number,
  bookmarks: Bookmarks,
): Event {
  return new HistoryEvent(type, resource, old, position, bookmarks) as Event;
}

/** An event that describes a part of the contents at the start of a watch: without a position, which is that of the whole. */
export function initialEvent(resource: Resource): Event {
  return new HistoryEvent(EventType.created, resource, undefined, undefined, undefined) as Event;
}

/** The same change, as a watcher with a query sees it: it keeps its position. */
export function rewriteEvent(event: Event, type: EventType, bookmarks: Bookmarks): Event {
  return new HistoryEvent(type, event.resource as Resource, undefined, (event.revision ?? 0) - 1, bookmarks) as Event;
}
