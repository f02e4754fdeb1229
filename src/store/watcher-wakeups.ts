import type { Clock } from "../clock/index.ts";
import type { History } from "./history.ts";

/** A watcher that has taken everything and waits. */
export interface WaitingWatcher {
  /** @param position - For a watcher of one id: where its first change since it began to wait stands. */
  wake(position?: number): void;
  /** Ends the watch. */
  close(): void;
}

/**
 * Decides when waiting watchers of one collection are woken.
 *
 * The first event in a turn of the event loop wakes them in a microtask, so that a lone change arrives without delay.
 * Later events of the same turn are gathered until its end, or until half the history has gathered: a burst is one
 * batch for each watcher instead of one wake-up per event, watchers at the same place share it, and a watcher that
 * writes what it watches cannot starve timers and sockets. A wake-up may come without anything new for a watcher.
 */
export class WatcherWakeups {
  readonly #history: History;
  readonly #clock: Clock;
  readonly #open = new Set<WaitingWatcher>();
  #waiting: WaitingWatcher[] = [];
  /** Watchers in `#waiting` that have ended since; a wake-up does nothing to them. */
  #gone = 0;
  readonly #waitingForId = new Map<string, Set<WaitingWatcher>>();
  /** Ids with waiting watchers that have changed since the last wake-up, each with the position of its first change. */
  #changedIds = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  /** True from a wake-up until the end of the turn in which it came. */
  #turnHasWoken = false;
  #wakePlanned = false;
  /** True when somebody waits for events that have been published already. */
  #wakeAtEnd = false;
  /** The history's length at the last wake-up. */
  #wokenAt = 0;

  constructor(history: History, clock: Clock) {
    this.#history = history;
    this.#clock = clock;
  }

  /** True when the turn has had its wake-up, so that what is pending had better wait for the next. */
  get gathering(): boolean {
    return this.#turnHasWoken;
  }

  /** To be called when a watcher took something that was pending without being woken for it: that is the turn's wake-up. */
  served(): void {
    if (this.#turnHasWoken) return;
    this.#wokenAt = this.#history.written;
    this.#beginTurn();
  }

  /** Watches that have not ended. */
  get openCount(): number {
    return this.#open.size;
  }

  /** Makes sure of a wake-up at the end of the turn. */
  wakeAtEndOfTurn(): void {
    this.#wakeAtEnd = true;
    if (!this.#turnHasWoken) this.#beginTurn();
  }

  opened(watcher: WaitingWatcher): void {
    this.#open.add(watcher);
  }

  closed(watcher: WaitingWatcher): void {
    this.#open.delete(watcher);
  }

  /** Ends every watch. */
  closeAll(): void {
    for (const watcher of this.#open) watcher.close();
  }

  /** Registers a watcher for the next wake-up: of anything, or of one id. */
  wait(watcher: WaitingWatcher, id?: string): void {
    if (id === undefined) {
      this.#waiting.push(watcher);
      return;
    }
    const watchers = this.#waitingForId.get(id);
    if (watchers) watchers.add(watcher);
    else this.#waitingForId.set(id, new Set([watcher]));
  }

  /** Takes back the wait of a watcher that has ended. */
  forget(watcher: WaitingWatcher, id?: string): void {
    if (id === undefined) {
      this.#gone++;
      // looking for each one would make closing many watches quadratic
      if (2 * this.#gone > this.#waiting.length) this.#dropGone();
      return;
    }
    const watchers = this.#waitingForId.get(id);
    if (watchers?.delete(watcher) && watchers.size === 0) this.#waitingForId.delete(id);
  }

  /** Calls `listener` within every write, until {@link unlisten}. */
  listen(listener: () => void): void {
    this.#listeners.add(listener);
  }

  unlisten(listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** To be called after an event of the resource `id` was written to the history. */
  published(id: string): void {
    if (this.#listeners.size > 0) for (const listener of this.#listeners) listener();
    const idWaits = this.#waitingForId.size > 0 && this.#waitingForId.has(id);
    if (!idWaits && this.#waiting.length === 0) return;
    if (idWaits && !this.#changedIds.has(id)) this.#changedIds.set(id, this.#history.written - 1);
    if (!this.#turnHasWoken) {
      this.#beginTurn();
      this.#planWake();
    } else if (this.#history.written - this.#wokenAt >= this.#history.capacity / 2) {
      this.#planWake();
    }
  }

  #dropGone(): void {
    this.#waiting = this.#waiting.filter((watcher) => this.#open.has(watcher));
    this.#gone = 0;
  }

  #beginTurn(): void {
    this.#turnHasWoken = true;
    this.#clock.defer(this.#endTurn);
  }

  #planWake(): void {
    if (this.#wakePlanned) return;
    this.#wakePlanned = true;
    queueMicrotask(this.#wakeAll);
  }

  readonly #endTurn = (): void => {
    this.#turnHasWoken = false;
    if (this.#wakeAtEnd || this.#wokenAt < this.#history.written) this.#wakeAll();
  };

  readonly #wakeAll = (): void => {
    this.#wakePlanned = false;
    this.#wakeAtEnd = false;
    this.#wokenAt = this.#history.written;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#gone = 0;
    for (const watcher of waiting) watcher.wake();
    if (this.#changedIds.size > 0) this.#wakeChangedIds();
  };

  #wakeChangedIds(): void {
    const changed = this.#changedIds;
    this.#changedIds = new Map();
    for (const [id, position] of changed) {
      const watchers = this.#waitingForId.get(id);
      this.#waitingForId.delete(id);
      for (const watcher of watchers ?? []) watcher.wake(position);
    }
  }
}
