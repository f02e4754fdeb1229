import { copyDictionary, EMPTY_DICTIONARY, sameDictionary, sealDictionary, type Dictionary } from "./dictionary.ts";
import {
  NO_FINALIZERS,
  sameFinalizers,
  sealFinalizers,
  withFinalizers,
  withoutFinalizers,
  type Finalizers,
} from "./finalizers.ts";
import { parsePhase, Phase } from "./phase.ts";
import type { Kind, Pointer } from "./pointer.ts";
import { StateError } from "./state-error.ts";
import { parseVersion, UNDEFINED_VERSION } from "./version.ts";

/** What the system knows of every resource, whatever its type. Deeply frozen, and JSON by construction. */
export interface Metadata extends Pointer {
  /** Opaque: `undefined` before the first write, then decimal digits. Compare for equality only. */
  readonly version: string;
  /** Name of the controller that manages the resource; empty when nobody does. */
  readonly owner: string;
  readonly phase: Phase;
  /** RFC 3339. Set by the State on create; the Unix epoch before. Not part of equality. */
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

/** The moment that an unset time stands for. */
export const EPOCH = "1970-01-01T00:00:00Z";

/** RFC 3339 with any number of fraction digits, and a zone. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,20})?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * New metadata: running, unowned, version `undefined`, both times the epoch, no finalizers, labels or annotations.
 *
 * @throws {StateError} `invalid` when a field has the wrong shape; the message names it.
 */
export function createMetadata(init: MetadataInit): Metadata {
  return sealMetadata(
    text("namespace", init.namespace),
    text("type", init.type),
    text("id", init.id),
    parseVersion(init.version ?? UNDEFINED_VERSION),
    text("owner", init.owner ?? ""),
    parsePhase(init.phase ?? Phase.running),
    timestamp("created", init.created ?? EPOCH),
    timestamp("updated", init.updated ?? EPOCH),
    part("finalizers", () => sealFinalizers(init.finalizers ?? NO_FINALIZERS)),
    part("labels", () => sealDictionary(init.labels ?? EMPTY_DICTIONARY)),
    part("annotations", () => sealDictionary(init.annotations ?? EMPTY_DICTIONARY)),
  );
}

/**
 * The one place where metadata objects are made, so that all of them share one hidden class. The parts must be valid
 * and frozen already: only this folder and States, which start from existing metadata, may call it.
 */
export function sealMetadata(
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
  return createMetadata({ ...metadata, ...patch });
}

/**
 * A copy of `metadata` owned by `owner`. An owner is set once: it can be repeated, never changed or cleared.
 *
 * @throws {StateError} `invalid` when another owner is set.
 */
export function withOwner(metadata: Metadata, owner: string): Metadata {
  if (metadata.owner === owner) return metadata;
  if (metadata.owner !== "") {
    throw new StateError(
      "invalid",
      `owner is ${JSON.stringify(metadata.owner)} already and cannot become ${JSON.stringify(owner)}`,
      {
        pointer: metadata,
      },
    );
  }
  return withMetadata(metadata, { owner });
}

/** True when nothing keeps the resource from being destroyed any more: tearing down, and no finalizers left. */
export function isDestroyReady(metadata: Pick<Metadata, "phase" | "finalizers">): boolean {
  return metadata.phase === Phase.tearingDown && metadata.finalizers.length === 0;
}

/** What an update function may change. Parts are copied when first touched, so a draft costs nothing until used. */
export class MetadataDraft {
  readonly #base: Metadata;
  #labels: Record<string, string> | undefined;
  #annotations: Record<string, string> | undefined;
  #finalizers: Finalizers;
  owner: string;
  phase: Phase;

  constructor(base: Metadata) {
    this.#base = base;
    this.#finalizers = base.finalizers;
    this.owner = base.owner;
    this.phase = base.phase;
  }

  get namespace(): string {
    return this.#base.namespace;
  }

  get type(): string {
    return this.#base.type;
  }

  get id(): string {
    return this.#base.id;
  }

  /** The version that the change starts from. The State computes the next one. */
  get version(): string {
    return this.#base.version;
  }

  get labels(): Record<string, string> {
    return (this.#labels ??= copyDictionary(this.#base.labels));
  }

  set labels(labels: Readonly<Record<string, string>>) {
    this.#labels = copyDictionary(labels);
  }

  get annotations(): Record<string, string> {
    return (this.#annotations ??= copyDictionary(this.#base.annotations));
  }

  set annotations(annotations: Readonly<Record<string, string>>) {
    this.#annotations = copyDictionary(annotations);
  }

  get finalizers(): Finalizers {
    return this.#finalizers;
  }

  set finalizers(names: readonly string[]) {
    this.#finalizers = sealFinalizers(names);
  }

  /** True when the finalizer was not there. */
  addFinalizer(name: string): boolean {
    return this.#changeFinalizers(withFinalizers(this.#finalizers, name));
  }

  /** True when the finalizer was there. */
  removeFinalizer(name: string): boolean {
    return this.#changeFinalizers(withoutFinalizers(this.#finalizers, name));
  }

  /** The drafted metadata; the base itself when nothing differs. */
  seal(): Metadata {
    const sealed = createMetadata({
      ...this.#base,
      owner: this.owner,
      phase: this.phase,
      finalizers: this.#finalizers,
      labels: this.#labels ?? this.#base.labels,
      annotations: this.#annotations ?? this.#base.annotations,
    });
    return sameMetadata(sealed, this.#base) ? this.#base : sealed;
  }

  #changeFinalizers(changed: Finalizers): boolean {
    const differs = changed !== this.#finalizers;
    this.#finalizers = changed;
    return differs;
  }
}

function text(field: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw new StateError("invalid", `metadata.${field} must be a string, got ${value === null ? "null" : typeof value}`);
}

function timestamp(field: string, value: unknown): string {
  if (value === EPOCH) return EPOCH;
  if (typeof value === "string" && TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value))) return value;
  throw new StateError(
    "invalid",
    `metadata.${field} must be an RFC 3339 time such as ${EPOCH}, got ${JSON.stringify(value)}`,
  );
}

function part<T>(field: string, seal: () => T): T {
  try {
    return seal();
  } catch (cause) {
    throw new StateError("invalid", `metadata.${field}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** Only the kind of a longer address. */
export function kindOf(kind: Kind): Kind {
  return { namespace: kind.namespace, type: kind.type };
}
