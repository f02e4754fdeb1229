import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { isTimestamp } from "./timestamp.ts";

describe("isTimestamp", () => {
  test.for([
    "1970-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999999Z",
    "2024-02-29T00:00:00+14:00",
    "2000-02-29T23:59:59.1-23:59",
    "2023-03-01T08:00:00.12345678901234567890Z",
  ])("accepts %s", (text) => expect(isTimestamp(text)).toBe(true));

  test.for([
    "",
    "2023-03-01",
    "2023-03-01T08:00Z",
    "2023-03-01T08:00:00",
    "2023-03-01 08:00:00Z",
    "2023-03-01t08:00:00Z",
    "2023-03-01T08:00:00z",
    "2023-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2023-04-31T00:00:00Z",
    "2023-13-01T00:00:00Z",
    "2023-00-01T00:00:00Z",
    "2023-01-00T00:00:00Z",
    "2023-01-01T24:00:00Z",
    "2023-01-01T23:60:00Z",
    "2023-01-01T23:59:60Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "2023-01-01T00:00:00.Z",
    "2023-01-01T00:00:00.123456789012345678901Z",
    "2023-01-01T00:00:00+0100",
    "2023-01-01T00:00:00+24:00",
    "2023-01-01T00:00:00+01:60",
    "2023-01-01T00:00:00ZZ",
    "2023-01-01T00:00:00Z\n",
    "+02023-01-01T00:00:00Z",
    "２023-01-01T00:00:00Z",
  ])("refuses %o", (text) => expect(isTimestamp(text)).toBe(false));

  property.prop([
    fc.date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true }),
  ])("accepts every date", (date) => {
    expect(isTimestamp(date.toISOString())).toBe(true);
  });

  const part = (low: number, high: number, width: number) =>
    fc.integer({ min: low, max: high }).map((n) => `${n}`.padStart(width, "0"));
  property.prop([part(1, 9999, 4), part(0, 13, 2), part(0, 32, 2), part(0, 24, 2), part(0, 60, 2), part(0, 60, 2)])(
    "accepts the dates that the calendar has",
    (year, month, day, hour, minute, second) => {
      const text = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
      const date = new Date(0);
      date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
      date.setUTCHours(Number(hour), Number(minute), Number(second));
      expect(isTimestamp(text)).toBe(date.toISOString() === text.replace("Z", ".000Z"));
    },
  );
});
