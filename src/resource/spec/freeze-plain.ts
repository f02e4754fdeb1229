import { defineOwn } from "../../internal/define-own.ts";
import { describeValue } from "../describe-value.ts";
import { Handle } from "./handle.ts";
import { OpaqueSpec } from "./opaque-spec.ts";
import type { Immutable } from "./plain-data.ts";
import { formatSpecPath } from "./spec-issue.ts";

/** Nesting deeper than this is refused: it is a mistake or an attack, and recursion would overflow the stack. */
const MAX_DEPTH = 200;

/** Objects, arrays and their parts, all in all; shared parts count each time, since each gets a copy of its own. */
const MAX_PARTS = 1_000_000;

/** Memory of the kinds of parts, and of their places in a record or list. Unit: bytes, approximate. */
const RECORD_BYTES = 32;
const PLACE_BYTES = 8;
const TEXT_BYTES = 16;
const NUMBER_BYTES = 8;

/** A frozen copy of plain data, and about how many bytes of memory it keeps alive. */
export interface Frozen<T> {
  readonly value: Immutable<T>;
  readonly bytes: number;
}

/** Something is no plain data. */
export class PlainDataError extends TypeError {
  override readonly name: string = "PlainDataError";
  readonly path: readonly (string | number)[];
  /** The message without the path. */
  readonly reason: string;

  constructor(path: readonly (string | number)[], root: string, reason: string) {
    super(`${formatSpecPath(path, root)} ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

/**
 * Copies plain data (JSON values, `bigint`, `Uint8Array`, handles, opaque specs) into deeply frozen form. Parts that
 * are `undefined` in an object are left out, keys that are symbols as well, and -0 becomes 0, as in JSON. A
 * `Uint8Array` cannot be frozen, so each read of the property that holds it gives a fresh copy.
 *
 * @throws {PlainDataError} for anything else; the message starts with the path of the part, such as `spec.ports[2]`.
 */
export function freezePlain<T>(value: T, root = "spec"): Frozen<T> {
  const flat = freezeFlat(value);
  if (flat !== undefined) return flat as Frozen<T>;
  const freezer = new Freezer(root);
  const frozen = freezer.freeze(value);
  return { value: frozen as Immutable<T>, bytes: freezer.bytes };
}

/**
 * {@link freezePlain} for a record of texts, numbers and booleans, as most specs are: without a walk. Undefined for
 * whatever is not quite that; it is looked at once more, part by part.
 */
function freezeFlat(value: unknown): Frozen<unknown> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const copy: Record<string, unknown> = { ...value };
  let bytes = RECORD_BYTES;
  for (const key in copy) {
    // what somebody put on Object.prototype
    if (!Object.hasOwn(copy, key)) return undefined;
    const part = copy[key];
    if (typeof part === "string") bytes += TEXT_BYTES + part.length;
    else if (isUsualNumber(part) || typeof part === "boolean") bytes += NUMBER_BYTES;
    else return undefined;
    bytes += PLACE_BYTES;
  }
  if (Object.getOwnPropertySymbols(copy).length > 0) return undefined;
  return { value: Object.freeze(copy), bytes };
}

/** Finite, and not -0. */
function isUsualNumber(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && !Object.is(value, -0);
}

class Freezer {
  bytes = 0;
  #parts = 0;
  readonly #root: string;
  /** From the root to the object or array at hand, once there is a nested one; made into text only for an error. */
  #path: (string | number)[] | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  freeze(value: unknown, key?: string | number): unknown {
    switch (typeof value) {
      case "string":
        this.bytes += TEXT_BYTES + value.length;
        return value;
      case "number":
        this.bytes += NUMBER_BYTES;
        if (!Number.isFinite(value)) throw this.#error(key, `must be a finite number, got ${value}`);
        return value === 0 ? 0 : value;
      case "boolean":
        this.bytes += NUMBER_BYTES;
        return value;
      case "bigint":
        this.bytes += 24;
        return value;
      case "object":
        return value === null ? null : this.#freezeObject(value, key);
      case "undefined":
      case "function":
      case "symbol":
        throw this.#error(key, `must be plain data, got ${describeValue(value)}`);
    }
  }

  #freezeObject(value: object, key: string | number | undefined): unknown {
    const prototype: unknown = Object.getPrototypeOf(value);
    const isRecord = prototype === Object.prototype || prototype === null;
    if (isRecord || Array.isArray(value)) return this.#within(value, key, isRecord);
    if (value instanceof Handle) return value;
    if (value instanceof OpaqueSpec) {
      this.bytes += value.byteLength;
      return value;
    }
    if (value instanceof Uint8Array) {
      this.bytes += 100 + value.byteLength;
      return new Uint8Array(value);
    }
    if (isForeignPlain(prototype as object)) return this.#within(value, key, true);
    throw this.#error(key, `must be plain data, got an instance of ${className(prototype as object)}`);
  }

  #within(value: object, key: string | number | undefined, isRecord: boolean): unknown {
    if (key === undefined) return this.#freezeParts(value, isRecord);
    const path = (this.#path ??= []);
    if (path.length === MAX_DEPTH) throw this.#error(key, `is nested deeper than ${MAX_DEPTH} levels, or is a cycle`);
    path.push(key);
    const frozen = this.#freezeParts(value, isRecord);
    path.pop();
    return frozen;
  }

  #freezeParts(value: object, isRecord: boolean): unknown {
    return isRecord ? this.#freezeRecord(value) : this.#freezeArray(value as unknown[]);
  }

  #freezeArray(value: readonly unknown[]): unknown {
    this.bytes += RECORD_BYTES + PLACE_BYTES * value.length;
    this.#count(value.length);
    const copy: unknown[] = [];
    for (let i = 0; i < value.length; i++) {
      const part = this.freeze(value[i], i);
      if (part instanceof Uint8Array) defineBytes(copy, i, part);
      else copy.push(part);
    }
    return Object.freeze(copy);
  }

  #freezeRecord(value: object): unknown {
    // spreading keeps the shape of the original, which makes the smallest copy, and the quickest
    const copy: Record<string, unknown> = { ...value };
    if (Object.getOwnPropertySymbols(copy).length > 0) return this.#freezeRecord(whatCounts(copy));
    const keys = Object.keys(copy);
    // before anything is frozen, so that nothing is frozen twice
    for (const key of keys) if (copy[key] === undefined) return this.#freezeRecord(whatCounts(copy));
    for (const key of keys) {
      const given = copy[key];
      const part = this.freeze(given, key);
      if (part === given) continue;
      if (part instanceof Uint8Array) defineBytes(copy, key, part);
      else if (key === "__proto__") defineOwn(copy, key, part);
      else copy[key] = part;
    }
    this.bytes += RECORD_BYTES + PLACE_BYTES * keys.length;
    this.#count(keys.length);
    return Object.freeze(copy);
  }

  #count(parts: number): void {
    this.#parts += 1 + parts;
    if (this.#parts > MAX_PARTS) throw this.#error(undefined, `makes the data larger than ${MAX_PARTS} parts`);
  }

  #error(key: string | number | undefined, reason: string): PlainDataError {
    const path = this.#path ?? [];
    return new PlainDataError(key === undefined ? [...path] : [...path, key], this.#root, reason);
  }
}

/** The parts of a record that count: not `undefined`, not under a symbol. */
function whatCounts(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const counting: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(record)) if (part !== undefined) defineOwn(counting, key, part);
  return counting;
}

function defineBytes(target: object, key: string | number, bytes: Uint8Array): void {
  Object.defineProperty(target, key, { enumerable: true, get: () => new Uint8Array(bytes) });
}

/** A plain object of another realm: its prototype has no prototype and is that realm's `Object.prototype`. */
function isForeignPlain(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "hasOwnProperty");
}

function className(prototype: object): string {
  const { constructor } = prototype as { constructor?: unknown };
  return typeof constructor === "function" && constructor.name !== "" ? constructor.name : "an unnamed class";
}
