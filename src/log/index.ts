// Logging as a port: what the library asks of a logger, a silent one, and one that writes lines to the console.
// Start with logger.ts; everything else in the house may use this room.
export { jsonLogger, type JsonLoggerOptions } from "./json-logger.ts";
export { consoleLogger, LogLevel, type ConsoleLoggerOptions } from "./console-logger.ts";
export { silentLogger, type LogFields, type Logger } from "./logger.ts";
