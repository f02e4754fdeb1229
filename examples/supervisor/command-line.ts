import { join, resolve } from "node:path";

import { Command, InvalidArgumentError, Option } from "commander";

/** Below this level the runtime's own log lines are not written. */
export type LogLevel = "debug" | "info" | "warn" | "error";

const LOG_LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** What the command line asks for. */
export interface CommandLine {
  readonly folder: string;
  /** Undefined for `.homeostat` in the folder. */
  readonly stateFolder: string | undefined;
  /** False for one line per change in place of the live table. */
  readonly table: boolean;
  readonly logLevel: LogLevel;
  /** Where the state is served. Undefined for the usual place, empty for nowhere. */
  readonly listen: string | undefined;
}

/**
 * Reads the command line, and prints what there is to say of it. Paths are relative to `from`.
 *
 * @throws {CommanderError} with `exitCode` 0 for `--help`, another one for a mistake.
 */
export function parseCommandLine(args: readonly string[], from: string): CommandLine {
  const toAddress = (address: string): string => {
    const [, scheme, rest = ""] = /^(none$|unix:|tcp:)(.*)$/.exec(address) ?? [];
    if (scheme === "none") return "";
    if (rest === "") throw new InvalidArgumentError("It must be unix:PATH, tcp:HOST:PORT or none.");
    return scheme === "unix:" ? `unix:${resolve(from, rest)}` : address;
  };
  const toPath = (path: string): string => resolve(from, path);
  const command = new Command("npm start --")
    .usage("[folder] [options]")
    .description("Keeps processes the way YAML manifests declare them.")
    .argument("[folder]", "folder of manifests (default: the example that comes along)", toPath)
    .option("--state-dir <folder>", "where logs and records are kept (default: .homeostat in the folder)", toPath)
    .option("--no-tui", "one line per change instead of a live table; the default without a terminal")
    .option(
      "--listen <address>",
      "where the state is served (default: where homeostat looks, if it is free)",
      toAddress,
    )
    .addOption(new Option("--log-level <level>", "lines of the runtime itself").choices(LOG_LEVELS).default("warn"))
    .helpOption("-h, --help", "this text")
    .addHelpText("after", "\nCtrl-C stops all processes in order; a second one kills them.")
    .exitOverride()
    .parse(args, { from: "user" });
  const { stateDir, tui, listen, logLevel } = command.opts<{
    stateDir?: string;
    tui: boolean;
    listen?: string;
    logLevel: LogLevel;
  }>();
  const [folder = join(import.meta.dirname, "manifests")] = command.processedArgs as [string?];
  return { folder, stateFolder: stateDir, table: tui, logLevel, listen };
}
