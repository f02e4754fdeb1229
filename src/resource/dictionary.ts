import { compareText } from "../internal/compare-text.ts";

/** Labels or annotations: strings by string, frozen, without a prototype, so that `__proto__` is a key like any other. */
export type Dictionary = Readonly<Record<string, string>>;

export const EMPTY_DICTIONARY: Dictionary = Object.freeze(Object.create(null) as Record<string, string>);

/** An independent mutable copy. */
export function copyDictionary(entries: Readonly<Record<string, string>>): Record<string, string> {
  return Object.assign(Object.create(null) as Record<string, string>, entries);
}

/**
 * `entries` as a frozen dictionary: a copy, unless it is one already.
 *
 * @throws {TypeError} when a value is not a string.
 */
export function sealDictionary(entries: Readonly<Record<string, string>>): Dictionary {
  if (entries === EMPTY_DICTIONARY) return entries;
  const keys = Object.keys(entries);
  if (keys.length === 0) return EMPTY_DICTIONARY;
  for (const key of keys) {
    const value: unknown = entries[key];
    if (typeof value !== "string")
      throw new TypeError(`the value of ${JSON.stringify(key)} must be a string, got ${typeof value}`);
  }
  if (Object.isFrozen(entries) && Object.getPrototypeOf(entries) === null) return entries;
  return Object.freeze(copyDictionary(entries));
}

/** Same keys with the same values. */
export function sameDictionary(a: Dictionary, b: Dictionary): boolean {
  if (a === b) return true;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && a[key] === b[key]);
}

/** Keys in ascending order of their UTF-8 bytes. */
export function sortedKeys(entries: Dictionary): readonly string[] {
  return Object.keys(entries).sort(compareText);
}
