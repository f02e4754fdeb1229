import type { Metadata } from "../../resource/index.ts";

/** Sees the changes of one resource in a cache, after they were made. */
export interface CacheObserver {
  changed(now: Metadata | "nothing"): void;
  /** The contents were exchanged as a whole. */
  swapped(now: Metadata | "nothing"): void;
}

/** What an observer needs of a cache. */
export interface ObservedCache {
  /** True when the resource is neither absent nor tearing down. */
  isRunning(id: string): boolean;
  observe(id: string, observer: CacheObserver): void;
  unobserve(id: string, observer: CacheObserver): void;
}
