import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createResource, hasCode, OpaqueSpec, type MetadataInit, type Pointer } from "../../../resource/index.ts";
import { editedResource } from "../../apply/edited-resource.ts";
import { jsonPatch, mergePatch, type FormPatch } from "../../apply/patch-form.ts";
import { SpecWriter } from "../../apply/spec-writer.ts";
import { loadKinds } from "../../args/kind-catalog.ts";
import { checkActOn, selectedPointers, type ActOnOptions } from "../../args/selected-pointers.ts";
import { parseSelections } from "../../args/selection.ts";
import { CliError, usageError } from "../../cli-error.ts";
import type { WriteContext } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import { nameOf } from "../../print/printer.ts";
import { readableSpec, readableValue } from "../../print/readable-value.ts";
import { forEachPointer } from "./for-each-pointer.ts";

export interface PatchOptions extends ActOnOptions {
  readonly names: readonly string[];
  /** JSON or YAML. */
  readonly patch?: string | undefined;
  /** A file with the patch, or `-`. */
  readonly patchFile?: string | undefined;
  /** `merge` (RFC 7396) or `json` (RFC 6902). Default: merge. */
  readonly type?: string | undefined;
  /** Default: none. */
  readonly owner?: string | undefined;
}

/** A patch is made anew on what is stored after a lost race; more often than this, somebody writes all the time. */
const MAX_ATTEMPTS = 5;

/** Changes parts of resources, in the form that `get -o json` shows. */
export async function patchResources(context: WriteContext, options: PatchOptions): Promise<ExitCode> {
  const selections = parseSelections(options.names);
  checkActOn(selections, options);
  const patch = await readPatch(context, options);
  const { state, signal } = context;
  const catalog = await loadKinds(state, signal);
  const specs = new SpecWriter(state, signal);
  const pointers = await selectedPointers(state, catalog, selections, options, signal);
  return forEachPointer(context, pointers, async (pointer) => {
    const isChanged = await patchOne(context, pointer, patch, specs, options.owner);
    await context.stdout.write(`${nameOf(pointer)} ${isChanged ? "patched" : "unchanged"}\n`);
  });
}

async function readPatch(context: WriteContext, options: PatchOptions): Promise<FormPatch> {
  const { patch, patchFile, type = "merge" } = options;
  if ((patch === undefined) === (patchFile === undefined)) throw usageError("one of -p and --patch-file is needed");
  if (type !== "merge" && type !== "json") {
    throw usageError(`--type must be merge or json, got ${JSON.stringify(type)}`);
  }
  const text = patch ?? (await readPatchFile(patchFile ?? "", context));
  let value: unknown;
  try {
    value = await readableValue(new OpaqueSpec({ yaml: text }));
  } catch (cause) {
    throw usageError(`the patch cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  if (type === "json") return jsonPatch(value);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return mergePatch(value);
  throw usageError('a merge patch is an object, such as {"spec":{"size":1}}');
}

async function readPatchFile(name: string, { cwd, readStdin }: WriteContext): Promise<string> {
  if (name === "-") return readStdin();
  try {
    return await readFile(resolve(cwd, name), "utf8");
  } catch (cause) {
    throw usageError(`${name} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** True when there was something to change. */
async function patchOne(
  { state, signal }: WriteContext,
  pointer: Pointer,
  patch: FormPatch,
  specs: SpecWriter,
  owner: string | undefined,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const stored = await state.get(pointer, { signal });
    const { metadata, spec } = formOf(patch({ metadata: stored.metadata, spec: await readableSpec(stored) }));
    const changed = await editedResource(stored, createResource(metadata, spec), specs);
    if (changed === undefined) return false;
    try {
      await state.update(changed, { owner, expectedPhase: "any", signal });
      return true;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !hasCode(error, "version_conflict")) throw error;
    }
  }
}

/** @throws {CliError} failed, when the patch leaves no resource. */
function formOf(patched: unknown): { readonly metadata: MetadataInit; readonly spec: unknown } {
  const form = typeof patched === "object" && patched !== null ? Object.entries(patched) : [];
  const unknown = form.find(([key]) => key !== "metadata" && key !== "spec");
  if (unknown !== undefined) {
    throw new CliError(ExitCode.failed, `${unknown[0]} is not a known field; known: metadata, spec`);
  }
  const { metadata, spec } = Object.fromEntries(form) as { metadata?: MetadataInit; spec?: unknown };
  if (metadata === undefined) throw new CliError(ExitCode.failed, "the patch removes the metadata");
  return { metadata, spec: spec ?? {} };
}
