import { describeValue } from "../describe-value.ts";
import { EMPTY_DICTIONARY, type Dictionary } from "../metadata/dictionary.ts";
import { formatPointer, type Pointer } from "../pointer.ts";
import { StateError } from "../state-error.ts";

/** Longest key of a label: as in Kubernetes, a DNS name of 253 characters, a slash, a name of 63. Unit: UTF-16 units. */
const MAX_LABEL_KEY_LENGTH = 317;

/** What a selector takes without quotes: letters, marks and digits of any script, and `. _ / : @ + * ~ -`. */
export const LABEL_WORD: RegExp = /[\p{L}\p{M}\p{N}._/:@+*~-]+/u;

/** Decides for nearly all keys, and is several times faster. */
const ASCII_KEY = /^[\w./:@+*~-]+$/;
const ANY_KEY = new RegExp(`^${LABEL_WORD.source}$`, "u");

/**
 * Why `key` cannot be the key of a label; undefined when it can. The one rule for labels that are written and for those
 * that are asked for: what can be set can be selected.
 */
export function labelKeyMistake(key: string): string | undefined {
  if (key.length <= MAX_LABEL_KEY_LENGTH && (ASCII_KEY.test(key) || ANY_KEY.test(key))) return undefined;
  if (key === "") return "a label key must not be empty";
  if (key.length > MAX_LABEL_KEY_LENGTH) {
    return `a label key has at most ${MAX_LABEL_KEY_LENGTH} characters, ${describeValue(key)} has ${key.length}`;
  }
  return `a label key consists of letters, digits and . _ / : @ + * ~ -, got ${describeValue(key)}`;
}

/** Checks the keys of labels that are about to be stored. @throws {StateError} `invalid` */
export function checkLabelKeys(pointer: Pointer, labels: Dictionary): void {
  if (labels === EMPTY_DICTIONARY) return;
  for (const key of Object.keys(labels)) {
    const mistake = labelKeyMistake(key);
    if (mistake === undefined) continue;
    throw new StateError("invalid", `${formatPointer(pointer)} is invalid: metadata.labels: ${mistake}`, { pointer });
  }
}
