import { messageOf } from "../../internal/foreign-value.ts";
import { hasCode, isDestroyReady, isNotFound, type Kind, type Metadata, type Pointer } from "../../resource/index.ts";
import { KindMap } from "../kind-map.ts";

/** The part of a controller's state that a clean-up uses. */
export interface OutputCleaner {
  list(kind: Kind): Promise<readonly { readonly metadata: Metadata }[]>;
  getOrNull(pointer: Pointer): Promise<{ readonly metadata: Metadata } | undefined>;
  teardown(pointer: Pointer): Promise<boolean>;
  destroy(pointer: Pointer): Promise<void>;
  /** An output of the kind is torn down and held by others: the controller has to wake when it is released. */
  wakeWhenReleased(kind: Kind): Promise<void>;
}

/**
 * Notes what a classic controller writes, so that what it did not write this time can be destroyed. It is off until
 * started. An output that others hold by a finalizer is torn down, and destroyed by a later clean-up, once it is released.
 */
export class OutputTracker {
  readonly #owner: string;
  readonly #cleaner: OutputCleaner;
  #touched: KindMap<Set<string>> | undefined;

  constructor(owner: string, cleaner: OutputCleaner) {
    this.#owner = owner;
    this.#cleaner = cleaner;
  }

  get tracking(): boolean {
    return this.#touched !== undefined;
  }

  /** @throws {Error} when it tracks already. */
  start(): void {
    if (this.#touched !== undefined)
      throw new Error(`controller ${JSON.stringify(this.#owner)} tracks its outputs already`);
    this.#touched = new KindMap();
  }

  /** Forgets everything: the controller's run is over. */
  drop(): void {
    this.#touched = undefined;
  }

  /** A write is about to be tried. It counts even if it fails: the controller wants the resource. */
  touch({ namespace, type, id }: Pointer): void {
    this.#touched?.ensure({ namespace, type }, () => new Set()).add(id);
  }

  /**
   * Tears down and destroys the resources of `kinds` that the controller owns and did not touch, then ends tracking.
   * After a failure it still tracks.
   *
   * @throws {Error} when it does not track; when a list, a teardown or a destroy fails, with that as the cause.
   */
  async cleanup(kinds: readonly Kind[]): Promise<void> {
    const touched = this.#touched;
    if (touched === undefined) throw new Error(`controller ${JSON.stringify(this.#owner)} does not track its outputs`);
    for (const { namespace, type } of kinds) {
      const ids = touched.get(namespace, type);
      const list = await attempt(`listing outputs of ${type}`, () => this.#cleaner.list({ namespace, type }));
      for (const { metadata } of list) {
        if (metadata.owner !== this.#owner || ids?.has(metadata.id) === true) continue;
        await attempt(`destroying output ${type}(${namespace}/${metadata.id})`, () => this.#remove(metadata));
      }
    }
    this.#touched = undefined;
  }

  /**
   * Destroys those touched outputs that were torn down in an earlier run and are released since: while they are there,
   * the controller cannot write them anew.
   */
  async clearReleased(): Promise<void> {
    for (const [{ namespace, type }, ids] of this.#touched?.entries() ?? []) {
      for (const id of ids) {
        const pointer = { namespace, type, id };
        const present = await this.#cleaner.getOrNull(pointer);
        if (present === undefined || present.metadata.owner !== this.#owner) continue;
        if (isDestroyReady(present.metadata)) await ifThere(() => this.#cleaner.destroy(pointer));
      }
    }
  }

  /** Destroys it at once when no finalizer holds it, the usual case; else tears it down first. */
  async #remove({ namespace, type, id, finalizers }: Metadata): Promise<void> {
    const pointer = { namespace, type, id };
    if (finalizers.length === 0) {
      try {
        await ifThere(() => this.#cleaner.destroy(pointer));
        return;
      } catch (error) {
        if (!hasCode(error, "pending_finalizers")) throw error;
      }
    }
    await ifThere(() => this.#tearDown(pointer));
  }

  async #tearDown(pointer: Pointer): Promise<void> {
    if (!(await this.#cleaner.teardown(pointer))) {
      await this.#cleaner.wakeWhenReleased(pointer);
      // It may have been released before that was heard.
      if (!(await this.#cleaner.teardown(pointer))) return;
    }
    await this.#cleaner.destroy(pointer);
  }
}

/** A cached list can be stale: what is gone already is fine. */
async function ifThere(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function attempt<T>(what: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    throw new Error(`${what} failed: ${messageOf(cause)}`, { cause });
  }
}
