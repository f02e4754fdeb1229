import { EPOCH } from "../../resource/index.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** One unit, and how much of the next smaller one is worth showing beside it. */
type Unit = readonly [belowMs: number, sizeMs: number, name: string, restMs: number, restName: string];

/** As kubectl does: two units while the second still tells something. */
const UNITS: readonly Unit[] = [
  [2 * MINUTE, SECOND, "s", 0, ""],
  [10 * MINUTE, MINUTE, "m", SECOND, "s"],
  [3 * HOUR, MINUTE, "m", 0, ""],
  [8 * HOUR, HOUR, "h", MINUTE, "m"],
  [2 * DAY, HOUR, "h", 0, ""],
  [8 * DAY, DAY, "d", HOUR, "h"],
  [2 * YEAR, DAY, "d", 0, ""],
  [8 * YEAR, YEAR, "y", DAY, "d"],
  [Infinity, YEAR, "y", 0, ""],
];

/** A time as its distance from now: `90s`, `5m30s`, `3d4h`; `<unknown>` for one that was never set. */
export function formatAge(timestamp: string, nowMs: number): string {
  const thenMs = Date.parse(timestamp);
  if (Number.isNaN(thenMs) || timestamp === EPOCH) return "<unknown>";
  // Clocks of two machines differ a little: what lies ahead is new.
  const ageMs = Math.max(0, nowMs - thenMs);
  const [, sizeMs, name, restMs, restName] = UNITS.find(([belowMs]) => ageMs < belowMs) ?? [0, YEAR, "y", 0, ""];
  const rest = restMs === 0 ? 0 : Math.floor((ageMs % sizeMs) / restMs);
  return `${Math.floor(ageMs / sizeMs)}${name}${rest === 0 ? "" : `${rest}${restName}`}`;
}
