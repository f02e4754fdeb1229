import { describeForeign, isErrorValue, messageOf } from "../internal/foreign-value.ts";
import { onOneLine, stackFrames, withoutControls } from "../internal/visible-text.ts";
import type { LogFields, Logger } from "./logger.ts";

/** How much matters: see the constants of the same name. */
export const LogLevel = { debug: "debug", info: "info", warn: "warn", error: "error" } as const;
export type LogLevel = (typeof LogLevel)[keyof typeof LogLevel];

/** What {@link consoleLogger} writes, and how. */
export interface ConsoleLoggerOptions {
  /** Lines below this level are not written. Default: `info`. */
  readonly level?: LogLevel | undefined;
  /** Colours the level. Default: false. */
  readonly color?: boolean | undefined;
  /** Takes each line, without its line break. Default: standard error, by way of `console.error`. */
  readonly write?: ((line: string) => void) | undefined;
  /** Gives the time of a line, in milliseconds since the epoch. Default: the system's. */
  readonly now?: (() => number) | undefined;
}

/** The order of the levels. */
export const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
const COLOR: Readonly<Record<LogLevel, number>> = { debug: 35, info: 34, warn: 33, error: 31 };

/** A logger for people: time, level, message, then the fields as `name=value`; an error's stack on lines of its own. */
export function consoleLogger(options: ConsoleLoggerOptions = {}): Logger {
  const { level = "info", color = false, write = writeToStderr, now = Date.now } = options;
  return new ConsoleLogger({ least: SEVERITY[level], color, write, now }, "");
}

interface Sink {
  readonly least: number;
  readonly color: boolean;
  readonly write: (line: string) => void;
  readonly now: () => number;
}

class ConsoleLogger implements Logger {
  readonly #sink: Sink;
  /** The fields of the logger itself, formatted. */
  readonly #suffix: string;

  constructor(sink: Sink, suffix: string) {
    this.#sink = sink;
    this.#suffix = suffix;
  }

  debug(message: string, fields?: LogFields): void {
    this.#log("debug", message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#log("info", message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#log("warn", message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#log("error", message, fields);
  }

  child(fields: LogFields): Logger {
    return new ConsoleLogger(this.#sink, this.#suffix + formatFields(fields));
  }

  #log(level: LogLevel, message: string, fields: LogFields = {}): void {
    const { least, color, write, now } = this.#sink;
    if (SEVERITY[level] < least) return;
    const name = level.toUpperCase().padEnd(5);
    const shown = color ? `\u001b[${COLOR[level]}m${name}\u001b[0m` : name;
    const stacks = Object.values(fields)
      .filter(isErrorValue)
      .map((error) => `\n${onOneLine(describeForeign(error))}\n${stackFrames(error)}`.trimEnd());
    write(
      `${new Date(now()).toISOString()} ${shown} ${onOneLine(message)}${this.#suffix}${formatFields(fields)}${stacks.join("")}`,
    );
  }
}

function formatFields(fields: LogFields): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${formatValue(value)}`)
    .join("");
}

/** Line breaks and the like cannot leave the line: what is not plain text is quoted. */
function formatValue(value: unknown): string {
  return withoutControls(describe(value));
}

function describe(value: unknown): string {
  if (isErrorValue(value)) return JSON.stringify(messageOf(value));
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
  try {
    return JSON.stringify(value) ?? describeForeign(value);
  } catch {
    return `[${typeof value}]`;
  }
}

function writeToStderr(line: string): void {
  globalThis.console.error(line);
}
