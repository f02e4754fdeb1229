import { type Logger, consoleLogger, LogLevel } from "../../log/index.ts";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";

/** A logger whose lines go to standard error. @throws {CliError} usage, for a level that there is not. */
export function stderrLogger({ stderr, color }: CommandContext, level: string): Logger {
  const known = Object.values(LogLevel).find((one) => one === level);
  if (known === undefined) {
    throw usageError(`--log-level must be ${Object.values(LogLevel).join(", ")}, got ${JSON.stringify(level)}`);
  }
  return consoleLogger({
    level: known,
    color: color && stderr.isTerminal,
    // A log whose reader is gone is no reason to stop.
    write: (line) => void stderr.write(`${line}\n`).catch(() => undefined),
  });
}
