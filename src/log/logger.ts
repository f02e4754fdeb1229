/** Facts of a log line, by name. Values should be plain data or errors. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where log lines go. `console` does not fit; {@link consoleLogger} and thin wrappers of pino and the like do. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each of its lines. */
  child(fields: LogFields): Logger;
}

/** A logger that writes nothing. */
export const silentLogger: Logger = Object.freeze({
  debug() {},
  info() {},
  warn() {},
  error() {},
  child(): Logger {
    return silentLogger;
  },
});
