import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

/** Below this level the runtime's own log lines are not written. */
export type LogLevel = "debug" | "info" | "warn" | "error";

const LOG_LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** What the command line asks for. */
export type CommandLine =
  | {
      readonly kind: "run";
      readonly folder: string;
      readonly stateFolder: string | undefined;
      readonly table: boolean;
      readonly logLevel: LogLevel;
      /** Where the state is served. Undefined for the usual place, empty for nowhere. */
      readonly listen: string | undefined;
    }
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "mistake"; readonly message: string };

const HELP = `Keeps processes the way YAML manifests declare them.

Usage: npm start -- [folder] [options]

  folder                 Folder of manifests. Default: the example that comes along.

Options:
  --state-dir <folder>   Where logs and records are kept. Default: .homeostat in the folder of manifests.
  --no-tui               Write one line per change instead of a live table. Default where there is no terminal.
  --listen <address>     Where the state is served: unix:PATH, tcp:HOST:PORT or none. Default: where the command
                         homeostat looks, if no other server listens there.
  --log-level <level>    Lines of the runtime itself: ${LOG_LEVELS.join(", ")}. Default: warn.
  -h, --help             This text.

Ctrl-C stops all processes in order; a second one kills them.
`;

/** Reads the command line. Paths are relative to `from`. */
export function parseCommandLine(args: readonly string[], from: string): CommandLine {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        "state-dir": { type: "string" },
        "no-tui": { type: "boolean" },
        listen: { type: "string" },
        "log-level": { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help === true) return { kind: "help", text: HELP };
    const [folder, ...others] = positionals;
    if (others.length > 0) return mistake(`one folder at most, got ${positionals.join(" ")}`);
    const logLevel = LOG_LEVELS.find((level) => level === (values["log-level"] ?? "warn"));
    if (logLevel === undefined) {
      return mistake(`--log-level must be one of ${LOG_LEVELS.join(", ")}, got ${values["log-level"]}`);
    }
    const { listen, "state-dir": stateFolder } = values;
    if (listen !== undefined && !/^(?:none$|unix:.|tcp:.)/.test(listen)) {
      return mistake(`--listen must be unix:PATH, tcp:HOST:PORT or none, got ${listen}`);
    }
    return {
      kind: "run",
      folder: folder === undefined ? join(import.meta.dirname, "manifests") : resolve(from, folder),
      stateFolder: stateFolder && resolve(from, stateFolder),
      table: values["no-tui"] !== true,
      logLevel,
      listen:
        listen === "none" ? "" : listen?.replace(/^unix:(.*)$/, (_, path: string) => `unix:${resolve(from, path)}`),
    };
  } catch (error) {
    return mistake((error as Error).message);
  }
}

const mistake = (message: string): CommandLine => ({ kind: "mistake", message });
