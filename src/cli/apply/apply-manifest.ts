import {
  createResource,
  EMPTY_DICTIONARY,
  hasCode,
  MetadataDraft,
  patchMetadata,
  sameMetadata,
  UNDEFINED_VERSION,
  withMetadata,
  type Metadata,
  type Pointer,
  type Resource,
} from "../../resource/index.ts";
import type { State } from "../../state/index.ts";
import { APPLIED_ANNOTATION, covers, digestOf } from "./applied-mark.ts";
import { checkNewLabels } from "./edited-resource.ts";
import { CliError, usageError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { readableSpec, readableValue } from "../print/readable-value.ts";
import type { SpecWriter } from "./spec-writer.ts";

export interface ApplyManifestOptions {
  /** False for a manifest that leaves the spec as it is. */
  readonly hasSpec: boolean;
  /** The only namespace that is allowed, if any. */
  readonly namespace: string | undefined;
  readonly owner: string | undefined;
  /** The set that the resource becomes a part of, if any. */
  readonly set: string | undefined;
  readonly specs: SpecWriter;
  readonly signal: AbortSignal;
}

export type Applied = "created" | "configured" | "unchanged";

/** Label of the resources that are applied as one set: `apply --set NAME`. */
export const SET_LABEL = "homeostat/set";

/** What applying a manifest comes to. */
export interface Plan {
  readonly outcome: Applied;
  /** Undefined when there is nothing yet. */
  readonly stored: Resource | undefined;
  /** The metadata to write, and the readable spec; both complete. */
  readonly metadata: Metadata;
  readonly spec: unknown;
  /** True when the spec is to be written as well. */
  readonly setsSpec: boolean;
}

/**
 * Makes a resource what its manifest says, or creates it. Nothing is written when it says so already. A version in the
 * manifest must be the stored one, if there is anything to write.
 *
 * @throws {StateError} as create and update do. @throws {CliError} conflict, usage
 */
export async function applyManifest(state: State, manifest: Resource, options: ApplyManifestOptions): Promise<Applied> {
  const { owner, specs, signal } = options;
  checkManifest(manifest, options);
  const pointer = pointerOf(manifest);
  const isNew = manifest.metadata.version === UNDEFINED_VERSION;
  if (isNew && (await state.getOrNull(pointer, { signal })) === undefined) {
    const metadata = newMetadata(manifest, options);
    const spec = await specs.write(pointer, undefined, manifest.spec);
    const created = spec === manifest.spec ? manifest : createResource(metadata, spec);
    try {
      // Ours stamps both times itself; the Go implementation keeps the one of the update as it comes.
      const { labels, annotations } = metadata;
      const updated = new Date().toISOString();
      await state.create(patchMetadata(created, { labels, annotations, updated }), { owner, signal });
      return "created";
    } catch (error) {
      // Another writer was faster: what it created is there to be updated.
      if (!hasCode(error, "already_exists")) throw error;
    }
  }
  let before = "";
  const stored = await state.updateWithConflicts(
    pointer,
    async (spec, draft) => {
      before = draft.version;
      const setsSpec = mergeManifest(manifest, await readableValue(spec), draft, options);
      return setsSpec ? specs.write(pointer, spec, manifest.spec) : undefined;
    },
    { owner, signal },
  );
  return stored.metadata.version === before ? "unchanged" : "configured";
}

/** What {@link applyManifest} would do just now; nothing is written. @throws the same, as far as it can be told. */
export async function planManifest(state: State, manifest: Resource, options: ApplyManifestOptions): Promise<Plan> {
  checkManifest(manifest, options);
  const stored = await state.getOrNull(pointerOf(manifest), { signal: options.signal });
  if (stored === undefined) {
    const metadata = newMetadata(manifest, options);
    return { outcome: "created", stored, metadata, spec: manifest.spec, setsSpec: true };
  }
  const { owner } = stored.metadata;
  if (owner !== (options.owner ?? "")) {
    throw new CliError(
      ExitCode.conflict,
      owner === "" ? "it has no owner" : `it is owned by ${owner}; --owner writes in the name of an owner`,
    );
  }
  const spec = await readableSpec(stored);
  const draft = new MetadataDraft(stored.metadata);
  const setsSpec = mergeManifest(manifest, spec, draft, options);
  const metadata = draft.seal();
  const outcome = setsSpec || !sameMetadata(metadata, stored.metadata) ? "configured" : "unchanged";
  return { outcome, stored, metadata, spec: setsSpec ? manifest.spec : spec, setsSpec };
}

const pointerOf = ({ metadata: { namespace, type, id } }: Resource): Pointer => ({ namespace, type, id });

function checkManifest({ metadata }: Resource, { namespace, owner }: ApplyManifestOptions): void {
  if (namespace !== undefined && metadata.namespace !== namespace) {
    throw usageError(`it is of namespace ${metadata.namespace}, and -n asks for ${namespace}`);
  }
  if (metadata.owner !== "" && metadata.owner !== owner) {
    throw new CliError(ExitCode.conflict, `it is owned by ${metadata.owner}; --owner writes in the name of an owner`);
  }
  checkNewLabels(metadata.labels, EMPTY_DICTIONARY);
}

function newMetadata({ metadata, spec }: Resource, { set }: ApplyManifestOptions): Metadata {
  const labels = set === undefined ? metadata.labels : { ...metadata.labels, [SET_LABEL]: set };
  return withMetadata(metadata, {
    labels,
    annotations: { ...metadata.annotations, [APPLIED_ANNOTATION]: digestOf(spec) },
  });
}

/** Writes what a manifest says into the draft of the stored metadata. True when the spec is to be replaced as well. */
function mergeManifest(
  manifest: Resource,
  stored: unknown,
  draft: MetadataDraft,
  { hasSpec, set }: ApplyManifestOptions,
): boolean {
  const digest = digestOf(manifest.spec);
  const joinsSet = set !== undefined && draft.labels[SET_LABEL] !== set;
  if (joinsSet) joinSet(draft, set);
  const setsMetadata = mergeMetadata(manifest, draft) || joinsSet;
  const setsSpec = hasSpec && !says(stored, manifest.spec, draft.annotations, digest);
  if (setsMetadata || setsSpec) checkVersion(manifest, draft);
  if (setsSpec || joinsSet) draft.annotations[APPLIED_ANNOTATION] = digest;
  return setsSpec;
}

function joinSet(draft: MetadataDraft, set: string): void {
  const present = draft.labels[SET_LABEL];
  if (present !== undefined) {
    throw new CliError(ExitCode.conflict, `it belongs to the set ${present} (label ${SET_LABEL}), not to ${set}`);
  }
  draft.labels[SET_LABEL] = set;
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
