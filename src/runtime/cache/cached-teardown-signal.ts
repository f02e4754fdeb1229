import { compareTimes, formatPointer, Phase, type Pointer } from "../../resource/index.ts";
import type { TeardownSignal } from "../../state/index.ts";
import type { CacheObserver, Content, ObservedCache } from "./cache-observer.ts";

/** A teardown signal, of the life that is in the cache, served by the cache. It stops listening once it has aborted. */
export class CachedTeardownSignal implements TeardownSignal, CacheObserver {
  readonly #controller = new AbortController();
  readonly #cache: ObservedCache;
  readonly #pointer: Pointer;
  /** When the life began; undefined when there is none. */
  readonly #created: string | undefined;
  readonly #parent: AbortSignal | undefined;
  readonly #onParentAbort = (): void => this.#abort(this.#parent?.reason);

  constructor(cache: ObservedCache, pointer: Pointer, parent: AbortSignal | undefined) {
    this.#cache = cache;
    this.#pointer = pointer;
    this.#parent = parent;
    const now = cache.contentOf(pointer.id);
    this.#created = now === "nothing" ? undefined : now.created;
    if (parent?.aborted === true) this.#abort(parent.reason);
    else if (!this.#goesOn(now)) this.#abortGone();
    else {
      cache.observe(pointer.id, this);
      parent?.addEventListener("abort", this.#onParentAbort, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  changed(now: Content): void {
    if (!this.#goesOn(now)) this.#abortGone();
  }

  swapped(now: Content): void {
    this.changed(now);
  }

  closed(reason: unknown): void {
    this.#abort(reason);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
    return Promise.resolve();
  }

  #goesOn(now: Content): boolean {
    if (now === "nothing" || this.#created === undefined || now.phase === Phase.tearingDown) return false;
    return compareTimes(now.created, this.#created) === 0;
  }

  #abortGone(): void {
    this.#abort(new DOMException(`${formatPointer(this.#pointer)} is torn down or gone`, "AbortError"));
  }

  #abort(reason: unknown): void {
    this.#stop();
    this.#controller.abort(reason);
  }

  #stop(): void {
    this.#cache.unobserve(this.#pointer.id, this);
    this.#parent?.removeEventListener("abort", this.#onParentAbort);
  }
}
