import { onOneLine } from "../../../internal/visible-text.ts";
import type { Command, Option } from "commander";
import type { State } from "../../../state/index.ts";
import type { EndpointFlags } from "../../connect/endpoint.ts";
import { ExitCode } from "../../exit-code.ts";
import { loadKinds, type KindCatalog } from "../../args/kind-catalog.ts";
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
  [name, ...before]: readonly string[],
  current: string,
): Promise<readonly Candidate[]> {
  const commands = program.createHelp().visibleCommands(program);
  if (name === undefined) return commands.map((command) => [command.name(), command.description()]);
  const command = commands.find((one) => one.name() === name);
  if (command === undefined) return [];
  if (name === "help") return commands.map((one) => [one.name(), one.description()]);
  const line = readLine(command, before);
  if (line.open !== undefined) return valuesOf(session, line.open, line);
  if (current.startsWith("-")) {
    return command
      .createHelp()
      .visibleOptions(command)
      .map((option) => [option.long ?? option.flags, option.description]);
  }
  if (name === "completion")
    return line.args.length > 0
      ? []
      : [
          ["bash", ""],
          ["zsh", ""],
          ["fish", ""],
        ];
  if (name === "run") return [[FILES, ""]];
  if (!WITH_TYPE.has(name)) return [];
  return namesFor(session, line, current);
}

interface Line {
  readonly args: readonly string[];
  readonly values: ReadonlyMap<string, string>;
  /** The option that still needs its value. */
  readonly open: Option | undefined;
}

/** Tells arguments from options and their values. */
function readLine(command: Command, words: readonly string[]): Line {
  const args: string[] = [];
  const values = new Map<string, string>();
  let open: Option | undefined;
  for (const word of words) {
    if (open !== undefined) {
      values.set(open.attributeName(), word);
      open = undefined;
    } else if (word.startsWith("-") && word !== "-") {
      const [flag = "", value] = word.split(/=([^]*)/, 2);
      const option = command.options.find((one) => one.short === flag || one.long === flag);
      if (option?.required === true && value === undefined) open = option;
      else if (option !== undefined && value !== undefined) values.set(option.attributeName(), value);
    } else args.push(word);
  }
  return { args, values, open };
}

async function valuesOf(session: Session, option: Option, line: Line): Promise<readonly Candidate[]> {
  switch (option.attributeName()) {
    case "output":
      return ["table", "wide", "yaml", "json", "name", "jsonpath="].map((word) => [word, ""]);
    case "color":
      return ["auto", "always", "never"].map((word) => [word, ""]);
    case "logLevel":
      return ["debug", "info", "warn", "error"].map((word) => [word, ""]);
    case "state":
      return [["memory", "in the memory of the process"]];
    case "namespace":
      return ask(session, line, async (state, catalog, signal) => {
        const kind = catalog.find("Namespaces.meta.cosi.dev");
        const namespaces = await state.list(kindIn(kind, "meta"), { signal });
        return namespaces.map(({ metadata }) => [metadata.id, ""]);
      });
    case "filename":
    case "ca":
    case "cert":
    case "key":
    case "clientCa":
    case "tokenFile":
      return [[FILES, ""]];
    default:
      return [];
  }
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

async function ask(
  session: Session,
  { values }: Line,
  question: (state: State, catalog: KindCatalog, signal: AbortSignal) => Promise<readonly Candidate[]>,
): Promise<readonly Candidate[]> {
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
    return []; // Whoever presses the tab key wants words, not errors.
  }
  return answer;
}
