import { labelKeyMistake, type MetadataDraft } from "../../../resource/index.ts";
import { CliError, usageError } from "../../cli-error.ts";
import type { WriteContext } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import { loadKinds } from "../../args/kind-catalog.ts";
import { isMetadataEdit, parseMetadataEdits, type MetadataEdits } from "../../args/metadata-edits.ts";
import { nameOf } from "../../print/printer.ts";
import { parseSelections } from "../../args/selection.ts";
import { checkActOn, selectedPointers, type ActOnOptions } from "../../args/selected-pointers.ts";
import { forEachPointer } from "./for-each-pointer.ts";

export interface EditMetadataOptions extends ActOnOptions {
  /** `TYPE ID… KEY=VALUE… KEY-…`; the ids come before the first edit. */
  readonly names: readonly string[];
  /** Change what has another value. Default: false. */
  readonly overwrite?: boolean | undefined;
  /** Default: none. */
  readonly owner?: string | undefined;
}

const PARTS = {
  labels: { one: "label", done: "labeled" },
  annotations: { one: "annotation", done: "annotated" },
} as const;

/** Sets and removes labels or annotations. Whatever else happens to the resources meanwhile is kept. */
export async function editMetadata(
  context: WriteContext,
  part: keyof typeof PARTS,
  options: EditMetadataOptions,
): Promise<ExitCode> {
  const { one, done } = PARTS[part];
  const first = options.names.findIndex((name, i) => i > 0 && isMetadataEdit(name));
  const names = first < 0 ? options.names : options.names.slice(0, first);
  const edits = parseMetadataEdits(first < 0 ? [] : options.names.slice(first), one);
  if (part === "labels") checkKeys(edits);
  const selections = parseSelections(names);
  const { overwrite = false } = options;
  checkActOn(selections, options);
  const { state, stdout, signal } = context;
  const catalog = await loadKinds(state, signal);
  const pointers = await selectedPointers(state, catalog, selections, options, signal);
  return forEachPointer(context, pointers, async (pointer) => {
    let before = "";
    const stored = await state.updateWithConflicts(
      pointer,
      (_, metadata) => {
        before = metadata.version;
        applyEdits(metadata, part, edits, overwrite);
      },
      { owner: options.owner, expectedPhase: "any", signal },
    );
    const word = stored.metadata.version === before ? "unchanged" : done;
    await stdout.write(`${nameOf(pointer)} ${word}\n`);
  });
}

/** Keys that no State takes are a mistake of the command line; old ones may still be removed. @throws {CliError} usage */
function checkKeys(edits: MetadataEdits): void {
  for (const [key, value] of edits) {
    const mistake = value === undefined ? undefined : labelKeyMistake(key);
    if (mistake !== undefined) throw usageError(mistake);
  }
}

function applyEdits(metadata: MetadataDraft, part: keyof typeof PARTS, edits: MetadataEdits, overwrite: boolean): void {
  const entries = metadata[part];
  for (const [key, value] of edits) {
    const present = Object.hasOwn(entries, key) ? entries[key] : undefined;
    if (value === undefined) delete entries[key];
    else if (present === undefined || present === value || overwrite) entries[key] = value;
    else {
      const message = `the ${PARTS[part].one} ${JSON.stringify(key)} of ${nameOf(metadata)} is ${JSON.stringify(present)}; --overwrite changes it`;
      throw new CliError(ExitCode.conflict, message);
    }
  }
}
