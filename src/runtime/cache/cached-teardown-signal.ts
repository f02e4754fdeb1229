import { formatPointer, Phase, type Pointer } from "../../resource/index.ts";
import type { TeardownSignal } from "../../state/index.ts";
import type { CacheObserver, Content, ObservedCache } from "./cache-observer.ts";

/** A teardown signal that is served by a cache. It stops listening as soon as it has aborted. */
export class CachedTeardownSignal implements TeardownSignal, CacheObserver {
  readonly #controller = new AbortController();
  readonly #cache: ObservedCache;
  readonly #pointer: Pointer;
  readonly #parent: AbortSignal | undefined;
  readonly #onParentAbort = (): void => this.#abort(this.#parent?.reason);

  constructor(cache: ObservedCache, pointer: Pointer, parent: AbortSignal | undefined) {
    this.#cache = cache;
    this.#pointer = pointer;
    this.#parent = parent;
    if (parent?.aborted === true) this.#abort(parent.reason);
    else if (isGone(cache.contentOf(pointer.id))) this.#abortGone();
    else {
      cache.observe(pointer.id, this);
      parent?.addEventListener("abort", this.#onParentAbort, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  changed(now: Content): void {
    if (isGone(now)) this.#abortGone();
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

const isGone = (now: Content): boolean => now === "nothing" || now.phase === Phase.tearingDown;
