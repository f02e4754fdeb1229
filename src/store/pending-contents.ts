import type { Resource } from "../resource/index.ts";
import { EventType, type CompiledQuery, type Event } from "../state/index.ts";
import type { Collection } from "./collection.ts";
import { historyEvent, initialEvent } from "./history-event.ts";
import { strideOf, type WorkSlices } from "./work-slices.ts";

/**
 * What a kind held at one moment, as `Created` events of what matches, then `Bootstrapped` with the position of that
 * moment. They are made as they are taken, in as many batches as it takes slices.
 */
export class PendingContents {
  readonly #collection: Collection;
  readonly #resources: readonly Resource[];
  readonly #query: CompiledQuery | undefined;
  readonly #position: number;
  #at = 0;
  #isDone = false;

  /** @param position - What comes from here on is not in the contents. */
  constructor(collection: Collection, query: CompiledQuery | undefined, position: number) {
    this.#collection = collection;
    this.#resources = collection.list();
    this.#query = query;
    this.#position = position;
  }

  /** True when everything has been taken. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /**
   * The next events; there may be none in a slice.
   *
   * @param slices - Ends the batch when the present slice is spent; without it, everything that is left is one batch.
   */
  take(slices: WorkSlices | undefined): Event[] {
    const events: Event[] = [];
    const stride = strideOf(this.#query);
    const { marker, bookmarks } = this.#collection;
    while (this.#at < this.#resources.length) {
      if (slices?.isSpent === true) return events;
      const end = Math.min(this.#resources.length, this.#at + stride);
      for (; this.#at < end; this.#at++) {
        const resource = this.#resources[this.#at];
        if (resource === undefined || this.#query?.matches(resource) === false) continue;
        events.push(initialEvent(resource));
      }
    }
    events.push(historyEvent(EventType.bootstrapped, marker, undefined, this.#position - 1, bookmarks));
    this.#isDone = true;
    return events;
  }
}
