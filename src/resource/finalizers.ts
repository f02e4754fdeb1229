/** A set of names that keeps insertion order. While it is not empty, its resource cannot be destroyed. */
export type Finalizers = readonly string[];

export const NO_FINALIZERS: Finalizers = Object.freeze([]);

/** A frozen copy of `names` in which later duplicates are dropped. */
export function sealFinalizers(names: readonly string[]): Finalizers {
  if (names.length === 0) return NO_FINALIZERS;
  for (const name of names) {
    if (typeof name !== "string") throw new TypeError(`a finalizer must be a string, got ${typeof name}`);
  }
  return Object.freeze([...new Set(names)]);
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
