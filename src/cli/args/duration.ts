import { usageError } from "../cli-error.ts";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Timers cannot wait longer. */
const MAX_MS = 2 ** 31 - 1;

/**
 * Reads `500ms`, `30s`, `5m`, `1h` or a plain number of seconds.
 *
 * @returns milliseconds; undefined for 0, which means no limit.
 * @throws {CliError} usage
 */
export function parseDuration(text: string): number | undefined {
  const [, number = "", unit = "s"] = /^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Math.ceil(Number(number) * (UNITS[unit] ?? 1));
  if (number === "" || ms > MAX_MS) {
    throw usageError(`a time such as 500ms, 30s or 5m was expected, got ${JSON.stringify(text)}`);
  }
  return ms === 0 ? undefined : ms;
}
