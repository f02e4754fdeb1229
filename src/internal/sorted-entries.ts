import { compareText } from "./compare-text.ts";

interface Identified {
  readonly metadata: { readonly id: string };
}

/** The place of one resource in a collection: its content changes, its id never does. */
export interface Entry<R extends Identified> {
  /** Undefined when the resource was destroyed: the entry only waits to be dropped from the sorted order. */
  resource: R | undefined;
}

/** Changes that may gather before sorting everything anew is cheaper than merging them. */
const MIN_CHANGES = 64;

/**
 * The entries of a collection in order of their ids, kept up lazily: changes are noted, and merged when somebody lists.
 * A collection that is never listed pays nothing.
 */
export class SortedEntries<R extends Identified> {
  #sorted: Entry<R>[] | undefined;
  #added: Entry<R>[] = [];
  #removed = 0;

  add(entry: Entry<R>): void {
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
  read(entries: Iterable<Entry<R>>): readonly Entry<R>[] {
    if (this.#sorted === undefined) this.#sorted = sortLive(entries);
    else if (this.#added.length > 0 || this.#removed > 0) this.#sorted = merge(this.#sorted, sortLive(this.#added));
    this.#added = [];
    this.#removed = 0;
    return this.#sorted;
  }

  #forgetIfStale(): void {
    if (this.#added.length + this.#removed < MIN_CHANGES + (this.#sorted?.length ?? 0)) return;
    this.#sorted = undefined;
    this.#added = [];
    this.#removed = 0;
  }
}

interface LiveEntry<R extends Identified> extends Entry<R> {
  resource: R;
}

const isLive = <R extends Identified>(entry: Entry<R>): entry is LiveEntry<R> => entry.resource !== undefined;

/** An entry with its id at hand: sorting looks at ids alone, which lie scattered in memory otherwise. */
interface Keyed<R extends Identified> {
  readonly id: string;
  readonly entry: LiveEntry<R>;
}

function sortLive<R extends Identified>(entries: Iterable<Entry<R>>): LiveEntry<R>[] {
  const keyed: Keyed<R>[] = [];
  let late = false;
  for (const entry of entries) {
    if (!isLive(entry)) continue;
    const { id } = entry.resource.metadata;
    late ||= hasLateUnit(id);
    keyed.push({ id, entry });
  }
  keyed.sort(late ? byText : byUnits);
  return keyed.map(({ entry }) => entry);
}

/** From here on UTF-8 may sort otherwise than UTF-16 units do. */
const FIRST_LATE_UNIT = 0xd800;

function hasLateUnit(id: string): boolean {
  for (let i = 0; i < id.length; i++) if (id.charCodeAt(i) >= FIRST_LATE_UNIT) return true;
  return false;
}

function byText(a: Keyed<Identified>, b: Keyed<Identified>): number {
  return compareText(a.id, b.id);
}

/** {@link byText} for ids without late units: the native comparison is several times as fast. Ids are unique. */
function byUnits(a: Keyed<Identified>, b: Keyed<Identified>): number {
  return a.id < b.id ? -1 : 1;
}

function byId(a: LiveEntry<Identified>, b: LiveEntry<Identified>): number {
  return compareText(a.resource.metadata.id, b.resource.metadata.id);
}

/** Merges two sorted arrays, leaving out what was destroyed. */
function merge<R extends Identified>(sorted: readonly Entry<R>[], added: readonly LiveEntry<R>[]): Entry<R>[] {
  const merged: Entry<R>[] = [];
  let next = 0;
  for (const entry of sorted) {
    if (!isLive(entry)) continue;
    for (let other = added[next]; other !== undefined && byId(other, entry) < 0; other = added[++next]) {
      merged.push(other);
    }
    merged.push(entry);
  }
  for (const other of added.slice(next)) merged.push(other);
  return merged;
}
