import type { WireReader, WireWriter } from "../wire/index.ts";

const NANOS_PER_SECOND = 1_000_000_000;
const SECONDS_PER_DAY = 86_400;

/** The first and the last second that RFC 3339 can express: years 1 to 9999. */
const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;

const SECONDS_TAG = 0x08;
const NANOS_TAG = 0x10;

/** A moment as protobuf's Timestamp has it: the nanoseconds always count forwards. */
export interface Instant {
  readonly seconds: number;
  readonly nanos: number;
}

/** The moment of an RFC 3339 time, which must be valid. What is finer than a nanosecond is dropped. */
export function instantOf(text: string): Instant {
  const days = daysFromCivil(digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2));
  const time = digits(text, 11, 2) * 3600 + digits(text, 14, 2) * 60 + digits(text, 17, 2);
  let at = 19;
  let nanos = 0;
  if (text[at] === ".") {
    at++;
    for (let unit = NANOS_PER_SECOND / 10; isDigit(text, at); at++, unit = Math.floor(unit / 10)) {
      nanos += digits(text, at, 1) * unit;
    }
  }
  return { seconds: days * SECONDS_PER_DAY + time - offsetSeconds(text, at), nanos };
}

/**
 * RFC 3339 in UTC, with as many digits as the nanoseconds need: none, three, six or nine. Nanoseconds outside their
 * range carry over; moments outside the years 1 to 9999 become the nearest inside.
 */
export function formatInstant(seconds: number, nanos: number): string {
  const carry = Math.floor(nanos / NANOS_PER_SECOND);
  const whole = seconds + carry;
  if (whole < FIRST_SECOND) return formatInstant(FIRST_SECOND, 0);
  if (whole > LAST_SECOND) return formatInstant(LAST_SECOND, NANOS_PER_SECOND - 1);
  return formatParts(whole, nanos - carry * NANOS_PER_SECOND);
}

/** A Timestamp field; absent parts are 0. */
export function writeTimestamp(writer: WireWriter, tag: number, text: string): void {
  const { seconds, nanos } = instantOf(text);
  const mark = writer.open(tag);
  if (seconds !== 0) {
    writer.uint32(SECONDS_TAG);
    writer.int64(seconds);
  }
  if (nanos !== 0) writer.uint32Field(NANOS_TAG, nanos);
  writer.close(mark);
}

/** The moment in a Timestamp field. `before` is what an earlier field of the same number said: the two are merged. */
export function readTimestamp(reader: WireReader, before: Instant | undefined): Instant {
  let { seconds, nanos } = before ?? { seconds: 0, nanos: 0 };
  const outer = reader.enter();
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === SECONDS_TAG) seconds = reader.int64();
    else if (tag === NANOS_TAG) nanos = reader.int32();
    else reader.skip(tag);
  }
  reader.leave(outer);
  return { seconds, nanos };
}

/** Codes of the last three digits. */
const hundreds = (value: number): number => CODE_0 + (Math.floor(value / 100) % 10);
const tens = (value: number): number => CODE_0 + (Math.floor(value / 10) % 10);
const ones = (value: number): number => CODE_0 + (value % 10);

/** Seconds that the zone at `at` is ahead of UTC. */
function offsetSeconds(text: string, at: number): number {
  if (text[at] === "Z") return 0;
  const offset = digits(text, at + 1, 2) * 3600 + digits(text, at + 4, 2) * 60;
  return text[at] === "-" ? -offset : offset;
}

const CODE_0 = 48;
const [DASH, DOT, COLON, LETTER_T, LETTER_Z] = [45, 46, 58, 84, 90] as const;

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= CODE_0 && code <= CODE_0 + 9;
}

function digits(text: string, from: number, count: number): number {
  let value = 0;
  for (let i = from; i < from + count; i++) value = value * 10 + text.charCodeAt(i) - CODE_0;
  return value;
}

/** Days in 400 years, after which the calendar repeats itself. */
const ERA_DAYS = 146_097;
/** Days from 1 March of the year 0 to 1 January 1970. Years that start in March have their leap day at the end. */
const EPOCH_DAYS = 719_468;

/** Days from 1970-01-01 to a day of the Gregorian calendar. */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * ERA_DAYS + dayOfEra - EPOCH_DAYS;
}

/**
 * The text of a moment. Every resource has two of them, and one call with all the characters makes one string; joining
 * pieces makes many, which live as long as it.
 */
function formatParts(whole: number, nanos: number): string {
  const days = Math.floor(whole / SECONDS_PER_DAY);
  const secondOfDay = whole - days * SECONDS_PER_DAY;
  const shifted = days + EPOCH_DAYS;
  const era = Math.floor(shifted / ERA_DAYS);
  const dayOfEra = shifted - era * ERA_DAYS;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const century = Math.floor(year / 100);
  const hour = Math.floor(secondOfDay / 3600);
  const minute = Math.floor(secondOfDay / 60) % 60;
  const second = secondOfDay % 60;
  const millis = Math.floor(nanos / 1_000_000);
  const micros = Math.floor(nanos / 1000) % 1000;
  const rest = nanos % 1000;
  // All 30 characters; the text may end earlier.
  const text = String.fromCharCode(
    tens(century),
    ones(century),
    tens(year),
    ones(year),
    DASH,
    tens(month),
    ones(month),
    DASH,
    tens(day),
    ones(day),
    LETTER_T,
    tens(hour),
    ones(hour),
    COLON,
    tens(minute),
    ones(minute),
    COLON,
    tens(second),
    ones(second),
    nanos === 0 ? LETTER_Z : DOT,
    hundreds(millis),
    tens(millis),
    ones(millis),
    micros === 0 && rest === 0 ? LETTER_Z : hundreds(micros),
    tens(micros),
    ones(micros),
    rest === 0 ? LETTER_Z : hundreds(rest),
    tens(rest),
    ones(rest),
    LETTER_Z,
  );
  return rest > 0 ? text : text.slice(0, nanos === 0 ? 20 : micros === 0 ? 24 : 27);
}
