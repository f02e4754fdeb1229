import { Option, type Command } from "commander";
import { parseDuration } from "../args/duration.ts";
import {
  collect,
  ID_HELP,
  withEndpoint,
  withNamespace,
  withOwner,
  withSelection,
  type Choose,
  type Flags,
  type SelectionFlags,
} from "../args/flags.ts";

export function addApply(program: Command, choose: Choose): void {
  const command = program
    .command("apply")
    .description("create or update what manifests declare")
    .requiredOption("-f, --filename <file>", "file, folder, or - for standard input; may be repeated", collect)
    .option("-R, --recursive", "look into the folders of a folder")
    .option("-l, --selector <selector>", "only manifests with these labels")
    .option("--set <name>", "make the resources a set, which --prune knows again")
    .option("--prune", "then delete what was applied before, and is in no manifest now; needs --set or -l")
    .addOption(
      new Option("--dry-run [where]", "write nothing; client compares, server has each spec judged as well").preset(
        "client",
      ),
    );
  withEndpoint(withOwner(withNamespace(command))).action(
    (
      flags: Flags &
        SelectionFlags & {
          filename: readonly string[];
          recursive?: boolean;
          owner?: string;
          set?: string;
          prune?: boolean;
          dryRun?: string;
        },
    ) =>
      choose(async (session) => {
        const { apply } = await import("../commands/write/apply.ts");
        return session.write(flags, (context) => apply(context, { ...flags, files: flags.filename }));
      }),
  );
}

export function addEdit(program: Command, choose: Choose): void {
  const command = program
    .command("edit")
    .description("change a resource in your editor")
    .argument("<type>", "type, by any of its names, or TYPE/ID")
    .argument("[id]", "id of the resource");
  withEndpoint(withOwner(withNamespace(command))).action(
    (type: string, id: string | undefined, flags: Flags & SelectionFlags & { owner?: string }) =>
      choose(async (session) => {
        const { edit } = await import("../commands/write/edit.ts");
        const names = id === undefined ? [type] : [type, id];
        const { namespace, owner } = flags;
        return session.write(flags, (context) => edit(context, { names, namespace, owner }));
      }),
  );
}

type MetadataFlags = Flags & SelectionFlags & { all?: boolean; overwrite?: boolean; owner?: string };

export function addLabel(program: Command, choose: Choose): void {
  addMetadataCommand(program, choose, "label", "labels");
}

export function addAnnotate(program: Command, choose: Choose): void {
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
        const { editMetadata } = await import("../commands/write/edit-metadata.ts");
        return session.write(flags, (context) => editMetadata(context, part, { ...flags, names: [type, ...rest] }));
      }),
  );
}

export function addDelete(program: Command, choose: Choose): void {
  const command = program
    .command("delete")
    .description("tear resources down and destroy them")
    .argument("[type]", "type, by any of its names")
    .argument("[id...]", ID_HELP)
    .option("--all", "all resources of the type")
    .option("-f, --filename <file>", "delete what the manifests of a file, folder or - name; may be repeated", collect)
    .option("-R, --recursive", "look into the folders of a folder")
    .option("--no-wait", "do not wait for finalizers that hold a resource")
    .option("--ignore-not-found", "a resource that is not there is no failure");
  withEndpoint(withOwner(withSelection(command)), "no limit").action(
    (
      type: string | undefined,
      ids: readonly string[],
      flags: Flags &
        SelectionFlags & {
          all?: boolean;
          wait: boolean;
          ignoreNotFound?: boolean;
          owner?: string;
          filename?: readonly string[];
          recursive?: boolean;
        },
    ) =>
      choose(async (session) => {
        const { deleteResources } = await import("../commands/write/delete.ts");
        const timeoutMs = parseDuration(flags.timeout ?? "0");
        return session.write(flags, (context) =>
          deleteResources(context, {
            ...flags,
            files: flags.filename,
            names: type === undefined ? [] : [type, ...ids],
            timeoutMs,
          }),
        );
      }),
  );
}

export function addPatch(program: Command, choose: Choose): void {
  const command = program
    .command("patch")
    .description("change parts of resources")
    .argument("<type>", "type, by any of its names")
    .argument("[id...]", ID_HELP)
    .option("-p, --patch <patch>", 'the patch in JSON or YAML, such as {"spec":{"size":1}}')
    .option("--patch-file <file>", "file with the patch, or - for standard input")
    .option("--type <type>", "merge (RFC 7396) or json (RFC 6902)", "merge")
    .option("--all", "all resources of the type");
  withEndpoint(withOwner(withSelection(command))).action(
    (
      type: string,
      ids: readonly string[],
      flags: Flags &
        SelectionFlags & { patch?: string; patchFile?: string; type: string; all?: boolean; owner?: string },
    ) =>
      choose(async (session) => {
        const { patchResources } = await import("../commands/write/patch.ts");
        return session.write(flags, (context) => patchResources(context, { ...flags, names: [type, ...ids] }));
      }),
  );
}
