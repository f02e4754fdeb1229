import { SerialQueue } from "../internal/serial-queue.ts";
import type { Resource } from "../resource/index.ts";
import type { BackingStore } from "./backing-store.ts";

/** Keeps writes of one collection apart while a backing store works, and loads the store once. */
export class Persistence {
  readonly store: BackingStore;
  /** The load in progress or done; none after a failure, so that the next operation tries again. */
  #loaded: Promise<void> | undefined;
  /** The writes of each type that has any. */
  readonly #queues = new Map<string, SerialQueue>();
  /** Writes that have been called and have not ended, those included that still wait for the load. */
  readonly #writes = new Set<Promise<unknown>>();

  constructor(store: BackingStore) {
    this.store = store;
  }

  /**
   * Loads the store once; concurrent callers share it. Everything is staged first, so that a load that fails half-way
   * leaves nothing behind.
   */
  load(inject: (resources: readonly Resource[]) => void): Promise<void> {
    return (this.#loaded ??= this.#load(inject));
  }

  /** Counts a write until it has ended. */
  track<T>(write: Promise<T>): Promise<T> {
    this.#writes.add(write);
    const forget = () => this.#writes.delete(write);
    write.then(forget, forget);
    return write;
  }

  /** Resolves when the store is not at work: neither loading nor writing. */
  async idle(): Promise<void> {
    await Promise.allSettled([this.#loaded, ...this.#writes]);
  }

  async #load(inject: (resources: readonly Resource[]) => void): Promise<void> {
    try {
      const staged: Resource[] = [];
      await this.store.load((resource) => void staged.push(resource));
      inject(staged);
    } catch (error) {
      this.#loaded = undefined;
      throw error;
    }
  }

  /** Runs `write` after all earlier ones of the same type. */
  exclusive<T>(type: string, write: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(type) ?? new SerialQueue();
    this.#queues.set(type, queue);
    return queue.run(write);
  }
}
