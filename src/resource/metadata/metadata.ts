import { messageOf } from "../../internal/foreign-value.ts";
import { describeValue } from "../describe-value.ts";
import { EMPTY_DICTIONARY, sameDictionary, sealDictionary, type Dictionary } from "./dictionary.ts";
import { NO_FINALIZERS, sameFinalizers, sealFinalizers, type Finalizers } from "./finalizers.ts";
import { parsePhase, Phase } from "./phase.ts";
import { formatPointer, type Kind, type Pointer } from "../pointer.ts";
import { EPOCH, isTimestamp } from "./timestamp.ts";
import { StateError } from "../state-error.ts";
import { parseVersion, UNDEFINED_VERSION } from "./version.ts";

/** What the system knows of every resource, whatever its type. Deeply frozen, and JSON by construction. */
export interface Metadata extends Pointer {
  /** Opaque: `undefined` before the first write, then decimal digits. Compare for equality only. */
  readonly version: string;
  /** Name of the controller that manages the resource; empty when there is none. */
  readonly owner: string;
  readonly phase: Phase;
  /**
   * RFC 3339. Set by the State on create, to a time that no other resource of the kind has; the Unix epoch before. Not part
   * of equality, but together with the id it names one life of the resource.
   */
  readonly created: string;
  /** RFC 3339. Set by the State on every write; the Unix epoch before. Not part of equality. */
  readonly updated: string;
  readonly finalizers: Finalizers;
  readonly labels: Dictionary;
  readonly annotations: Dictionary;
}

/** What {@link createMetadata} needs: the address, and whatever differs from a new resource's values. */
export type MetadataInit = Pointer & {
  readonly [Field in keyof Omit<Metadata, keyof Pointer>]?: Metadata[Field] | undefined;
};

/**
 * New metadata: running, unowned, version `undefined`, both times the epoch, no finalizers, labels or annotations.
 *
 * @throws {StateError} `invalid` when a field has the wrong shape; the message names it.
 */
export function createMetadata(init: MetadataInit): Metadata {
  if (typeof init !== "object" || init === null) {
    throw new StateError("invalid", `metadata must be an object, got ${describeValue(init)}`);
  }
  return sealFields(
    checkText("namespace", init.namespace),
    checkText("type", init.type),
    checkText("id", init.id),
    init.version === undefined ? UNDEFINED_VERSION : parseVersion(init.version),
    checkText("owner", init.owner ?? ""),
    parsePhase(init.phase ?? Phase.running),
    timestamp("created", init.created ?? EPOCH),
    timestamp("updated", init.updated ?? EPOCH),
    init.finalizers === undefined ? NO_FINALIZERS : part("finalizers", sealFinalizers, init.finalizers),
    init.labels === undefined ? EMPTY_DICTIONARY : part("labels", sealDictionary, init.labels),
    init.annotations === undefined ? EMPTY_DICTIONARY : part("annotations", sealDictionary, init.annotations),
  );
}

/** Makes metadata of its fields, which must be valid and frozen already. From other metadata there are named copies. */
export function sealMetadata(fields: Metadata): Metadata {
  return sealFields(
    fields.namespace,
    fields.type,
    fields.id,
    fields.version,
    fields.owner,
    fields.phase,
    fields.created,
    fields.updated,
    fields.finalizers,
    fields.labels,
    fields.annotations,
  );
}

/**
 * The one place where metadata objects are made, so that all of them share one hidden class and none is made only to be
 * copied. For {@link createMetadata} and the named copies alone: the order of so many texts is easily mistaken.
 */
export function sealFields(
  namespace: string,
  type: string,
  id: string,
  version: string,
  owner: string,
  phase: Phase,
  created: string,
  updated: string,
  finalizers: Finalizers,
  labels: Dictionary,
  annotations: Dictionary,
): Metadata {
  return Object.freeze({
    namespace,
    type,
    id,
    version,
    owner,
    phase,
    created,
    updated,
    finalizers,
    labels,
    annotations,
  });
}

/** Equality of everything but the two times; the order of finalizers does not count. */
export function sameMetadata(a: Metadata, b: Metadata): boolean {
  return (
    a === b ||
    (a.id === b.id &&
      a.version === b.version &&
      a.type === b.type &&
      a.namespace === b.namespace &&
      a.owner === b.owner &&
      a.phase === b.phase &&
      sameFinalizers(a.finalizers, b.finalizers) &&
      sameDictionary(a.labels, b.labels) &&
      sameDictionary(a.annotations, b.annotations))
  );
}

/** The fields of metadata that may differ between two writes of one resource. */
export type MetadataPatch = { readonly [Field in keyof Omit<Metadata, keyof Pointer>]?: Metadata[Field] | undefined };

/** A copy of `metadata` with the given fields replaced. @throws {StateError} `invalid`, see {@link createMetadata}. */
export function withMetadata(metadata: Metadata, patch: MetadataPatch): Metadata {
  return createMetadata({
    namespace: metadata.namespace,
    type: metadata.type,
    id: metadata.id,
    version: patch.version ?? metadata.version,
    owner: patch.owner ?? metadata.owner,
    phase: patch.phase ?? metadata.phase,
    created: patch.created ?? metadata.created,
    updated: patch.updated ?? metadata.updated,
    finalizers: patch.finalizers ?? metadata.finalizers,
    labels: patch.labels ?? metadata.labels,
    annotations: patch.annotations ?? metadata.annotations,
  });
}

/**
 * A copy of `metadata` owned by `owner`. An owner is set once: it can be repeated, never changed or cleared.
 *
 * @throws {StateError} `invalid` when another owner is set.
 */
export function withOwner(metadata: Metadata, owner: string): Metadata {
  assertOwnerSettable(metadata, metadata.owner, owner);
  return metadata.owner === owner ? metadata : withMetadata(metadata, { owner });
}

export function assertOwnerSettable(pointer: Pointer, present: string, owner: string): void {
  if (present === "" || present === owner) return;
  const [before, after] = [describeValue(present), describeValue(owner)];
  throw new StateError("invalid", `the owner of ${formatPointer(pointer)} is ${before} and cannot become ${after}`, {
    pointer,
  });
}

/** True when nothing keeps the resource from being destroyed any more: tearing down, and no finalizers left. */
export function isDestroyReady(metadata: Pick<Metadata, "phase" | "finalizers">): boolean {
  return metadata.phase === Phase.tearingDown && metadata.finalizers.length === 0;
}

/** @throws {StateError} `invalid` when the value of a metadata field is no string. */
export function checkText(field: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw new StateError("invalid", `metadata.${field} must be a string, got ${describeValue(value)}`);
}

function timestamp(field: string, value: unknown): string {
  if (value === EPOCH || (typeof value === "string" && isTimestamp(value))) return value;
  throw new StateError(
    "invalid",
    `metadata.${field} must be an RFC 3339 time such as ${EPOCH}, got ${describeValue(value)}`,
  );
}

/** Runs `seal`; what it complains of names the field. */
export function part<T, Sealed>(field: string, seal: (given: T) => Sealed, given: T): Sealed {
  try {
    return seal(given);
  } catch (cause) {
    throw new StateError("invalid", `metadata.${field}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** Only the kind of a longer address. */
export function kindOf(kind: Kind): Kind {
  return { namespace: kind.namespace, type: kind.type };
}
