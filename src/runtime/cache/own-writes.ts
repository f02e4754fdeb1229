import { compareVersions, type Metadata, type Resource } from "../../resource/index.ts";
import type { CacheObserver } from "./cache-observer.ts";
import type { KindCache } from "./kind-cache.ts";

/** What is at an address after a write, or after an event. */
type Content = Metadata | "nothing";

/**
 * One write of a controller, from its start until the cache has seen it. The event may come before the write's own
 * answer does; so what comes meanwhile is noted.
 */
class OwnWrite implements CacheObserver {
  readonly id: string;
  readonly #cache: KindCache;
  #seen: Content[] = [];
  #left: Content | undefined;
  readonly #settled = Promise.withResolvers<void>();

  constructor(cache: KindCache, id: string) {
    this.#cache = cache;
    this.id = id;
    cache.observe(id, this);
  }

  /** True from the write's answer on: before it, nobody can expect to read the write. */
  get answered(): boolean {
    return this.#left !== undefined;
  }

  /** Resolves when the cache has seen the write, or the write failed. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  succeeded(left: Content): void {
    this.#left = left;
    for (const content of this.#seen) this.changed(content);
  }

  end(): void {
    this.#cache.unobserve(this.id, this);
    this.#seen = [];
    this.#settled.resolve();
  }

  changed(now: Content): void {
    if (this.#left === undefined) this.#seen.push(now);
    else if (shows(now, this.#left)) this.end();
  }

  /** New contents without the life that we wrote: whoever ended it did so after our write. */
  swapped(now: Content): void {
    if (this.#left === undefined || shows(now, this.#left)) this.changed(now);
    else if (now === "nothing" || (this.#left !== "nothing" && now.created !== this.#left.created)) this.end();
  }
}

/** True when an event shows what a write left, or a later version of it. */
function shows(now: Content, left: Content): boolean {
  if (now === "nothing" || left === "nothing") return now === left;
  return now.created === left.created && compareVersions(now.version, left.version) >= 0;
}

/**
 * The writes of one controller to cached kinds that the cache has not seen yet. Only for States whose events come
 * after the answers of writes; where they come within the write, there never is one.
 */
export class OwnWrites {
  readonly #pending = new Map<KindCache, Set<OwnWrite>>();

  /** Follows a write that leaves a resource. */
  follow(cache: KindCache, id: string, write: Promise<Resource>): Promise<Resource> {
    const own = this.#start(cache, id);
    return write.then(
      (stored) => {
        own.succeeded(stored.metadata);
        return stored;
      },
      (error: unknown) => {
        own.end();
        throw error;
      },
    );
  }

  /** Follows a write that leaves nothing. */
  followDestroy(cache: KindCache, id: string, write: Promise<void>): Promise<void> {
    const own = this.#start(cache, id);
    return write.then(
      () => own.succeeded("nothing"),
      (error: unknown) => {
        own.end();
        throw error;
      },
    );
  }

  /** What a read has to wait for: undefined when there is nothing. Without an id, everything of the kind. */
  unseen(cache: KindCache, id?: string): Promise<unknown> | undefined {
    const writes = this.#pending.get(cache);
    if (writes === undefined || writes.size === 0) return undefined;
    const mine = [...writes].filter((write) => write.answered && (id === undefined || write.id === id));
    return mine.length === 0 ? undefined : Promise.all(mine.map(({ settled }) => settled));
  }

  #start(cache: KindCache, id: string): OwnWrite {
    const own = new OwnWrite(cache, id);
    let writes = this.#pending.get(cache);
    if (writes === undefined) this.#pending.set(cache, (writes = new Set()));
    writes.add(own);
    void own.settled.then(() => writes.delete(own));
    return own;
  }
}
