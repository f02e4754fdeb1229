import { createTombstone, StateError, type Resource } from "../resource/index.ts";
import { EventType, type CompiledQuery, type Event, type OverrunPolicy } from "../state/index.ts";
import type { Collection } from "./collection.ts";
import { historyEvent, initialEvent, rewriteEvent } from "./history-event.ts";

export interface CursorInit {
  /** Position of the first event to deliver. */
  readonly position: number;
  /** Batches to deliver before it, each built when it is taken. */
  readonly initial: (() => readonly Event[])[];
  readonly query: CompiledQuery | undefined;
  /** Only this resource. */
  readonly id: string | undefined;
  readonly overrun: OverrunPolicy;
}

/**
 * A watcher's place in the history of a collection. What it has not taken yet stands there and nowhere else.
 */
export class Cursor {
  readonly #collection: Collection;
  readonly #query: CompiledQuery | undefined;
  readonly #overrun: OverrunPolicy;
  readonly #initial: (() => readonly Event[])[];
  readonly id: string | undefined;
  #position: number;
  /** True after the terminal event. */
  #failed = false;

  constructor(collection: Collection, { position, initial, query, id, overrun }: CursorInit) {
    this.#collection = collection;
    this.#position = position;
    this.#initial = initial;
    this.#query = query;
    this.#overrun = overrun;
    this.id = id;
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Skips events that are known not to concern the cursor's resource. Never goes back: it may be past them already. */
  skipTo(position: number): void {
    if (position > this.#position) this.#position = position;
  }

  /** True when the history holds events that were not looked at yet. */
  get behind(): boolean {
    return !this.#failed && this.#position < this.#collection.history.written;
  }

  /** What is left of the initial batches. */
  takeInitial(): readonly Event[] | undefined {
    return this.#initial.shift()?.();
  }

  /** Everything that is pending, as one batch that is not empty; undefined when there is nothing. */
  take(): readonly Event[] | undefined {
    const initial = this.takeInitial();
    if (initial !== undefined) return initial;
    const { history } = this.#collection;
    while (!this.#failed && this.#position < history.written) {
      if (this.#position < history.oldestReadable) return this.#fellBehind();
      const events = history.since(this.#position);
      this.#position = history.written;
      const batch = this.#filter(events);
      if (batch.length > 0) return batch;
    }
    return undefined;
  }

  #filter(events: readonly Event[]): readonly Event[] {
    const { id } = this;
    const mine = id === undefined ? events : events.filter(({ resource }) => resource?.metadata.id === id);
    const query = this.#query;
    if (query === undefined) return mine;
    return mine.map((event) => this.#asSeen(event, query)).filter((event) => event !== undefined);
  }

  /** The event as a watcher of `query` sees it: a resource that comes to match is created, one that ceases to, destroyed. */
  #asSeen(event: Event, query: CompiledQuery): Event | undefined {
    const matches = event.resource !== undefined && query.matches(event.resource);
    if (event.type !== EventType.updated) return matches ? event : undefined;
    const matched = query.matches(event.old);
    if (matches === matched) return matches ? event : undefined;
    return rewriteEvent(event, matches ? EventType.created : EventType.destroyed, this.#collection.bookmarks);
  }

  #fellBehind(): readonly Event[] {
    return this.#overrun === "error" ? [this.#overrunError()] : this.#resync();
  }

  #overrunError(): Event {
    this.#failed = true;
    const { kind, history } = this.#collection;
    const text =
      `buffer overrun: namespace ${JSON.stringify(kind.namespace)} type ${JSON.stringify(kind.type)}: ` +
      `at position ${history.written}, watch at ${this.#position}, capacity ${history.capacity}`;
    return Object.freeze({ type: EventType.errored, error: new StateError("watch_overrun", text) });
  }

  #resync(): readonly Event[] {
    const collection = this.#collection;
    this.#position = collection.history.written;
    const start = historyEvent(
      EventType.resynced,
      collection.marker,
      undefined,
      this.#position - 1,
      collection.bookmarks,
    );
    if (this.id !== undefined) return [start, presentEvent(collection, this.id)];
    return [start, ...contents(collection, collection.list(this.#query), this.#position)];
  }
}

/** The present state of one resource as an event. */
export function presentEvent(collection: Collection, id: string): Event {
  const resource = collection.find(id);
  return resource === undefined
    ? initialEvent(createTombstone({ ...collection.kind, id }), false)
    : initialEvent(resource, true);
}

/** A list as `Created` events, then `Bootstrapped`, which carries the position before `position`. */
export function contents(collection: Collection, list: readonly Resource[], position: number): readonly Event[] {
  const events = list.map((resource) => initialEvent(resource, true));
  events.push(historyEvent(EventType.bootstrapped, collection.marker, undefined, position - 1, collection.bookmarks));
  return events;
}
