import { toError } from "../../internal/to-error.ts";
import { isNotFound, type Kind, type Pointer } from "../../resource/index.ts";
import { KindMap } from "../kind-map.ts";

/** The part of a controller's state that a clean-up uses. */
export interface OutputCleaner {
  list(kind: Kind): Promise<readonly { readonly metadata: Pointer & { readonly owner: string } }[]>;
  destroy(pointer: Pointer): Promise<void>;
}

/**
 * Notes what a classic controller writes, so that what it did not write this time can be destroyed. It is off until
 * started. Nothing is torn down first: outputs with finalizers make the clean-up fail.
 */
export class OutputTracker {
  readonly #owner: string;
  #touched: KindMap<Set<string>> | undefined;

  constructor(owner: string) {
    this.#owner = owner;
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
  touch(pointer: Pointer): void {
    this.#touched?.ensure(pointer, () => new Set()).add(pointer.id);
  }

  /**
   * Destroys the resources of `kinds` that the controller owns and did not touch, then ends tracking. After a failure
   * it still tracks.
   *
   * @throws {Error} when it does not track; when a list or a destroy fails, with that as the cause.
   */
  async cleanup(kinds: readonly Kind[], cleaner: OutputCleaner): Promise<void> {
    const touched = this.#touched;
    if (touched === undefined) throw new Error(`controller ${JSON.stringify(this.#owner)} does not track its outputs`);
    for (const kind of kinds) {
      const ids = touched.get(kind.namespace, kind.type);
      const list = await attempt(`listing outputs of ${kind.type}`, () => cleaner.list(kind));
      for (const { metadata } of list) {
        if (metadata.owner !== this.#owner || ids?.has(metadata.id) === true) continue;
        const { namespace, type, id } = metadata;
        await attempt(`destroying output ${type}(${namespace}/${id})`, () =>
          destroyIfThere(cleaner, { namespace, type, id }),
        );
      }
    }
    this.#touched = undefined;
  }
}

/** A cached list can be stale: what is gone already is fine. */
async function destroyIfThere(cleaner: OutputCleaner, pointer: Pointer): Promise<void> {
  try {
    await cleaner.destroy(pointer);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function attempt<T>(what: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    throw new Error(`${what} failed: ${toError(cause, "it").message}`, { cause });
  }
}
