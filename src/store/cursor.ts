import { createTombstone, StateError } from "../resource/index.ts";
import { EventType, type CompiledQuery, type Event, type OverrunPolicy } from "../state/index.ts";
import type { Collection } from "./collection.ts";
import { PendingContents } from "./pending-contents.ts";
import { strideOf } from "./work-slices.ts";
import { historyEvent, rewriteEvent } from "./history-event.ts";

/** Events to deliver before those of the history: one batch, made when it is taken, or as many as contents take. */
export type InitialBatch = (() => readonly Event[]) | PendingContents;

export interface CursorInit {
  /** Position of the first event to deliver. */
  readonly position: number;
  /** Batches to deliver before it, each built when it is taken. */
  readonly initial: InitialBatch[];
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
  #query: CompiledQuery | undefined;
  readonly #overrun: OverrunPolicy;
  #initial: InitialBatch[];
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

  /** True when there are contents, or events in the history, that were not looked at yet. */
  get behind(): boolean {
    return this.#initial.length > 0 || this.#position < this.#collection.history.written;
  }

  /** Lets go of what only a watch that goes on needs. */
  release(): void {
    this.#initial = [];
    this.#query = undefined;
    this.#failed = true;
  }

  /** What is left of the initial batches; undefined also when nothing of it matched within the slice. */
  takeInitial(inSlices: boolean): readonly Event[] | undefined {
    const [first] = this.#initial;
    if (!(first instanceof PendingContents)) return this.#initial.shift() && first?.();
    const batch = first.take(inSlices ? this.#collection.slices.watches : undefined);
    if (first.isDone) this.#initial.shift();
    return batch.length === 0 ? undefined : batch;
  }

  /**
   * Everything that is pending, as one batch that is not empty; undefined when there is nothing.
   *
   * @param inSlices - Stops when the present slice of work is spent. The cursor is then still {@link behind}.
   */
  take(inSlices: boolean): readonly Event[] | undefined {
    if (this.#initial.length > 0) return this.takeInitial(inSlices);
    const { history } = this.#collection;
    while (!this.#failed && this.#position < history.written) {
      if (this.#position < history.oldestReadable) return this.#fellBehind(inSlices);
      const events = history.since(this.#position);
      const batch = this.#query === undefined ? this.#mine(events) : this.#matching(events, this.#query, inSlices);
      if (batch.length > 0) return batch;
      if (inSlices && this.behind) return undefined;
    }
    return undefined;
  }

  #mine(events: readonly Event[]): readonly Event[] {
    const { id } = this;
    this.#position += events.length;
    return id === undefined ? events : events.filter(({ resource }) => resource?.metadata.id === id);
  }

  #matching(events: readonly Event[], query: CompiledQuery, inSlices: boolean): readonly Event[] {
    const { watches } = this.#collection.slices;
    const stride = strideOf(query);
    const seen: Event[] = [];
    let count = 0;
    for (const event of events) {
      if (inSlices && count % stride === 0 && watches.isSpent) break;
      count++;
      const shown = this.#asSeen(event, query);
      if (shown !== undefined) seen.push(shown);
    }
    this.#position += count;
    return seen;
  }

  /** The event as a watcher of `query` sees it: a resource that comes to match is created, one that ceases to, destroyed. */
  #asSeen(event: Event, query: CompiledQuery): Event | undefined {
    const matches = event.resource !== undefined && query.matches(event.resource);
    if (event.type !== EventType.updated) return matches ? event : undefined;
    const matched = query.matches(event.old);
    if (matches === matched) return matches ? event : undefined;
    return rewriteEvent(event, matches ? EventType.created : EventType.destroyed, this.#collection.bookmarks);
  }

  #fellBehind(inSlices: boolean): readonly Event[] {
    return this.#overrun === "error" ? [this.#overrunError()] : this.#resync(inSlices);
  }

  #overrunError(): Event {
    this.#failed = true;
    const { kind, history } = this.#collection;
    const text =
      `buffer overrun: namespace ${JSON.stringify(kind.namespace)} type ${JSON.stringify(kind.type)}: ` +
      `at position ${history.written}, watch at ${this.#position}, capacity ${history.capacity}`;
    return Object.freeze({ type: EventType.errored, error: new StateError("watch_overrun", text) });
  }

  #resync(inSlices: boolean): readonly Event[] {
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
    this.#initial.push(new PendingContents(collection, this.#query, this.#position));
    return [start, ...(this.takeInitial(inSlices) ?? [])];
  }
}

/** The present state of one resource as an event, at the position of the last change of its kind. */
export function presentEvent(collection: Collection, id: string): Event {
  const resource = collection.find(id);
  const type = resource === undefined ? EventType.destroyed : EventType.created;
  const content = resource ?? createTombstone({ ...collection.kind, id });
  return historyEvent(type, content, undefined, collection.history.written - 1, collection.bookmarks);
}
