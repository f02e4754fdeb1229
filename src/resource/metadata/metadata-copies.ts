import type { Dictionary } from "./dictionary.ts";
import type { Finalizers } from "./finalizers.ts";
import { sealFields, type Metadata } from "./metadata.ts";
import type { Phase } from "./phase.ts";
import { nextVersion } from "./version.ts";

// Copies that States make of valid metadata. What is replaced must be valid and frozen as well: nothing is checked.

/** What a State stores of a new resource: owned by `owner`, at the first version, created and updated at `created`. */
export function firstRevision(metadata: Metadata, owner: string, created: string): Metadata {
  const { namespace, type, id, phase, finalizers, labels, annotations } = metadata;
  return sealFields(namespace, type, id, "1", owner, phase, created, created, finalizers, labels, annotations);
}

/** What a State stores of a changed resource: one version on. `created` is the time of the stored one. */
export function nextRevision(metadata: Metadata, created: string, updated: string): Metadata {
  const { namespace, type, id, owner, phase, finalizers, labels, annotations } = metadata;
  const version = nextVersion(metadata.version);
  return sealFields(namespace, type, id, version, owner, phase, created, updated, finalizers, labels, annotations);
}

/** The same revision, created and updated at other times. */
export function withTimes(metadata: Metadata, created: string, updated: string): Metadata {
  const { namespace, type, id, version, owner, phase, finalizers, labels, annotations } = metadata;
  return sealFields(namespace, type, id, version, owner, phase, created, updated, finalizers, labels, annotations);
}

/** The same revision in another phase, with other finalizers. */
export function withPhaseAndFinalizers(metadata: Metadata, phase: Phase, finalizers: Finalizers): Metadata {
  const { owner, labels, annotations } = metadata;
  return withEdits(metadata, { owner, phase, finalizers, labels, annotations });
}

/** What a user may change of a resource. */
export interface MetadataEdits {
  readonly owner: string;
  readonly phase: Phase;
  readonly finalizers: Finalizers;
  readonly labels: Dictionary;
  readonly annotations: Dictionary;
}

/** The same revision with everything that a user may change. */
export function withEdits(metadata: Metadata, edits: MetadataEdits): Metadata {
  const { namespace, type, id, version, created, updated } = metadata;
  const { owner, phase, finalizers, labels, annotations } = edits;
  return sealFields(namespace, type, id, version, owner, phase, created, updated, finalizers, labels, annotations);
}
