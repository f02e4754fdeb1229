import { type Logger, consoleLogger, jsonLogger, LogLevel } from "../../log/index.ts";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";

/** How much is logged, and in which form. */
export interface LogOptions {
  readonly logLevel: string;
  /** `text` or `json`. Default: `text`. */
  readonly logFormat?: string | undefined;
}

/** A logger whose lines go to standard error. @throws {CliError} usage, for a level or a format that there is not. */
export function stderrLogger({ stderr, color }: CommandContext, options: LogOptions): Logger {
  const { logLevel: level, logFormat: format = "text" } = options;
  if (format !== "text" && format !== "json") {
    throw usageError(`--log-format must be text or json, got ${JSON.stringify(format)}`);
  }
  const known = Object.values(LogLevel).find((one) => one === level);
  if (known === undefined) {
    throw usageError(`--log-level must be ${Object.values(LogLevel).join(", ")}, got ${JSON.stringify(level)}`);
  }
  // A log whose reader is gone is no reason to stop.
  const write = (line: string): void => void stderr.write(`${line}\n`).catch(() => undefined);
  if (format === "json") return jsonLogger({ level: known, write });
  return consoleLogger({ level: known, color: color && stderr.isTerminal, write });
}
