import type { Event, Watch } from "../state/index.ts";
import type { Cursor } from "./cursor.ts";
import type { WaitingWatcher, WatcherWakeups } from "./watcher-wakeups.ts";

const DONE: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });

/**
 * The iterator half of a watch: hands out what its cursor takes, and waits when there is nothing. It ends, without an
 * error, when it is left, disposed or aborted, when the State is closed, and after a terminal event.
 */
abstract class MemoryWatch<T> implements Watch<T>, WaitingWatcher {
  readonly #wakeups: WatcherWakeups;
  readonly #cursor: Cursor;
  readonly #signal: AbortSignal | undefined;
  #listener: (() => void) | undefined;
  #onEnd: (() => void) | undefined;
  /** Resolves the `next()` that waits. */
  #deliver: ((result: IteratorResult<T>) => void) | undefined;
  #waiting: Promise<IteratorResult<T>> | undefined;
  /** The resource whose changes alone end the present wait. */
  #waitsFor: string | undefined;
  #ended = false;

  constructor(cursor: Cursor, wakeups: WatcherWakeups, signal: AbortSignal | undefined) {
    this.#cursor = cursor;
    this.#wakeups = wakeups;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#end, { once: true });
    wakeups.opened(this);
  }

  /** What is pending, or undefined. */
  protected abstract take(inSlices: boolean): T | undefined;

  /** What was pending when the watch began, or was taken from the history before. */
  protected abstract takeEarlier(inSlices: boolean): T | undefined;

  takePending(): T | undefined {
    return this.#ended ? undefined : this.take(false);
  }

  onPending(listener: () => void, onEnd?: () => void): void {
    if (this.#listener !== undefined) throw new Error("a watch takes one listener");
    if (this.#ended) {
      onEnd?.();
      return;
    }
    this.#listener = listener;
    this.#onEnd = onEnd;
    this.#wakeups.listen(listener);
  }

  next(): Promise<IteratorResult<T>> {
    // a second call before the first has its answer waits its turn
    if (this.#waiting !== undefined) return this.#waiting.then(() => this.next());
    const value = this.#takeUnlessGathering();
    if (value !== undefined) return Promise.resolve({ value, done: false });
    if (this.#ended || this.#cursor.failed) {
      this.#end();
      return Promise.resolve(DONE);
    }
    const waiting = new Promise<IteratorResult<T>>((resolve) => {
      this.#deliver = resolve;
    });
    this.#waiting = waiting;
    this.#wait();
    return waiting;
  }

  wake(position?: number): void {
    if (this.#deliver === undefined) return;
    if (position !== undefined) this.#cursor.skipTo(position);
    const value = this.take(true);
    if (value === undefined) this.#wait();
    else this.#settle({ value, done: false });
  }

  #takeUnlessGathering(): T | undefined {
    if (this.#ended) return undefined;
    const earlier = this.takeEarlier(true);
    if (earlier !== undefined || this.#wakeups.gathering) return earlier;
    const value = this.take(true);
    if (value !== undefined) this.#wakeups.served();
    return value;
  }

  /** A watcher that is behind waits for the end of the turn; one that is not waits for its resource alone. */
  #wait(): void {
    if (this.#cursor.behind) {
      this.#waitsFor = undefined;
      this.#wakeups.wakeAtEndOfTurn();
    } else {
      this.#waitsFor = this.#cursor.id;
    }
    this.#wakeups.wait(this, this.#waitsFor);
  }

  /** Ends the watch from the side of the State. */
  close(): void {
    this.#end();
  }

  return(): Promise<IteratorResult<T>> {
    this.#end();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    return Promise.resolve();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #end = (): void => {
    if (this.#ended) return;
    this.#ended = true;
    this.#signal?.removeEventListener("abort", this.#end);
    this.#wakeups.closed(this);
    this.#cursor.release();
    if (this.#listener !== undefined) this.#wakeups.unlisten(this.#listener);
    if (this.#deliver !== undefined) {
      this.#wakeups.forget(this, this.#waitsFor);
      this.#settle(DONE);
    }
    this.#onEnd?.();
  };

  #settle(result: IteratorResult<T>): void {
    const deliver = this.#deliver;
    this.#deliver = undefined;
    this.#waiting = undefined;
    deliver?.(result);
  }
}

/** A watch that delivers whatever is pending at once. */
export class BatchWatch extends MemoryWatch<readonly Event[]> {
  readonly #batches: Cursor;

  constructor(cursor: Cursor, wakeups: WatcherWakeups, signal: AbortSignal | undefined) {
    super(cursor, wakeups, signal);
    this.#batches = cursor;
  }

  protected override take(inSlices: boolean): readonly Event[] | undefined {
    return this.#batches.take(inSlices);
  }

  protected override takeEarlier(inSlices: boolean): readonly Event[] | undefined {
    return this.#batches.takeInitial(inSlices);
  }
}

/** A watch that delivers one event at a time. What it has taken from the history can no longer be lost. */
export class EventWatch extends MemoryWatch<Event> {
  readonly #batches: Cursor;
  #batch: readonly Event[] = [];
  #index = 0;

  constructor(cursor: Cursor, wakeups: WatcherWakeups, signal: AbortSignal | undefined) {
    super(cursor, wakeups, signal);
    this.#batches = cursor;
  }

  protected override take(inSlices: boolean): Event | undefined {
    return this.#takeFrom(this.#batch.length > this.#index ? undefined : this.#batches.take(inSlices));
  }

  protected override takeEarlier(inSlices: boolean): Event | undefined {
    return this.#takeFrom(this.#batch.length > this.#index ? undefined : this.#batches.takeInitial(inSlices));
  }

  /** The next event of the batch at hand, or of the one that follows it. */
  #takeFrom(next: readonly Event[] | undefined): Event | undefined {
    if (next !== undefined) {
      this.#batch = next;
      this.#index = 0;
    }
    return this.#batch[this.#index++];
  }
}
