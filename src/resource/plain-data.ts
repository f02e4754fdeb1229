import { Handle } from "./handle.ts";
import { OpaqueSpec } from "./opaque-spec.ts";

/** A value with every property read-only, all the way down: how specs are read. */
export type Immutable<T> = T extends Leaf ? T : T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;

/** A value with every property writable, all the way down: how specs are changed. */
export type Draft<T> = T extends Leaf ? T : T extends object ? { -readonly [K in keyof T]: Draft<T[K]> } : T;

type Leaf = Uint8Array | Handle<object> | OpaqueSpec;

/** Nesting deeper than this is refused: it is a mistake or an attack, and recursion would overflow the stack. */
const DEEPEST = 200;

/** Longer paths are cut in errors. Unit: UTF-16 units. */
const LONGEST_PATH = 120;

/** A frozen copy of plain data, and about how many bytes of memory it keeps alive. */
export interface Frozen<T> {
  readonly value: Immutable<T>;
  readonly bytes: number;
}

/**
 * Copies plain data (JSON values, `bigint`, `Uint8Array`, handles, opaque specs) into deeply frozen form. Parts that
 * are `undefined` in an object are left out. A `Uint8Array` cannot be frozen, so each read of the property that holds
 * it gives a fresh copy.
 *
 * @throws {TypeError} for anything else; the message starts with the path of the part, such as `spec.ports[2]`.
 */
export function freezePlain<T>(value: T, path = "spec"): Frozen<T> {
  const walk = new Walk(path);
  const frozen = walk.freeze(value);
  return { value: frozen as Immutable<T>, bytes: walk.bytes };
}

class Walk {
  bytes = 0;
  readonly #root: string;
  /** Keys and indices from the root to the part at hand. Made into text only for an error. */
  readonly #path: (string | number)[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  freeze(value: unknown): unknown {
    switch (typeof value) {
      case "string":
        this.bytes += 16 + value.length;
        return value;
      case "number":
        if (!Number.isFinite(value)) throw this.#error(`must be a finite number, got ${value}`);
        this.bytes += 8;
        return value;
      case "boolean":
        this.bytes += 8;
        return value;
      case "bigint":
        this.bytes += 24;
        return value;
      case "object":
        return value === null ? null : this.#freezeObject(value);
      case "undefined":
      case "function":
      case "symbol":
        throw this.#error(`must be plain data, got ${typeof value}`);
    }
  }

  #freezeObject(value: object): unknown {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return this.#freezeRecord(value);
    if (Array.isArray(value)) return this.#freezeArray(value);
    if (value instanceof Handle) return value;
    if (value instanceof OpaqueSpec) {
      this.bytes += value.byteLength;
      return value;
    }
    if (value instanceof Uint8Array) {
      this.bytes += 100 + value.byteLength;
      return value.slice();
    }
    if (isForeignPlain(prototype as object)) return this.#freezeRecord(value);
    throw this.#error(`must be plain data, got an instance of ${className(prototype as object)}`);
  }

  #freezeArray(value: readonly unknown[]): unknown {
    this.bytes += 32 + 8 * value.length;
    const copy: unknown[] = [];
    for (let i = 0; i < value.length; i++) define(copy, i, this.#freezePart(i, value[i]));
    return Object.freeze(copy);
  }

  #freezeRecord(value: object): unknown {
    // spreading keeps the shape of the original, which is both the fastest and the smallest copy
    const copy: Record<string, unknown> = { ...value };
    this.bytes += 32;
    for (const key of Object.keys(copy)) {
      const part = copy[key];
      if (part === undefined) {
        delete copy[key];
        continue;
      }
      this.bytes += 8;
      const frozen = this.#freezePart(key, part);
      if (frozen !== part) define(copy, key, frozen);
    }
    return Object.freeze(copy);
  }

  #freezePart(key: string | number, part: unknown): unknown {
    if (this.#path.length === DEEPEST) throw this.#error(`is nested deeper than ${DEEPEST} levels, or is a cycle`);
    this.#path.push(key);
    const frozen = this.freeze(part);
    this.#path.pop();
    return frozen;
  }

  #error(reason: string): TypeError {
    let path = this.#root;
    for (const key of this.#path) {
      path += typeof key === "number" ? `[${key}]` : `.${key}`;
      if (path.length > LONGEST_PATH) {
        path = `${path.slice(0, LONGEST_PATH)}…`;
        break;
      }
    }
    return new TypeError(`${path} ${reason}`);
  }
}

/** Sets an own property; `__proto__` is a key like any other, and bytes are copied on each read. */
function define(target: object, key: string | number, value: unknown): void {
  if (value instanceof Uint8Array) {
    Object.defineProperty(target, key, { enumerable: true, configurable: true, get: () => value.slice() });
  } else if (key === "__proto__") {
    Object.defineProperty(target, key, { enumerable: true, configurable: true, writable: true, value });
  } else {
    (target as Record<string | number, unknown>)[key] = value;
  }
}

/** A plain object of another realm: its prototype has no prototype and is that realm's `Object.prototype`. */
function isForeignPlain(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "hasOwnProperty");
}

function className(prototype: object): string {
  const { constructor } = prototype as { constructor?: unknown };
  return typeof constructor === "function" && constructor.name !== "" ? constructor.name : "an unnamed class";
}

/** A deep mutable copy of frozen plain data. */
export function draftOf<T>(value: T): Draft<T> {
  return copy(value) as Draft<T>;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Handle || value instanceof OpaqueSpec)
    return value;
  if (value instanceof Uint8Array) return value.slice();
  if (Array.isArray(value)) return value.map(copy);
  const target: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const part = copy((value as Record<string, unknown>)[key]);
    if (key === "__proto__")
      Object.defineProperty(target, key, { enumerable: true, configurable: true, writable: true, value: part });
    else target[key] = part;
  }
  return target;
}

/** Deep equality of plain data. */
export function samePlain(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof Handle || a instanceof OpaqueSpec) return a.equals(b);
  if (a instanceof Uint8Array) {
    return b instanceof Uint8Array && a.byteLength === b.byteLength && a.every((byte, i) => byte === b[i]);
  }
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((part, i) => samePlain(part, b[i]));
  if (Array.isArray(b) || b instanceof Uint8Array || b instanceof Handle || b instanceof OpaqueSpec) return false;
  const [mine, theirs] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(mine);
  return (
    keys.length === Object.keys(theirs).length &&
    keys.every((key) => Object.hasOwn(theirs, key) && samePlain(mine[key], theirs[key]))
  );
}
