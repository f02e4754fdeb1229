import type { Command } from "commander";
import type { ExitCode } from "../exit-code.ts";
import { parseDuration } from "../args/duration.ts";
import {
  collect,
  ID_HELP,
  withEndpoint,
  withNamespace,
  withOwner,
  withOutput,
  withSelection,
  type Choose,
  type Flags,
  type OutputFlags,
  type SelectionFlags,
} from "../args/flags.ts";
import { parseOutputFormat } from "../args/output-format.ts";
import type { Session } from "../connect/session.ts";

export function addGet(program: Command, choose: Choose): void {
  const command = program
    .command("get")
    .description("show resources")
    .argument("<type>", "type, by any of its names; several with commas")
    .argument("[id...]", ID_HELP);
  withOutput(withSelection(command))
    .option("-w, --watch", "then show every change, until Ctrl-C")
    .option("--sort-by <path>", "order a list by what a path finds, such as {.spec.size}");
  withEndpoint(command).action(
    (
      type: string,
      ids: readonly string[],
      flags: Flags & SelectionFlags & OutputFlags & { watch?: boolean; sortBy?: string },
    ) => choose((session) => get(session, [type, ...ids], flags)),
  );
}

export function addWatch(program: Command, choose: Choose): void {
  const command = program
    .command("watch")
    .description("show resources and then every change, until Ctrl-C")
    .argument("<type>", "type, by any of its names")
    .argument("[id...]", ID_HELP);
  withEndpoint(withOutput(withSelection(command))).action(
    (type: string, ids: readonly string[], flags: Flags & SelectionFlags & OutputFlags) =>
      choose((session) => get(session, [type, ...ids], { ...flags, watch: true })),
  );
}

async function get(
  session: Session,
  names: readonly string[],
  flags: Flags & SelectionFlags & OutputFlags & { watch?: boolean; sortBy?: string },
): Promise<ExitCode> {
  const { namespace, allNamespaces, selector, watch, sortBy, headers, showSensitive } = flags;
  const format = parseOutputFormat(flags.output);
  const command = await import("../commands/read/get.ts");
  return session.read(flags, (context) =>
    command.get(context, { names, format, namespace, allNamespaces, selector, watch, sortBy, headers, showSensitive }),
  );
}

export function addDescribe(program: Command, choose: Choose): void {
  const command = program
    .command("describe")
    .description("show everything about resources, for people")
    .argument("<type>", "type, by any of its names")
    .argument("[id...]", ID_HELP);
  withEndpoint(withSelection(command).option("--show-sensitive", "show the specs of sensitive types")).action(
    (type: string, ids: readonly string[], flags: Flags & SelectionFlags & { showSensitive?: boolean }) =>
      choose(async (session) => {
        const { describe } = await import("../commands/read/describe.ts");
        return session.read(flags, (context) => describe(context, { ...flags, names: [type, ...ids] }));
      }),
  );
}

export function addWait(program: Command, choose: Choose): void {
  const command = program
    .command("wait")
    .description("wait until resources meet a condition")
    .argument("<type>", "type, by any of its names")
    .argument("[id...]", ID_HELP)
    .requiredOption(
      "--for <condition>",
      "created, deleted, phase=PHASE, jsonpath=PATH, jsonpath=PATH=VALUE or condition=NAME[=VALUE]",
    )
    .option("--all", "all resources of the type");
  withEndpoint(withSelection(command), "30s, for all of it").action(
    (type: string, ids: readonly string[], flags: Flags & SelectionFlags & { for: string; all?: boolean }) =>
      choose(async (session) => {
        const { wait } = await import("../commands/read/wait.ts");
        const timeoutMs = parseDuration(flags.timeout ?? "30s");
        return session.write(flags, (context) => wait(context, { ...flags, names: [type, ...ids], timeoutMs }));
      }),
  );
}

export function addDiff(program: Command, choose: Choose): void {
  const command = program
    .command("diff")
    .description("show what apply would change; exit code 1 says that there is something")
    .requiredOption("-f, --filename <file>", "file, folder, or - for standard input; may be repeated", collect)
    .option("-R, --recursive", "look into the folders of a folder")
    .option("--show-sensitive", "show the specs of sensitive types");
  withEndpoint(withOwner(withNamespace(command))).action(
    (
      flags: Flags &
        SelectionFlags & {
          filename: readonly string[];
          recursive?: boolean;
          owner?: string;
          showSensitive?: boolean;
        },
    ) =>
      choose(async (session) => {
        const { diff } = await import("../commands/read/diff.ts");
        return session.write(flags, (context) => diff(context, { ...flags, files: flags.filename }));
      }),
  );
}

export function addFields(program: Command, choose: Choose): void {
  const command = program
    .command("fields")
    .description("show the fields of a type")
    .argument("<type>", "type, by any of its names")
    .argument("[path]", "from this field on, such as spec.limits")
    .option("-o, --output <format>", "table, or json for the JSON Schema itself", "table");
  withEndpoint(command).action((type: string, path: string | undefined, flags: Flags & { output: string }) =>
    choose(async (session) => {
      const { fields } = await import("../commands/read/fields.ts");
      return session.write(flags, (context) => fields(context, { type, path, output: flags.output }));
    }),
  );
}
