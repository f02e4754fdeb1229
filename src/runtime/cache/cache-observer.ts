import type { Metadata } from "../../resource/index.ts";

/** What is at an address, as an event, a write or a read says. */
export type Content = Metadata | "nothing";

/** Sees the changes of one resource in a cache, after they were made. */
export interface CacheObserver {
  changed(now: Content): void;
  /** The contents were exchanged as a whole: what happened in between is not known. */
  swapped(now: Content): void;
  /** The cache is no longer fed, or the State could not be asked. */
  closed(reason: unknown): void;
}

/** What an observer needs of a cache. */
export interface ObservedCache {
  /** What the cache holds now. */
  contentOf(id: string): Content;
  /** What the State holds now. */
  stored(id: string): Promise<Content>;
  observe(id: string, observer: CacheObserver): void;
  unobserve(id: string, observer: CacheObserver): void;
}
