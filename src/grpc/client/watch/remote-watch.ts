import type { Event, Watch } from "../../../state/index.ts";
import type { WatchFeed } from "./watch-feed.ts";

const DONE: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });

/** The iterator half of a watch. It reads only when it is asked, so that a slow reader slows the server. */
abstract class RemoteWatch<T> implements Watch<T> {
  protected readonly feed: WatchFeed;
  #waiting: Promise<IteratorResult<T>> | undefined;

  constructor(feed: WatchFeed) {
    this.feed = feed;
  }

  /** What was read before and not handed out. */
  protected abstract takeEarlier(): T | undefined;
  /** Takes what was read, and hands out the first of it. */
  protected abstract takeFrom(batch: readonly Event[]): T | undefined;

  next(): Promise<IteratorResult<T>> {
    // A second call before the first has its answer waits its turn.
    if (this.#waiting !== undefined) return this.#waiting.then(() => this.next());
    const value = this.feed.ended ? undefined : this.takeEarlier();
    if (value !== undefined) return Promise.resolve({ value, done: false });
    const waiting = this.#read();
    this.#waiting = waiting;
    return waiting;
  }

  return(): Promise<IteratorResult<T>> {
    this.feed.end();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.feed.end();
    return Promise.resolve();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #read(): Promise<IteratorResult<T>> {
    try {
      const batch = await this.feed.read();
      if (batch === undefined || this.feed.ended) return DONE;
      const value = this.takeFrom(batch);
      return value === undefined ? DONE : { value, done: false };
    } finally {
      this.#waiting = undefined;
    }
  }
}

/** A watch that hands out what came in one message at once. */
export class BatchWatch extends RemoteWatch<readonly Event[]> {
  protected override takeEarlier(): undefined {
    return undefined;
  }

  protected override takeFrom(batch: readonly Event[]): readonly Event[] {
    return batch;
  }
}

/** A watch that hands out one event at a time. */
export class EventWatch extends RemoteWatch<Event> {
  #batch: readonly Event[] = [];
  #index = 0;

  protected override takeEarlier(): Event | undefined {
    return this.#batch[this.#index++];
  }

  protected override takeFrom(batch: readonly Event[]): Event | undefined {
    this.#batch = batch;
    this.#index = 0;
    return this.takeEarlier();
  }
}
