import { defineOwn } from "../../internal/define-own.ts";
import { Handle } from "./handle.ts";
import { OpaqueSpec, sameBytes } from "./opaque-spec.ts";

/** A value with every property read-only, all the way down: how specs are read. */
export type Immutable<T> = T extends Leaf ? T : T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;

/** A value with every property writable, all the way down: how specs are changed. */
export type Draft<T> = T extends Leaf ? T : T extends object ? { -readonly [K in keyof T]: Draft<T[K]> } : T;

/** Texts and numbers may carry a brand, which looks like an object. */
type Leaf = string | number | bigint | boolean | Uint8Array | Handle<object> | OpaqueSpec;

/** A deep mutable copy of frozen plain data. Handles and opaque specs are shared. */
export function draftOf<T>(value: T): Draft<T> {
  return copy(value) as Draft<T>;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  if (value instanceof Handle || value instanceof OpaqueSpec) return value;
  if (value instanceof Uint8Array) return new Uint8Array(value);
  const target: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const part = copy((value as Record<string, unknown>)[key]);
    if (key === "__proto__") defineOwn(target, key, part);
    else target[key] = part;
  }
  return target;
}

/** Deep equality of plain data. Parts of an object that are `undefined` count as absent; 0 and -0 are the same. */
export function samePlain(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null)
    return Number.isNaN(a) && Number.isNaN(b);
  return sameObject(a, b);
}

function sameObject(a: object, b: object): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((part, i) => samePlain(part, b[i]));
  if (a instanceof Handle || a instanceof OpaqueSpec) return a.equals(b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && sameBytes(a, b);
  if (!isRecord(b)) return false;
  return sameRecord(a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>);
}

const isRecord = (value: object): boolean =>
  !(Array.isArray(value) || value instanceof Uint8Array || value instanceof Handle || value instanceof OpaqueSpec);

function sameRecord(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  let matched = 0;
  for (const key of Object.keys(a)) {
    const part = a[key];
    if (part === undefined) continue;
    if (!Object.hasOwn(b, key) || !samePlain(part, b[key])) return false;
    matched++;
  }
  for (const key of Object.keys(b)) {
    if (b[key] !== undefined) matched--;
  }
  return matched === 0;
}
