import { Option, type Command } from "commander";
import type { EndpointFlags } from "../connect/endpoint.ts";
import type { ExitCode } from "../exit-code.ts";
import { OUTPUT_FORMATS } from "./output-format.ts";
import type { CommonFlags, Session } from "../connect/session.ts";

/** Called by the command that the arguments choose, with its work. */
export type Choose = (work: (session: Session) => Promise<ExitCode>) => void;

/** The flags of every command that talks to a State. */
export type Flags = CommonFlags & EndpointFlags;

/** Which resources are meant. */
export interface SelectionFlags {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
}

/** How they are shown. */
export interface OutputFlags {
  readonly output: string;
  readonly headers: boolean;
  readonly showSensitive?: boolean;
}

/** For options that may be repeated. */
export const collect = (value: string, previous: readonly string[] | undefined): readonly string[] => [
  ...(previous ?? []),
  value,
];

export function withColor(command: Command): Command {
  return command.addOption(new Option("--color <when>", "auto, always or never").default("auto"));
}

/** The flags of a command that talks to a State. */
export function withEndpoint(command: Command, timeout = "30s"): Command {
  command
    .optionsGroup("Endpoint:")
    .option(
      "--context <name>",
      "endpoint by name, see homeostat context (default: HOMEOSTAT_CONTEXT, else the current)",
    )
    .option("--endpoint <address>", "unix:PATH or tcp:HOST:PORT (default: HOMEOSTAT_ENDPOINT, else where run serves)")
    .option("--timeout <time>", `time for each call, such as 500ms, 30s, 5m; 0 for no limit (default: ${timeout})`)
    .option("--node <name>", "node behind the endpoint; several where a command only reads", collect)
    .option("--tls", "use TLS; implied by the following")
    .option("--ca <file>", "certificates to trust, instead of the system's")
    .option("--cert <file>", "certificate to show to the server")
    .option("--key <file>", "its private key")
    .option("--server-name <name>", "name that the server's certificate must have")
    .option("--token <token>", "bearer token (default: HOMEOSTAT_TOKEN)")
    .option("--token-file <file>", "file with the bearer token");
  return withColor(command);
}

export function withNamespace(command: Command): Command {
  return command.option("-n, --namespace <name>", "namespace (default: that of the type)");
}

export function withSelection(command: Command): Command {
  return withNamespace(command)
    .option("-A, --all-namespaces", "all namespaces")
    .option("-l, --selector <selector>", "label selector, such as tier=front,!old");
}

export function withOutput(command: Command): Command {
  return command
    .option("-o, --output <format>", OUTPUT_FORMATS, "table")
    .option("--no-headers", "leave out the header of a table")
    .option("--show-sensitive", "show the specs of sensitive types");
}

export function withOwner(command: Command): Command {
  return command.option("--owner <name>", "write in the name of this owner (default: none)");
}

/** What ids are, in the help of commands. */
export const ID_HELP = "ids of resources; TYPE/ID works as well";
