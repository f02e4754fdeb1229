import { Command, Option } from "commander";
import { parseDuration } from "./duration.ts";
import type { EndpointFlags } from "./endpoint.ts";
import type { ExitCode } from "./exit-code.ts";
import { OUTPUT_FORMATS, parseOutputFormat } from "./output-format.ts";
import type { CommonFlags, Session } from "./session.ts";

/** Called by the command that the arguments choose, with its work. */
export type Choose = (work: (session: Session) => Promise<ExitCode>) => void;

type Flags = CommonFlags & EndpointFlags;
interface SelectionFlags {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
}
interface OutputFlags {
  readonly output: string;
  readonly headers: boolean;
  readonly showSensitive?: boolean;
}

const EXIT_CODES = `
Exit codes:
  0  done                         3  no such resource or type
  1  failed                       4  conflict: changed, owned or held by somebody else
  2  wrong use                    5  the endpoint cannot be reached
  130, 143  ended by Ctrl-C, by SIGTERM

Results go to standard output, everything else to standard error.`;

/** The command line. Each command loads what it needs when it is chosen, and nothing before. */
export function buildProgram(version: string, choose: Choose): Command {
  const program = new Command("homeostat")
    .description("Runs control planes, and looks into them.")
    .version(version, "-V, --version", "show the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .showSuggestionAfterError()
    .addHelpText("after", EXIT_CODES);

  program.commandsGroup("Look:");
  addGet(program, choose);
  addWatch(program, choose);
  addDescribe(program, choose);
  program.commandsGroup("Change:");
  addApply(program, choose);
  addEdit(program, choose);
  addLabel(program, choose);
  addAnnotate(program, choose);
  addDelete(program, choose);
  program.commandsGroup("Run:");
  addRun(program, choose);
  addServe(program, choose);
  program.commandsGroup("Shell:");
  addCompletion(program, choose);
  return program;
}

const collect = (value: string, previous: readonly string[] | undefined): readonly string[] => [
  ...(previous ?? []),
  value,
];

function withColor(command: Command): Command {
  return command.addOption(new Option("--color <when>", "auto, always or never").default("auto"));
}

/** The flags of a command that talks to a State. */
function withEndpoint(command: Command, timeout = "30s"): Command {
  command
    .optionsGroup("Endpoint:")
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

function withNamespace(command: Command): Command {
  return command.option("-n, --namespace <name>", "namespace (default: that of the type)");
}

function withSelection(command: Command): Command {
  return withNamespace(command)
    .option("-A, --all-namespaces", "all namespaces")
    .option("-l, --selector <selector>", "label selector, such as tier=front,!old");
}

function withOutput(command: Command): Command {
  return command
    .option("-o, --output <format>", OUTPUT_FORMATS, "table")
    .option("--no-headers", "leave out the header of a table")
    .option("--show-sensitive", "show the specs of sensitive types");
}

const withOwner = (command: Command): Command =>
  command.option("--owner <name>", "write in the name of this owner (default: nobody's)");

const NAMES = "ids of resources; TYPE/ID works as well";

function addGet(program: Command, choose: Choose): void {
  const command = program
    .command("get")
    .description("show resources")
    .argument("<type>", "type, by any of its names; several with commas")
    .argument("[id...]", NAMES);
  withEndpoint(withOutput(withSelection(command)).option("-w, --watch", "then show every change, until Ctrl-C")).action(
    (type: string, ids: readonly string[], flags: Flags & SelectionFlags & OutputFlags & { watch?: boolean }) =>
      choose((session) => get(session, [type, ...ids], flags)),
  );
}

function addWatch(program: Command, choose: Choose): void {
  const command = program
    .command("watch")
    .description("show resources and then every change, until Ctrl-C")
    .argument("<type>", "type, by any of its names")
    .argument("[id...]", NAMES);
  withEndpoint(withOutput(withSelection(command))).action(
    (type: string, ids: readonly string[], flags: Flags & SelectionFlags & OutputFlags) =>
      choose((session) => get(session, [type, ...ids], { ...flags, watch: true })),
  );
}

async function get(
  session: Session,
  names: readonly string[],
  flags: Flags & SelectionFlags & OutputFlags & { watch?: boolean },
): Promise<ExitCode> {
  const { namespace, allNamespaces, selector, watch, headers, showSensitive } = flags;
  const format = parseOutputFormat(flags.output);
  const command = await import("./commands/get.ts");
  return session.read(flags, (context) =>
    command.get(context, { names, format, namespace, allNamespaces, selector, watch, headers, showSensitive }),
  );
}

function addDescribe(program: Command, choose: Choose): void {
  const command = program
    .command("describe")
    .description("show everything about resources, for people")
    .argument("<type>", "type, by any of its names")
    .argument("[id...]", NAMES);
  withEndpoint(withSelection(command).option("--show-sensitive", "show the specs of sensitive types")).action(
    (type: string, ids: readonly string[], flags: Flags & SelectionFlags & { showSensitive?: boolean }) =>
      choose(async (session) => {
        const { describe } = await import("./commands/describe.ts");
        return session.read(flags, (context) => describe(context, { ...flags, names: [type, ...ids] }));
      }),
  );
}

function addApply(program: Command, choose: Choose): void {
  const command = program
    .command("apply")
    .description("create or update what manifests declare")
    .requiredOption("-f, --filename <file>", "file, folder, or - for standard input; may be repeated", collect)
    .option("-R, --recursive", "look into the folders of a folder");
  withEndpoint(withOwner(withNamespace(command))).action(
    (flags: Flags & SelectionFlags & { filename: readonly string[]; recursive?: boolean; owner?: string }) =>
      choose(async (session) => {
        const { apply } = await import("./commands/apply.ts");
        const { filename: files, recursive, namespace, owner } = flags;
        return session.write(flags, (context) => apply(context, { files, recursive, namespace, owner }));
      }),
  );
}

function addEdit(program: Command, choose: Choose): void {
  const command = program
    .command("edit")
    .description("change a resource in your editor")
    .argument("<type>", "type, by any of its names, or TYPE/ID")
    .argument("[id]", "id of the resource");
  withEndpoint(withOwner(withNamespace(command))).action(
    (type: string, id: string | undefined, flags: Flags & SelectionFlags & { owner?: string }) =>
      choose(async (session) => {
        const { edit } = await import("./commands/edit.ts");
        const names = id === undefined ? [type] : [type, id];
        const { namespace, owner } = flags;
        return session.write(flags, (context) => edit(context, { names, namespace, owner }));
      }),
  );
}

type MetadataFlags = Flags & SelectionFlags & { all?: boolean; overwrite?: boolean; owner?: string };

function addLabel(program: Command, choose: Choose): void {
  addMetadataCommand(program, choose, "label", "labels");
}

function addAnnotate(program: Command, choose: Choose): void {
  addMetadataCommand(program, choose, "annotate", "annotations");
}

function addMetadataCommand(program: Command, choose: Choose, name: string, part: "labels" | "annotations"): void {
  const command = program
    .command(name)
    .description(`set and remove ${part}`)
    .argument("<type>", "type, by any of its names")
    .argument("<id-or-edit...>", `ids, then KEY=VALUE to set and KEY- to remove ${part}`)
    .option("--all", "all resources of the type")
    .option("--overwrite", "change what has another value");
  withEndpoint(withOwner(withSelection(command))).action(
    (type: string, rest: readonly string[], flags: MetadataFlags) =>
      choose(async (session) => {
        const { editMetadata } = await import("./commands/edit-metadata.ts");
        return session.write(flags, (context) => editMetadata(context, part, { ...flags, names: [type, ...rest] }));
      }),
  );
}

function addDelete(program: Command, choose: Choose): void {
  const command = program
    .command("delete")
    .description("tear resources down and destroy them")
    .argument("<type>", "type, by any of its names")
    .argument("[id...]", NAMES)
    .option("--all", "all resources of the type")
    .option("--no-wait", "do not wait for those who hold a resource by a finalizer")
    .option("--ignore-not-found", "a resource that is not there is no failure");
  withEndpoint(withOwner(withSelection(command)), "no limit").action(
    (
      type: string,
      ids: readonly string[],
      flags: Flags & SelectionFlags & { all?: boolean; wait: boolean; ignoreNotFound?: boolean; owner?: string },
    ) =>
      choose(async (session) => {
        const { deleteResources } = await import("./commands/delete.ts");
        const timeoutMs = parseDuration(flags.timeout ?? "0");
        return session.write(flags, (context) =>
          deleteResources(context, { ...flags, names: [type, ...ids], timeoutMs }),
        );
      }),
  );
}

function addRun(program: Command, choose: Choose): void {
  const command = program
    .command("run")
    .description("run the control plane of a configuration, until Ctrl-C")
    .argument("[config]", "file that exports a control plane", "homeostat.config.ts")
    .option("--listen <address>", "serve at unix:PATH or tcp:HOST:PORT; may be repeated", collect)
    .option("--log-level <level>", "debug, info, warn or error", "info")
    .option("--stop-timeout <time>", "time for everything to stop", "15s");
  withColor(command).action(
    (config: string, flags: CommonFlags & { listen?: readonly string[]; logLevel: string; stopTimeout: string }) =>
      choose(async (session) => {
        const { run } = await import("./commands/run.ts");
        return run(session.plain(flags), { ...flags, config, defaultListen: () => session.makeDefaultListen() });
      }),
  );
}

function addServe(program: Command, choose: Choose): void {
  const command = program
    .command("serve")
    .description("serve a State, until Ctrl-C")
    .requiredOption("--state <name>", "what to serve: memory")
    .requiredOption("--listen <address>", "unix:PATH or tcp:HOST:PORT; may be repeated", collect)
    .option("--cert <file>", "certificate to show to clients; with --key, connections use TLS")
    .option("--key <file>", "its private key")
    .option("--client-ca <file>", "let only clients in that show a certificate of one of these")
    .option("--token-file <file>", "let only clients in that bring one of these bearer tokens, one a line")
    .option("--allow-insecure", "listen without TLS where other machines can connect")
    .option("--log-level <level>", "debug, info, warn or error", "info");
  withColor(command).action(
    (
      flags: CommonFlags & {
        allowInsecure?: boolean;
        state: string;
        listen: readonly string[];
        cert?: string;
        key?: string;
        clientCa?: string;
        tokenFile?: string;
        logLevel: string;
      },
    ) =>
      choose(async (session) => {
        const { serve } = await import("./commands/serve.ts");
        return serve(session.plain(flags), flags);
      }),
  );
}

function addCompletion(program: Command, choose: Choose): void {
  program
    .command("completion")
    .description("print a script that completes commands, types and ids")
    .argument("<shell>", "bash, zsh or fish")
    .action((shell: string) =>
      choose(async (session) => {
        const { completion } = await import("./commands/completion.ts");
        return completion(session.plain({}), shell);
      }),
    );
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .helpOption(false)
    .action((words: readonly string[]) =>
      choose(async (session) => {
        const { complete } = await import("./commands/complete.ts");
        return complete(session, program, words);
      }),
    );
}
