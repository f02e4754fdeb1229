import type { Resource } from "../../resource/index.ts";
import type { Content } from "./cache-observer.ts";
import { CacheSighting } from "./cache-sighting.ts";
import type { KindCache } from "./kind-cache.ts";

const NONE: readonly CacheSighting[] = [];

/**
 * The writes of one controller to cached kinds that the cache has not seen yet. Only for States whose events come
 * after the answers of writes; where they come within the write, there never is one.
 */
export class OwnWrites {
  readonly #pending = new Map<KindCache, Set<CacheSighting>>();

  /** Follows a write that leaves a resource. */
  follow(cache: KindCache, id: string, write: Promise<Resource>): Promise<Resource> {
    return this.#follow(cache, id, write, ({ metadata }) => metadata);
  }

  /** Follows a write that leaves nothing. */
  followDestroy(cache: KindCache, id: string, write: Promise<void>): Promise<void> {
    return this.#follow(cache, id, write, () => "nothing");
  }

  /**
   * What a read has to wait for: undefined when there is nothing. Without an id, everything of the kind. Before its
   * answer, no reader can expect to see a write.
   */
  unseen(cache: KindCache, id?: string): Promise<unknown> | undefined {
    const mine = this.#unseen(cache, id);
    return mine.length === 0 ? undefined : Promise.all(mine.map(({ settled }) => settled));
  }

  /** True when a read has to wait. Makes no promise: it would reject unheard when the cache is closed. */
  hasUnseen(cache: KindCache, id: string): boolean {
    return this.#unseen(cache, id).length > 0;
  }

  #unseen(cache: KindCache, id: string | undefined): readonly CacheSighting[] {
    const writes = this.#pending.get(cache);
    if (writes === undefined || writes.size === 0) return NONE;
    return [...writes].filter((write) => write.answered && (id === undefined || write.id === id));
  }

  #follow<T>(cache: KindCache, id: string, write: Promise<T>, leaves: (result: T) => Content): Promise<T> {
    const sighting = this.#start(cache, id);
    return write.then(
      (result) => {
        sighting.answer(leaves(result));
        return result;
      },
      (error: unknown) => {
        sighting.end();
        throw error;
      },
    );
  }

  #start(cache: KindCache, id: string): CacheSighting {
    const sighting = new CacheSighting(cache, id);
    let writes = this.#pending.get(cache);
    if (writes === undefined) this.#pending.set(cache, (writes = new Set()));
    writes.add(sighting);
    const forget = (): void => void writes.delete(sighting);
    sighting.settled.then(forget, forget);
    return sighting;
  }
}
