import { compareText } from "../internal/compare-text.ts";
import type { Resource } from "../resource/index.ts";

/** The place of one resource in a collection. Its content changes; its id never does. */
export interface Entry {
  readonly id: string;
  /** Undefined when the resource was destroyed: the entry only waits to be dropped from the sorted order. */
  resource: Resource | undefined;
}

/** Changes that may gather before sorting everything anew is cheaper than merging them. */
const FEWEST_CHANGES = 64;

/**
 * The entries of a collection in order of their ids, kept up lazily: changes are noted, and merged when somebody lists.
 * A collection that nobody lists pays nothing.
 */
export class SortedEntries {
  #sorted: Entry[] | undefined;
  #added: Entry[] = [];
  #removed = 0;

  add(entry: Entry): void {
    if (this.#sorted === undefined) return;
    this.#added.push(entry);
    this.#forgetIfStale();
  }

  /** To be called after the entry's resource was set to undefined. */
  remove(): void {
    if (this.#sorted === undefined) return;
    this.#removed++;
    this.#forgetIfStale();
  }

  /** @param entries - All entries, in any order. */
  read(entries: Iterable<Entry>): readonly Entry[] {
    if (this.#sorted === undefined) this.#sorted = [...entries].sort(byId);
    else if (this.#added.length > 0 || this.#removed > 0) this.#sorted = merge(this.#sorted, this.#added.sort(byId));
    this.#added = [];
    this.#removed = 0;
    return this.#sorted;
  }

  #forgetIfStale(): void {
    if (this.#added.length + this.#removed < FEWEST_CHANGES + (this.#sorted?.length ?? 0)) return;
    this.#sorted = undefined;
    this.#added = [];
    this.#removed = 0;
  }
}

function byId(a: Entry, b: Entry): number {
  return compareText(a.id, b.id);
}

/** Merges two sorted arrays, leaving out what was destroyed. */
function merge(a: readonly Entry[], b: readonly Entry[]): Entry[] {
  const merged: Entry[] = [];
  let j = 0;
  for (const entry of a) {
    for (let other = b[j]; other !== undefined && byId(other, entry) < 0; other = b[++j]) {
      if (other.resource !== undefined) merged.push(other);
    }
    if (entry.resource !== undefined) merged.push(entry);
  }
  for (let other = b[j]; other !== undefined; other = b[++j]) if (other.resource !== undefined) merged.push(other);
  return merged;
}
