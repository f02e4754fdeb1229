import { describeValue } from "../describe-value.ts";
import { StateError } from "../state-error.ts";

/** The moment that an unset time stands for. */
export const EPOCH = "1970-01-01T00:00:00Z";

const CODE_0 = 48;
/** Longer fractions of a second are refused. Unit: digits. */
const MAX_FRACTION_DIGITS = 20;
const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * True for a time in RFC 3339, in capitals: `2023-03-01T08:00:00.123456789Z`, or with an offset such as `+02:00`. The
 * year must be 1–9999, also in UTC. (`Date.parse` would accept the 30th of February, and more.)
 */
export function isTimestamp(text: string): boolean {
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2)];
  const [hour, minute, second] = [digits(text, 11, 2), digits(text, 14, 2), digits(text, 17, 2)];
  if (!(year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month))) return false;
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return false;
  if (text[4] !== "-" || text[7] !== "-" || text[10] !== "T" || text[13] !== ":" || text[16] !== ":") return false;
  return isZone(text, fractionEnd(text), year);
}

/** A number of `count` decimal digits; NaN when others stand there. */
function digits(text: string, from: number, count: number): number {
  let value = 0;
  for (let i = from; i < from + count; i++) {
    const digit = text.charCodeAt(i) - CODE_0;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

function daysOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && !isLeap ? 28 : (DAYS_OF_MONTH[month - 1] ?? 0);
}

/** Where the fraction of a second ends, if there is one. */
function fractionEnd(text: string): number {
  if (text[19] !== ".") return 19;
  let end = 20;
  while (end <= 20 + MAX_FRACTION_DIGITS && digits(text, end, 1) >= 0) end++;
  return end > 20 && end <= 20 + MAX_FRACTION_DIGITS ? end : Number.NaN;
}

function isZone(text: string, at: number, year: number): boolean {
  if (text[at] === "Z") return text.length === at + 1;
  if ((text[at] !== "+" && text[at] !== "-") || text[at + 3] !== ":" || text.length !== at + 6) return false;
  if (!(digits(text, at + 1, 2) <= 23 && digits(text, at + 4, 2) <= 59)) return false;
  return (year > 1 && year < 9999) || hasPlainYear(text);
}

function hasPlainYear(text: string): boolean {
  const year = new Date(text.replace(/\.\d+/, "")).getUTCFullYear();
  return year >= 1 && year <= 9999;
}

/**
 * Order of two moments in RFC 3339: negative, 0 or positive. What is finer than a nanosecond does not count.
 *
 * @throws {StateError} `invalid` when a text is no time.
 */
export function compareTimes(a: string, b: string): number {
  if (a === b) return 0;
  const [x, y] = [momentOf(a), momentOf(b)];
  return x.ms - y.ms || x.nanos - y.nanos;
}

/** A moment in whole milliseconds since the epoch, and the nanoseconds from there on: less than a million. */
export interface Moment {
  readonly ms: number;
  readonly nanos: number;
}

/** The moment of a time in RFC 3339. @throws {StateError} `invalid` when it is none. */
export function momentOf(text: string): Moment {
  if (!isTimestamp(text)) {
    throw new StateError("invalid", `a time must be in RFC 3339, such as ${EPOCH}, got ${describeValue(text)}`);
  }
  const end = fractionEnd(text);
  const fraction = text.slice(20, end).padEnd(9, "0");
  const ms = Date.parse(`${text.slice(0, 19)}.${fraction.slice(0, 3)}${text.slice(end)}`);
  return { ms, nanos: Number(fraction.slice(3, 9)) };
}
