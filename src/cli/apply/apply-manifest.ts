import {
  createResource,
  hasCode,
  patchMetadata,
  UNDEFINED_VERSION,
  type MetadataDraft,
  type Resource,
} from "../../resource/index.ts";
import type { State } from "../../state/index.ts";
import { APPLIED_ANNOTATION, covers, digestOf } from "./applied-mark.ts";
import { CliError, usageError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { readableValue } from "../print/readable-value.ts";
import type { SpecWriter } from "./spec-writer.ts";

export interface ApplyManifestOptions {
  /** False for a manifest that leaves the spec as it is. */
  readonly hasSpec: boolean;
  /** The only namespace that is allowed, if any. */
  readonly namespace: string | undefined;
  readonly owner: string | undefined;
  readonly specs: SpecWriter;
  readonly signal: AbortSignal;
}

export type Applied = "created" | "configured" | "unchanged";

/**
 * Makes a resource what its manifest says, or creates it. Nothing is written when it says so already. A version in the
 * manifest must be the stored one, if there is anything to write.
 *
 * @throws {StateError} as create and update do. @throws {CliError} conflict, usage
 */
export async function applyManifest(
  state: State,
  manifest: Resource,
  { hasSpec, namespace, owner, specs, signal }: ApplyManifestOptions,
): Promise<Applied> {
  const { metadata } = manifest;
  if (namespace !== undefined && metadata.namespace !== namespace) {
    throw usageError(`it is of namespace ${metadata.namespace}, and -n asks for ${namespace}`);
  }
  if (metadata.owner !== "" && metadata.owner !== owner) {
    throw new CliError(ExitCode.conflict, `it is owned by ${metadata.owner}; --owner writes in the name of an owner`);
  }
  const pointer = { namespace: metadata.namespace, type: metadata.type, id: metadata.id };
  const digest = digestOf(manifest.spec);
  if (metadata.version === UNDEFINED_VERSION && (await state.getOrNull(pointer, { signal })) === undefined) {
    const annotations = { ...metadata.annotations, [APPLIED_ANNOTATION]: digest };
    const spec = await specs.write(pointer, undefined, manifest.spec);
    const created = spec === manifest.spec ? manifest : createResource(metadata, spec);
    try {
      // Ours stamps both times itself; the Go implementation keeps the one of the update as it comes.
      const updated = new Date().toISOString();
      await state.create(patchMetadata(created, { annotations, updated }), { owner, signal });
      return "created";
    } catch (error) {
      // Somebody was faster: what they created is there to be updated.
      if (!hasCode(error, "already_exists")) throw error;
    }
  }
  let before = "";
  const stored = await state.updateWithConflicts(
    pointer,
    async (spec, draft) => {
      before = draft.version;
      const setsMetadata = mergeMetadata(manifest, draft);
      const setsSpec = hasSpec && !says(await readableValue(spec), manifest.spec, draft.annotations, digest);
      if (setsMetadata || setsSpec) checkVersion(manifest, draft);
      if (!setsSpec) return undefined;
      draft.annotations[APPLIED_ANNOTATION] = digest;
      return specs.write(pointer, spec, manifest.spec);
    },
    { owner, signal },
  );
  return stored.metadata.version === before ? "unchanged" : "configured";
}

/** Sets the labels and annotations of a manifest; true when one of them was not set already. */
function mergeMetadata({ metadata }: Resource, draft: MetadataDraft): boolean {
  let differs = false;
  for (const part of ["labels", "annotations"] as const) {
    for (const [key, value] of Object.entries(metadata[part])) {
      // What was applied last is found out here, whatever an old copy of the resource says.
      if (part === "annotations" && key === APPLIED_ANNOTATION) continue;
      differs ||= draft[part][key] !== value;
      draft[part][key] = value;
    }
  }
  return differs;
}

/** True when the stored spec is what the manifest wants, perhaps completed with defaults since it was applied. */
function says(
  stored: unknown,
  wanted: unknown,
  annotations: Readonly<Record<string, string>>,
  digest: string,
): boolean {
  if (annotations[APPLIED_ANNOTATION] === digest) return covers(stored, wanted, true);
  return covers(stored, wanted) && covers(wanted, stored);
}

function checkVersion({ metadata }: Resource, { version }: MetadataDraft): void {
  if (metadata.version === UNDEFINED_VERSION || metadata.version === version) return;
  const message = `the manifest is of version ${metadata.version}, and version ${version} is stored; leave the version out, or start from the stored one`;
  throw new CliError(ExitCode.conflict, message);
}
