import { defineOwn } from "../../internal/define-own.ts";
import { describeValue } from "../describe-value.ts";
import { Handle } from "./handle.ts";
import { OpaqueSpec } from "./opaque-spec.ts";
import type { SpecCodec } from "./spec-codec.ts";

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Keys that stand for what JSON lacks, and the same with more `$`, which stand for themselves. */
const RESERVED = /^\$+(?:bigint|bytes)$/;
/** A text without this holds no such key; an escape may hide one. */
const RESERVED_TEXT = /"\$+(?:bigint|bytes)"|\\u/;

/** Longer numbers are refused: reading one takes time quadratic in its length. Unit: digits. */
const MAX_BIGINT_LENGTH = 10_000;
/** As deep as plain data may be nested. */
const MAX_DEPTH = 200;

/**
 * The codec of types that bring none: JSON in UTF-8. What JSON lacks is written as an object with one key,
 * `{"$bigint":"12"}` or `{"$bytes":"<base64>"}`; an object that happens to look like one gets another `$` before its
 * key. No bytes are read as an empty object.
 */
export const jsonCodec: SpecCodec = Object.freeze({
  encode(spec: unknown): Uint8Array {
    return ENCODER.encode(JSON.stringify(isJson(spec) ? spec : toJson(spec)));
  },
  decode(bytes: Uint8Array): unknown {
    if (bytes.length === 0) return {};
    const text = DECODER.decode(bytes);
    const value: unknown = JSON.parse(text);
    return RESERVED_TEXT.test(text) ? fromJson(value, 0) : value;
  },
});

/** True when `JSON.stringify` loses nothing and nothing looks like what it is not. */
function isJson(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "bigint";
  if (Array.isArray(value)) return value.every(isJson);
  if (value instanceof Uint8Array || value instanceof Handle || value instanceof OpaqueSpec) return false;
  const keys = Object.keys(value);
  const [only] = keys;
  if (keys.length === 1 && only !== undefined && RESERVED.test(only)) return false;
  return keys.every((key) => isJson((value as Record<string, unknown>)[key]));
}

function toJson(value: unknown): unknown {
  if (typeof value === "bigint") return { $bigint: value.toString() };
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Uint8Array) return { $bytes: toBase64(value) };
  if (value instanceof Handle) throw new TypeError("a handle inside a spec wraps a live object and has no encoding");
  if (value instanceof OpaqueSpec) throw new TypeError("an opaque spec inside another spec has no encoding");
  const keys = Object.keys(value);
  const json: Record<string, unknown> = {};
  for (const key of keys) {
    const name = keys.length === 1 && RESERVED.test(key) ? `$${key}` : key;
    defineOwn(json, name, toJson((value as Record<string, unknown>)[key]));
  }
  return json;
}

function fromJson(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw new TypeError(`the spec is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return value.map((part) => fromJson(part, depth + 1));
  const keys = Object.keys(value);
  const [only] = keys;
  const record = value as Record<string, unknown>;
  if (keys.length === 1 && only === "$bigint") return readBigint(record["$bigint"]);
  if (keys.length === 1 && only === "$bytes") return readBytes(record["$bytes"]);
  const data: Record<string, unknown> = {};
  for (const key of keys) {
    const name = keys.length === 1 && RESERVED.test(key) ? key.slice(1) : key;
    defineOwn(data, name, fromJson(record[key], depth + 1));
  }
  return data;
}

function readBigint(text: unknown): bigint {
  if (typeof text === "string" && text.length <= MAX_BIGINT_LENGTH && /^-?[0-9]+$/.test(text)) return BigInt(text);
  throw new TypeError(`$bigint must be a text of decimal digits, got ${describeValue(text)}`);
}

function readBytes(text: unknown): Uint8Array {
  if (typeof text === "string" && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  }
  throw new TypeError(`$bytes must be a text in base64, got ${describeValue(text)}`);
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
