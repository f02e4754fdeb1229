import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpaqueSpec, type Resource } from "../../../resource/index.ts";
import { parseResource } from "../../../yaml/index.ts";
import { CliError } from "../../cli-error.ts";
import type { CommandContext, WriteContext } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import { describeFailure, exitCodeOf } from "../../failure.ts";
import { loadKinds } from "../../args/kind-catalog.ts";
import { editedResource } from "../../apply/edited-resource.ts";
import { looseType } from "../../apply/loose-type.ts";
import { nameOf } from "../../print/printer.ts";
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
 * Opens a resource as YAML in the user's editor, and writes what changed unless it has changed meanwhile. After a mistake
 * the editor opens again; the text is kept whenever it could not be written.
 */
export async function edit(context: WriteContext, options: EditOptions): Promise<ExitCode> {
  const { state, stdout, stderr, signal } = context;
  const selection = parseOneSelection(options.names);
  const kind = (await loadKinds(state, signal)).find(selection.typeName);
  const pointer = pointerIn(kind, options.namespace ?? kind.defaultNamespace, selection.id);
  const stored = await state.get(pointer, { signal });
  assertReadable(stored);

  const specs = new SpecWriter(state, signal);
  const folder = await mkdtemp(join(tmpdir(), "homeostat-edit-"));
  const file = join(folder, "resource.yaml");
  // Who edits a sensitive resource has to see it.
  const original = await formatShown({ node: undefined, kind, resource: stored }, { showSensitive: true });
  const nothingChanged = async (): Promise<ExitCode> => {
    await stderr.write("homeostat: nothing was changed\n");
    return ExitCode.ok;
  };
  let text = HEADER + original;
  let isKept = false;
  try {
    for (;;) {
      await writeFile(file, text, { mode: 0o600 });
      await (options.openEditor ?? runEditor)(file, context);
      const edited = await readFile(file, "utf8");
      const isUntouched = edited === text;
      if (withoutComments(edited) === withoutComments(original) || withoutComments(edited) === "") {
        return await nothingChanged();
      }
      isKept = true;
      try {
        const parsed = parseResource(edited, { types: [looseType(kind)] });
        const changed = await editedResource(stored, parsed, specs);
        if (changed !== undefined) await state.update(changed, { owner: options.owner, expectedPhase: "any", signal });
        isKept = false;
        if (changed === undefined) return await nothingChanged();
        await stdout.write(`${nameOf(pointer)} edited\n`);
        return ExitCode.ok;
      } catch (error) {
        if (!isMistake(error) || isUntouched || !context.isInteractive) throw error;
        text = `${mistakeComment(describeFailure(error))}${withoutMistake(edited)}`;
      }
    }
  } finally {
    if (isKept) await stderr.write(`homeostat: your text is kept in ${file}\n`);
    else await rm(folder, { recursive: true, force: true });
  }
}

/** @throws {CliError} when the spec cannot be shown as text. */
function assertReadable({ metadata, spec }: Resource): void {
  if (!(spec instanceof OpaqueSpec) || (spec.yaml ?? "").trim() !== "") return;
  const message = `the spec of ${nameOf(metadata)} came without YAML; label and annotate change the rest`;
  throw new CliError(ExitCode.failed, message);
}

/** True for what the user can put right in the text. */
const isMistake = (error: unknown): boolean =>
  exitCodeOf(error) === ExitCode.failed || exitCodeOf(error) === ExitCode.usage;

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
