import { compareText } from "../../internal/compare-text.ts";
import type { Dictionary } from "../metadata/dictionary.ts";
import { describeValue } from "../describe-value.ts";
import { parseQuantity } from "./quantity.ts";

/** How a label term compares. The first three answer for a missing label as well; the comparisons have no answer then. */
export const LabelOperator = {
  exists: "exists",
  equal: "equal",
  in: "in",
  lessThan: "lessThan",
  lessOrEqual: "lessOrEqual",
  lessThanNumeric: "lessThanNumeric",
  lessOrEqualNumeric: "lessOrEqualNumeric",
} as const;
export type LabelOperator = (typeof LabelOperator)[keyof typeof LabelOperator];

/** One condition on one label. */
export interface LabelTerm {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
  /** Negates the answer; a comparison that has no answer stays false even so. */
  readonly invert: boolean;
}

/** Terms that must all hold. Without terms it matches everything. */
export type LabelQuery = readonly LabelTerm[];

const term = (key: string, operator: LabelOperator, values: readonly string[]): LabelTerm =>
  Object.freeze({ key, operator, values: Object.freeze([...values]), invert: false });

/** The label is there, whatever its value. */
export const exists = (key: string): LabelTerm => term(key, LabelOperator.exists, []);
/** The label has this value. */
export const equal = (key: string, value: string): LabelTerm => term(key, LabelOperator.equal, [value]);
/** The label has one of the values. */
export const oneOf = (key: string, ...values: readonly string[]): LabelTerm => term(key, LabelOperator.in, values);
/** Comparison as text, by UTF-8 bytes. */
export const lessThan = (key: string, value: string): LabelTerm => term(key, LabelOperator.lessThan, [value]);
/** Comparison as text, by UTF-8 bytes; equal texts match. */
export const lessOrEqual = (key: string, value: string): LabelTerm => term(key, LabelOperator.lessOrEqual, [value]);
/** Comparison as numbers with units, such as `10kg` or `4GiB`; false when either side is no number. */
export const lessThanNumeric = (key: string, value: string): LabelTerm =>
  term(key, LabelOperator.lessThanNumeric, [value]);
/** Comparison as numbers with units, as {@link lessThanNumeric}; equal numbers match. */
export const lessOrEqualNumeric = (key: string, value: string): LabelTerm =>
  term(key, LabelOperator.lessOrEqualNumeric, [value]);
/** The opposite. `not(lessOrEqual…)` is "greater than", and does not match a missing label; `not(equal…)` does. */
export const not = (inverted: LabelTerm): LabelTerm => Object.freeze({ ...inverted, invert: !inverted.invert });

/** True when all terms of `query` hold for `labels`. @throws {RangeError} for an unknown operator. */
export function matchesLabels(query: LabelQuery, labels: Dictionary): boolean {
  return query.every((one) => matchesTerm(one, labels));
}

function matchesTerm({ key, operator, values, invert }: LabelTerm, labels: Dictionary): boolean {
  const answer = compare(operator, Object.hasOwn(labels, key) ? labels[key] : undefined, values);
  return answer !== undefined && answer !== invert;
}

const KNOWN_OPERATORS: ReadonlySet<string> = new Set(Object.values(LabelOperator));
const ANSWER_FOR_MISSING: ReadonlySet<LabelOperator> = new Set([
  LabelOperator.exists,
  LabelOperator.equal,
  LabelOperator.in,
]);

/** True, false, or undefined when the two sides cannot be compared. */
function compare(operator: LabelOperator, label: string | undefined, values: readonly string[]): boolean | undefined {
  if (!KNOWN_OPERATORS.has(operator)) throw new RangeError(`unknown label operator ${describeValue(operator)}`);
  if (label === undefined) return ANSWER_FOR_MISSING.has(operator) ? false : undefined;
  if (operator === LabelOperator.exists) return true;
  const [value] = values;
  if (value === undefined) return false;
  switch (operator) {
    case LabelOperator.equal:
      return label === value;
    case LabelOperator.in:
      return values.includes(label);
    case LabelOperator.lessThan:
      return compareText(label, value) < 0;
    case LabelOperator.lessOrEqual:
      return compareText(label, value) <= 0;
    case LabelOperator.lessThanNumeric:
      return compareNumeric(label, value, (a, b) => a < b);
    case LabelOperator.lessOrEqualNumeric:
      return compareNumeric(label, value, (a, b) => a <= b);
  }
}

function compareNumeric(label: string, value: string, holds: (a: bigint, b: bigint) => boolean): boolean | undefined {
  const [a, b] = [parseQuantity(label), parseQuantity(value)];
  return a === undefined || b === undefined ? undefined : holds(a, b);
}
