import { endsWithin, type Clock } from "../clock/index.ts";
import { abortable } from "../internal/abortable.ts";
import { SerialQueue } from "../internal/serial-queue.ts";
import { formatReference, StateError, type Pointer, type Resource } from "../resource/index.ts";
import type { BackingStore } from "./backing-store.ts";

/** What a write is, for the report of a store that hangs. */
export interface PendingWrite {
  readonly operation: "create" | "update" | "destroy";
  readonly pointer: Pointer;
}

/** A write in its three steps: check, store, make visible. */
export interface DurableWrite extends PendingWrite {
  prepare(): Resource;
  persist(store: BackingStore, stored: Resource): Promise<void>;
  commit(stored: Resource): void;
}

/** So many pending writes are named; the rest is counted. */
const MAX_NAMED = 10;

/** Keeps writes of one collection apart while a backing store works, and loads the store once. */
export class Persistence {
  readonly store: BackingStore;
  /** The load in progress or done; none after a failure, so that the next operation tries again. */
  #loaded: Promise<void> | undefined;
  #isLoaded = false;
  /** The writes of each type that has any. */
  readonly #queues = new Map<string, SerialQueue>();
  /** Writes that have been called and have not ended, those included that still wait for the load. */
  readonly #writes = new Map<Promise<unknown>, PendingWrite>();
  /** Aborts when the State is disposed of and the store has not finished in time. */
  readonly #abandoned = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(store: BackingStore) {
    this.store = store;
  }

  /**
   * Loads the store once; concurrent callers share it. Everything is staged first, so that a load that fails half-way
   * leaves nothing behind.
   */
  load(inject: (resources: readonly Resource[]) => void): Promise<void> {
    this.#loaded ??= this.#load(inject);
    return this.#isLoaded ? this.#loaded : abortable(this.#loaded, this.#abandoned.signal);
  }

  /** Whether a write that has been called has not ended; its caller may have left. */
  get isWriting(): boolean {
    return this.#writes.size > 0;
  }

  /** Counts a write until it has ended, or {@link close} gives it up. */
  track<T>(write: Promise<T>, what: PendingWrite): Promise<T> {
    this.#writes.set(write, what);
    const forget = () => this.#writes.delete(write);
    write.then(forget, forget);
    return abortable(write, this.#abandoned.signal);
  }

  /**
   * Waits until the store is not at work: neither loading nor writing. Idempotent.
   *
   * @throws {StateError} `unavailable` when the time passes first. It names the writes that are not known to be stored;
   * their callers, and those that wait for the load, get the same error.
   */
  close(clock: Clock, graceMs: number): Promise<void> {
    return (this.#closing ??= this.#close(clock, graceMs));
  }

  async #close(clock: Clock, graceMs: number): Promise<void> {
    const idle = Promise.allSettled([this.#loaded, ...this.#writes.keys()]);
    if (await endsWithin(clock, graceMs, idle)) return;
    const pending = Array.from(
      this.#writes.values(),
      ({ operation, pointer }) => `${operation} of ${formatReference(pointer)}`,
    );
    const named = pending.length === 0 ? ["its load"] : pending.slice(0, MAX_NAMED);
    if (pending.length > MAX_NAMED) named.push(`${pending.length - MAX_NAMED} more`);
    const error = new StateError(
      "unavailable",
      `the backing store did not finish within ${graceMs} ms; perhaps not stored: ${named.join(", ")}`,
    );
    this.#abandoned.abort(error);
    throw error;
  }

  async #load(inject: (resources: readonly Resource[]) => void): Promise<void> {
    try {
      const staged: Resource[] = [];
      await this.store.load((resource) => void staged.push(resource));
      inject(staged);
      this.#isLoaded = true;
    } catch (error) {
      this.#loaded = undefined;
      throw error;
    }
  }

  /** Runs `write` after all earlier ones of the same type, unless the store was given up by then. */
  exclusive<T>(type: string, write: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(type) ?? new SerialQueue();
    this.#queues.set(type, queue);
    return queue.run(() => {
      this.#abandoned.signal.throwIfAborted();
      return write();
    });
  }
}

/** @throws {StateError} `invalid` when a store gives one resource twice: which of the two would count? */
export function checkUnique(resources: readonly Resource[]): void {
  const seen = new Map<string, Set<string>>();
  for (const { metadata } of resources) {
    const ids = seen.get(metadata.type) ?? new Set();
    if (ids.has(metadata.id)) {
      throw new StateError("invalid", `the backing store holds ${formatReference(metadata)} twice`, {
        pointer: metadata,
      });
    }
    seen.set(metadata.type, ids.add(metadata.id));
  }
}
