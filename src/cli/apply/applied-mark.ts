import { createHash } from "node:crypto";
import { Handle, OpaqueSpec } from "../../resource/index.ts";
import { formatJson } from "../print/readable-value.ts";

/**
 * Annotation with the digest of the spec that was last applied. The State completes specs with defaults, so that what
 * is stored differs from what was applied; the digest tells a spec that was completed from one of which something was
 * taken out since.
 */
export const APPLIED_ANNOTATION = "homeostat/applied";

export function digestOf(spec: unknown): string {
  return createHash("sha256")
    .update(formatJson(sortKeys(spec)))
    .digest("base64url");
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, sortKeys(part)]));
}

/**
 * True when `whole` says everything that `part` says; mappings may say more.
 *
 * @param isLoose - A number may have become a text, as protobuf's JSON does with large ones. Default: false.
 */
export function covers(whole: unknown, part: unknown, isLoose = false): boolean {
  if (Array.isArray(part)) {
    if (!Array.isArray(whole) || whole.length !== part.length) return false;
    return part.every((one, i) => covers(whole[i], one, isLoose));
  }
  if (isRecord(part)) {
    if (!isRecord(whole)) return false;
    return Object.entries(part).every(([key, one]) => Object.hasOwn(whole, key) && covers(whole[key], one, isLoose));
  }
  const [a, b] = [formatJson(whole), formatJson(part)];
  return a === b || (isLoose && typeof whole === "string" && typeof part !== "string" && a === `"${b}"`);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Uint8Array || value instanceof Handle || value instanceof OpaqueSpec);
