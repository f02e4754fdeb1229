import { describeValue } from "../describe-value.ts";
import { StateError } from "../state-error.ts";

/** Version of a resource that no State has stored yet. */
export const UNDEFINED_VERSION = "undefined";

const MAX_VALUE = 2n ** 64n - 1n;

/**
 * Checks the text of a version: the word `undefined`, or decimal digits within 64 bits. Leading zeros are dropped.
 *
 * @throws {StateError} `invalid` for anything else.
 */
export function parseVersion(text: string): string {
  if (text === UNDEFINED_VERSION) return text;
  if (typeof text === "string" && /^[0-9]{1,40}$/.test(text)) {
    // A short number without leading zeros, as nearly all are, is in its final form.
    if (text.length < 16 && text[0] !== "0") return text;
    const value = BigInt(text);
    if (value <= MAX_VALUE) return value.toString();
  }
  throw new StateError(
    "invalid",
    `version must be "undefined" or a decimal number of 64 bits, got ${describeValue(text)}`,
  );
}

/** The version after `version`: 1 after `undefined`. */
export function nextVersion(version: string): string {
  if (version === UNDEFINED_VERSION) return "1";
  if (version.length < 16) return String(Number(version) + 1);
  return (BigInt(version) + 1n).toString();
}

/** Numeric order of two versions; `undefined` counts as 0. For equality compare the strings. */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0;
  const [x, y] = [versionNumber(a), versionNumber(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

function versionNumber(version: string): bigint {
  return version === UNDEFINED_VERSION ? 0n : BigInt(version);
}
