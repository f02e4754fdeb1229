import { describeValue } from "../describe-value.ts";

/** A set of names that keeps insertion order. While it is not empty, its resource cannot be destroyed. */
export type Finalizers = readonly string[];

/** The empty list of finalizers, one for all, so that emptiness can be compared by identity. */
export const NO_FINALIZERS: Finalizers = Object.freeze([]);

/**
 * A frozen copy of `names` in which later duplicates are dropped.
 *
 * @throws {TypeError} when it is no array of strings.
 */
export function sealFinalizers(names: readonly string[]): Finalizers {
  if (names === NO_FINALIZERS) return names;
  if (!Array.isArray(names)) throw new TypeError(`must be a list of strings, got ${describeValue(names)}`);
  if (names.length === 0) return NO_FINALIZERS;
  // Spreading turns holes into parts, so that they are seen.
  const copy: string[] = names.length === 1 ? [...names] : [...new Set(names)];
  for (const name of copy) {
    if (typeof name !== "string") throw new TypeError(`a finalizer must be a string, got ${describeValue(name)}`);
  }
  return Object.freeze(copy);
}

/** `list` with `names` appended; the same list when all of them are there. */
export function withFinalizers(list: Finalizers, ...names: readonly string[]): Finalizers {
  const missing = names.filter((name) => !list.includes(name));
  return missing.length === 0 ? list : sealFinalizers([...list, ...missing]);
}

/** `list` without `names`; the same list when none of them is there. */
export function withoutFinalizers(list: Finalizers, ...names: readonly string[]): Finalizers {
  return names.some((name) => list.includes(name))
    ? sealFinalizers(list.filter((name) => !names.includes(name)))
    : list;
}

/** Equality as sets: order does not count. */
export function sameFinalizers(a: Finalizers, b: Finalizers): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every((name) => b.includes(name));
}
