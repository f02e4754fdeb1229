import type { LogFields, Logger, LogLevel } from "../../log/index.ts";

/** A line as {@link RecordingLogger} keeps it. */
export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that keeps what it was told, so that a test can look at it. Its children write to the same list. */
export class RecordingLogger implements Logger {
  readonly #lines: LogLine[] = [];
  readonly #root: Logger = loggerInto(this.#lines, {});

  /** All lines so far, oldest first. */
  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  debug(message: string, fields?: LogFields): void {
    this.#root.debug(message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#root.info(message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#root.warn(message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#root.error(message, fields);
  }

  child(fields: LogFields): Logger {
    return this.#root.child(fields);
  }
}

function loggerInto(lines: LogLine[], common: LogFields): Logger {
  const write = (level: LogLevel) => (message: string, fields?: LogFields) => {
    lines.push({ level, message, fields: { ...common, ...fields } });
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (fields) => loggerInto(lines, { ...common, ...fields }),
  };
}
