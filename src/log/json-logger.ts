import { describeForeign, isErrorValue, messageOf, readForeign } from "../internal/foreign-value.ts";
import { SEVERITY, type LogLevel } from "./console-logger.ts";
import type { LogFields, Logger } from "./logger.ts";

/** What {@link jsonLogger} writes. */
export interface JsonLoggerOptions {
  /** Lines below this level are not written. Default: `info`. */
  readonly level?: LogLevel | undefined;
  /** Takes each line, without its line break. Default: standard error, by way of `console.error`. */
  readonly write?: ((line: string) => void) | undefined;
  /** Gives the time of a line, in milliseconds since the epoch. Default: the system's. */
  readonly now?: (() => number) | undefined;
}

/** Fields of the line itself: those of the same name in what is logged come with an underscore. */
const OWN: ReadonlySet<string> = new Set(["time", "level", "message"]);

/**
 * A logger for machines: an object a line, `{"time":"…","level":"info","message":"…", …fields}`. An error is an object with
 * `name`, `message` and `stack`, and what JSON cannot say becomes its text.
 */
export function jsonLogger(options: JsonLoggerOptions = {}): Logger {
  const { level = "info", write = (line) => console.error(line), now = Date.now } = options;
  const log = (bound: LogFields, at: LogLevel, message: string, fields: LogFields = {}): void => {
    if (SEVERITY[at] < SEVERITY[level]) return;
    write(
      JSON.stringify({ time: new Date(now()).toISOString(), level: at, message, ...readable({ ...bound, ...fields }) }),
    );
  };
  const make = (bound: LogFields): Logger => ({
    debug: (message, fields) => log(bound, "debug", message, fields),
    info: (message, fields) => log(bound, "info", message, fields),
    warn: (message, fields) => log(bound, "warn", message, fields),
    error: (message, fields) => log(bound, "error", message, fields),
    child: (fields) => make({ ...bound, ...fields }),
  });
  return make({});
}

const readable = (fields: LogFields): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [OWN.has(name) ? `_${name}` : name, asJson(value)]));

/** The value as JSON can say it. */
function asJson(value: unknown): unknown {
  if (isErrorValue(value)) {
    const { name, stack } = { name: readForeign(value, "name"), stack: readForeign(value, "stack") };
    return { name: textOr(name, "Error"), message: messageOf(value), stack: textOr(stack, "") };
  }
  if (typeof value === "bigint") return String(value);
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    // A cycle, a bigint inside, a getter that throws.
    return describeForeign(value);
  }
}

const textOr = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise);
