import { compareVersions } from "../../resource/index.ts";
import type { CacheObserver, Content, ObservedCache } from "./cache-observer.ts";

/** Lives that are noted while the State has not answered; beyond, it is asked once more. */
const MAX_NOTED = 16;

/**
 * Waits until a cache shows what the State said of one resource, or something later. It always ends:
 *
 * - *asked*: the State has not answered. Its event may come first, so what comes meanwhile is noted;
 * - *answered*: the event is on its way. A resync may swallow it, as it gives new contents without what happened in
 *   between; then the State is *asked* anew, and what it says now is what has to be shown;
 * - *settled*: shown, or failed, or the cache was closed.
 */
export class CacheSighting implements CacheObserver {
  readonly id: string;
  readonly #cache: ObservedCache;
  readonly #enough: (now: Content) => boolean;
  #noted: Content[] = [];
  #expected: Content | undefined;
  #doubtful = false;
  #answered = false;
  #over = false;
  readonly #settled = Promise.withResolvers<void>();

  /** @param enough - Content that ends the wait, whatever the State says. Default: none. */
  constructor(cache: ObservedCache, id: string, enough: (now: Content) => boolean = () => false) {
    this.#cache = cache;
    this.id = id;
    this.#enough = enough;
    // A rejection is for those who wait; there may be no one.
    this.#settled.promise.catch(() => undefined);
    cache.observe(id, this);
  }

  /** True from the first answer on. */
  get answered(): boolean {
    return this.#answered;
  }

  /** Rejects when the State cannot be asked, or the cache was closed. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** The State has answered: this is what it did or found. */
  answer(content: Content): void {
    if (this.#over) return;
    this.#answered = true;
    this.#expected = content;
    const noted = this.#noted;
    this.#noted = [];
    if (noted.some((now) => shows(now, content))) this.end();
    else if (this.#doubtful) this.ask();
  }

  /** Asks the State what is there. */
  ask(): void {
    this.#expected = undefined;
    this.#doubtful = false;
    this.#noted = [this.#cache.contentOf(this.id)];
    this.#cache.stored(this.id).then(
      (content) => this.answer(content),
      (error: unknown) => this.closed(error),
    );
  }

  end(): void {
    this.#stop();
    this.#settled.resolve();
  }

  changed(now: Content): void {
    if (this.#enough(now)) this.end();
    else if (this.#expected === undefined) this.#note(now);
    else if (shows(now, this.#expected)) this.end();
  }

  swapped(now: Content): void {
    this.changed(now);
    if (this.#over) return;
    if (this.#expected === undefined) this.#doubtful = true;
    else this.ask();
  }

  closed(reason: unknown): void {
    this.#stop();
    this.#settled.reject(reason);
  }

  #stop(): void {
    this.#over = true;
    this.#noted = [];
    this.#cache.unobserve(this.id, this);
  }

  #note(now: Content): void {
    const last = this.#noted.at(-1);
    if (last !== undefined && isSameLife(last, now)) this.#noted.pop();
    this.#noted.push(now);
    if (this.#noted.length <= MAX_NOTED) return;
    this.#noted.shift();
    this.#doubtful = true;
  }
}

const isSameLife = (a: Content, b: Content): boolean => a !== "nothing" && b !== "nothing" && a.created === b.created;

/** True when `now` is what was expected, or a later version of it. */
function shows(now: Content, expected: Content): boolean {
  if (now === "nothing" || expected === "nothing") return now === expected;
  return isSameLife(now, expected) && compareVersions(now.version, expected.version) >= 0;
}
