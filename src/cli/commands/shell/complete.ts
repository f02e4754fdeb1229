import { onOneLine } from "../../../internal/visible-text.ts";
import type { Command, Option } from "commander";
import type { State } from "../../../state/index.ts";
import type { EndpointFlags } from "../../connect/endpoint.ts";
import { ExitCode } from "../../exit-code.ts";
import { loadKinds, type KindCatalog } from "../../args/kind-catalog.ts";
import { readContexts } from "../../connect/contexts.ts";
import { kindIn } from "../../args/selection.ts";
import type { Session } from "../../connect/session.ts";

/** A person waits for the answer. */
const PATIENCE = "1s";

/** What could stand at the cursor, with a description. */
type Candidate = readonly [word: string, description: string];

/** Commands whose first argument is a type. */
const WITH_TYPE: ReadonlySet<string> = new Set([
  "get",
  "watch",
  "describe",
  "edit",
  "label",
  "annotate",
  "delete",
  "wait",
  "patch",
  "fields",
]);

/** Prints what could stand in place of the last of `words`. An endpoint that does not answer is no error: nothing is. */
export async function complete(session: Session, program: Command, words: readonly string[]): Promise<ExitCode> {
  const { stdout } = session.plain({});
  const current = words.at(-1) ?? "";
  const candidates = await candidatesFor(session, program, words.slice(0, -1), current);
  const lines = candidates
    .filter(([word]) => word === FILES || word.startsWith(current))
    .map(([word, description]) => `${onOneLine(word)}\t${onOneLine(description)}\n`);
  await stdout.write(lines.join(""));
  return ExitCode.ok;
}

/** Tells the script that the shell knows better: names of files. */
const FILES = ":files";

async function candidatesFor(
  session: Session,
  program: Command,
  words: readonly string[],
  current: string,
): Promise<readonly Candidate[]> {
  const before = readLine(program, words, true);
  const [name, ...rest] = before.rest;
  const commandLine = name === undefined ? before : readLine(commandNamed(program, name) ?? program, rest);
  // What stands before the command counts as what stands behind it does.
  const line = { ...commandLine, values: new Map([...before.values, ...commandLine.values]) };
  const command = name === undefined ? program : commandNamed(program, name);
  if (line.open !== undefined) return valuesOf(session, line.open, line);
  if (command === undefined) return [];
  if (current.startsWith("-")) return optionsOf(command, line);
  if (name === undefined || name === "help") return commandsOf(program);
  return argumentsOf(session, command, line, current);
}

const commandsOf = (program: Command): readonly Candidate[] =>
  program
    .createHelp()
    .visibleCommands(program)
    .map((command) => [command.name(), command.description()]);

const commandNamed = (program: Command, name: string): Command | undefined =>
  program
    .createHelp()
    .visibleCommands(program)
    .find((one) => one.name() === name);

/** Those of the command, or of the command in it that the line names. */
function optionsOf(command: Command, { args }: Line): readonly Candidate[] {
  const inner = command.commands.find((one) => one.name() === args[0]) ?? command;
  return inner
    .createHelp()
    .visibleOptions(inner)
    .map((option) => [option.long ?? option.flags, option.description]);
}

async function argumentsOf(
  session: Session,
  command: Command,
  line: Line,
  current: string,
): Promise<readonly Candidate[]> {
  const name = command.name();
  if (name === "completion") return line.args.length > 0 ? [] : ["bash", "zsh", "fish"].map((shell) => [shell, ""]);
  if (name === "run") return [[FILES, ""]];
  if (name === "context") {
    if (line.args.length === 0) return commandsOf(command);
    return line.args.length === 1 && /^(?:use|remove)$/.test(line.args[0] ?? "") ? contextsOf(session) : [];
  }
  return WITH_TYPE.has(name) ? namesFor(session, line, current) : [];
}

async function contextsOf(session: Session): Promise<readonly Candidate[]> {
  try {
    const { contexts } = await readContexts(session.plain({}));
    return Object.entries(contexts).map(([name, { endpoint }]) => [name, endpoint]);
  } catch {
    return []; // The tab key asks for words, not for errors.
  }
}

interface Line {
  readonly args: readonly string[];
  readonly values: ReadonlyMap<string, string>;
  /** The option that still needs its value. */
  readonly open: Option | undefined;
}

/**
 * Tells arguments from options and their values.
 *
 * @param stops - Stop before the first argument: what follows is for another command. Default: false.
 */
function readLine(command: Command, words: readonly string[], stops = false): Line & { rest: readonly string[] } {
  const args: string[] = [];
  const values = new Map<string, string>();
  const options = [...command.options, ...command.commands.flatMap((inner) => inner.options)];
  let open: Option | undefined;
  for (const [i, word] of words.entries()) {
    if (open !== undefined) {
      values.set(open.attributeName(), word);
      open = undefined;
    } else if (word.startsWith("-") && word !== "-") {
      const [flag = "", value] = word.split(/=([^]*)/, 2);
      const option = options.find((one) => one.short === flag || one.long === flag);
      if (option?.required === true && value === undefined) open = option;
      else if (option !== undefined && value !== undefined) values.set(option.attributeName(), value);
    } else if (stops) return { args, values, open, rest: words.slice(i) };
    else args.push(word);
  }
  return { args, values, open, rest: [] };
}

/** Asks the control plane for candidates. */
type Question = (state: State, catalog: KindCatalog, signal: AbortSignal) => Promise<readonly Candidate[]>;

const plainWords = (...values: readonly string[]): readonly Candidate[] => values.map((word) => [word, ""]);
const A_FILE: readonly Candidate[] = [[FILES, ""]];

/** Values of options that are always the same, by the option's name. */
const FIXED_VALUES: ReadonlyMap<string, readonly Candidate[]> = new Map([
  ["output", plainWords("table", "wide", "yaml", "json", "name", "jsonpath=", "custom-columns=")],
  ["for", plainWords("created", "deleted", "phase=running", "phase=tearingDown", "jsonpath=", "condition=")],
  ["type", [["merge", "RFC 7396"] as const, ["json", "RFC 6902"] as const]],
  ["dryRun", plainWords("client", "server")],
  ["color", plainWords("auto", "always", "never")],
  ["logLevel", plainWords("debug", "info", "warn", "error")],
  ["state", [["memory", "in the memory of the process"]]],
  ["filename", A_FILE],
  ["patchFile", A_FILE],
  ["ca", A_FILE],
  ["cert", A_FILE],
  ["key", A_FILE],
  ["clientCa", A_FILE],
  ["tokenFile", A_FILE],
]);

const namespacesOf: Question = async (state, catalog, signal) => {
  const kind = catalog.find("Namespaces.meta.cosi.dev");
  const namespaces = await state.list(kindIn(kind, "meta"), { signal });
  return namespaces.map(({ metadata }) => [metadata.id, ""]);
};

async function valuesOf(session: Session, option: Option, line: Line): Promise<readonly Candidate[]> {
  const name = option.attributeName();
  if (name === "context") return contextsOf(session);
  if (name === "namespace") return ask(session, line, namespacesOf);
  return FIXED_VALUES.get(name) ?? [];
}

/** Types for the first argument, ids of the type for the others. */
function namesFor(session: Session, line: Line, current: string): Promise<readonly Candidate[]> {
  return ask(session, line, async (state, catalog, signal) => {
    const [typeName] = line.args;
    if (typeName === undefined) {
      return catalog.kinds.flatMap(({ names, type, displayType }) =>
        names
          .filter((name) => current.includes(".") || !name.includes("."))
          .map((name): Candidate => [name, `${displayType} (${type})`]),
      );
    }
    const kind = catalog.find(typeName);
    const namespace = line.values.get("namespace") ?? kind.defaultNamespace;
    const resources = await state.list(kindIn(kind, namespace), { signal });
    return resources.map(({ metadata }) => [metadata.id, kind.displayType]);
  });
}

async function ask(session: Session, { values }: Line, question: Question): Promise<readonly Candidate[]> {
  let answer: readonly Candidate[] = [];
  const node = values.get("node");
  const flags: EndpointFlags = {
    ...Object.fromEntries(values),
    node: node === undefined ? [] : [node],
    timeout: PATIENCE,
  };
  try {
    await session.read(flags, async ({ targets: [target], signal }) => {
      if (target !== undefined) answer = await question(target.state, await loadKinds(target.state, signal), signal);
      return ExitCode.ok;
    });
  } catch {
    return []; // The tab key asks for words, not for errors.
  }
  return answer;
}
