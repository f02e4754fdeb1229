import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createResource,
  OpaqueSpec,
  replaceMetadata,
  samePlain,
  withMetadata,
  type Resource,
} from "../../../resource/index.ts";
import { parseResource } from "../../../yaml/index.ts";
import { CliError } from "../../cli-error.ts";
import type { CommandContext, WriteContext } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import { describeFailure, exitCodeOf } from "../../failure.ts";
import { loadKinds } from "../../args/kind-catalog.ts";
import { looseType } from "../../apply/loose-type.ts";
import type { NamedKind } from "../../args/named-kind.ts";
import { nameOf } from "../../print/printer.ts";
import { readableSpec } from "../../print/readable-value.ts";
import { runEditor } from "../../apply/run-editor.ts";
import { parseOneSelection, pointerIn } from "../../args/selection.ts";
import { SpecWriter } from "../../apply/spec-writer.ts";
import { formatShown } from "../../print/yaml-printer.ts";

export interface EditOptions {
  /** `TYPE ID` or `TYPE/ID`. */
  readonly names: readonly string[];
  /** Default: the type's own. */
  readonly namespace?: string | undefined;
  /** Default: none. */
  readonly owner?: string | undefined;
  /** Opens the editor on a file, and resolves when the user is done. Default: the editor of the environment. */
  readonly openEditor?: ((file: string, context: CommandContext) => Promise<void>) | undefined;
}

const HEADER = `# Spec, labels, annotations and finalizers can be changed. Save and close the editor to write them;
# leave the text as it is, or empty it, to change nothing.
`;

/**
 * Opens a resource as YAML in the user's editor, and writes what changed if nobody else wrote meanwhile. After a mistake
 * the editor opens again; the text is kept whenever it could not be written.
 */
export async function edit(context: WriteContext, options: EditOptions): Promise<ExitCode> {
  const { state, stdout, stderr, signal } = context;
  const selection = parseOneSelection(options.names);
  const kind = (await loadKinds(state, signal)).find(selection.typeName);
  const pointer = pointerIn(kind, options.namespace ?? kind.defaultNamespace, selection.id);
  const stored = await state.get(pointer, { signal });
  if (stored.spec instanceof OpaqueSpec && (stored.spec.yaml ?? "").trim() === "") {
    const message = `the spec of ${nameOf(pointer)} came without YAML; label and annotate change the rest`;
    throw new CliError(ExitCode.failed, message);
  }

  const specs = new SpecWriter(state, signal);
  const folder = await mkdtemp(join(tmpdir(), "homeostat-edit-"));
  const file = join(folder, "resource.yaml");
  // Who edits a sensitive resource has to see it.
  const original = await formatShown({ node: undefined, kind, resource: stored }, { showSensitive: true });
  let text = HEADER + original;
  let isKept = false;
  try {
    for (;;) {
      await writeFile(file, text, { mode: 0o600 });
      await (options.openEditor ?? runEditor)(file, context);
      const edited = await readFile(file, "utf8");
      const isUntouched = edited === text;
      if (withoutComments(edited) === withoutComments(original) || withoutComments(edited) === "") {
        await stderr.write("homeostat: nothing was changed\n");
        return ExitCode.ok;
      }
      isKept = true;
      try {
        const changed = await readEdited(edited, stored, kind, specs);
        if (changed === undefined) {
          isKept = false;
          await stderr.write("homeostat: nothing was changed\n");
          return ExitCode.ok;
        }
        await state.update(changed, { owner: options.owner, expectedPhase: "any", signal });
        isKept = false;
        await stdout.write(`${nameOf(pointer)} edited\n`);
        return ExitCode.ok;
      } catch (error) {
        const isMistake = exitCodeOf(error) === ExitCode.failed || exitCodeOf(error) === ExitCode.usage;
        if (!isMistake || isUntouched || !context.isInteractive) throw error;
        text = `${mistakeComment(describeFailure(error))}${withoutMistake(edited)}`;
      }
    }
  } finally {
    if (isKept) await stderr.write(`homeostat: your text is kept in ${file}\n`);
    else await rm(folder, { recursive: true, force: true });
  }
}

const MISTAKE_PREFIX = "# ! ";

const mistakeComment = (message: string): string =>
  message
    .split("\n")
    .map((line) => `${MISTAKE_PREFIX}${line}\n`)
    .join("");

const withoutMistake = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !line.startsWith(MISTAKE_PREFIX))
    .join("\n");

const withoutComments = (text: string): string => text.replaceAll(/^#.*\n?/gm, "").trim();

/** What the State may be asked to change otherwise than by hand. */
const FIXED = ["namespace", "type", "id", "version", "owner", "phase", "created", "updated"] as const;

/** The stored resource with what the user changed; undefined when that comes to nothing. @throws {YamlError} */
async function readEdited(
  text: string,
  stored: Resource,
  kind: NamedKind,
  specs: SpecWriter,
): Promise<Resource | undefined> {
  const edited = parseResource(text, { types: [looseType(kind)] });
  for (const field of FIXED) {
    // Times are shown in whole seconds, so that an unchanged one is not what is stored.
    const isTime = field === "created" || field === "updated";
    if (isTime || edited.metadata[field] === stored.metadata[field]) continue;
    const message = `metadata.${field} cannot be changed: it is ${JSON.stringify(stored.metadata[field])}`;
    throw new CliError(ExitCode.failed, message);
  }
  const { labels, annotations, finalizers } = edited.metadata;
  const metadata = withMetadata(stored.metadata, { labels, annotations, finalizers });
  // A spec that nobody touched keeps the bytes that it came as.
  const isSameSpec = samePlain(edited.spec, await readableSpec(stored));
  if (!isSameSpec) return createResource(metadata, await specs.write(metadata, stored.spec, edited.spec));
  return samePlain(metadata, stored.metadata) ? undefined : replaceMetadata(stored, metadata);
}
