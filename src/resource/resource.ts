import { messageOf } from "../internal/foreign-value.ts";
import { EMPTY_DICTIONARY, type Dictionary } from "./metadata/dictionary.ts";
import { NO_FINALIZERS } from "./metadata/finalizers.ts";
import {
  createMetadata,
  sameMetadata,
  withMetadata,
  type Metadata,
  type MetadataInit,
  type MetadataPatch,
} from "./metadata/metadata.ts";
import { freezePlain, PlainDataError } from "./spec/freeze-plain.ts";
import { samePlain, type Immutable } from "./spec/plain-data.ts";
import { formatPointer, formatReference, type Pointer } from "./pointer.ts";
import type { Encoding } from "./encoding.ts";
import type { JsonSchema } from "./spec/json-schema.ts";
import type { SpecCodec } from "./spec/spec-codec.ts";
import { StateError } from "./state-error.ts";

/**
 * A resource: a deeply frozen value. The one in the store, in the cache, in an event and in your hand is the same
 * object; reads never copy it, and a write to any part of it throws.
 */
export interface Resource<Spec = unknown, Type extends string = string> {
  readonly metadata: Metadata;
  readonly spec: Immutable<Spec>;
  /** Exists only for the compiler: the type's name, where it is known. */
  readonly [OF]?: Type;
  /** `type(namespace/id@version)`, unless the resource was written as an object literal. */
  toString(): string;
}

declare const OF: unique symbol;

/** Identity of the schema that admitted a spec; compared by reference only. */
export interface SpecSource {
  readonly type: string;
  /** Checks a spec and fills its defaults. @throws {StateError} `invalid` */
  parseSpec(value: unknown, pointer: Pointer): unknown;
  /** Writes and reads the specs. Default: JSON. */
  readonly codec?: SpecCodec | undefined;
  /** What the schema accepts, as JSON Schema; undefined where its library cannot tell. */
  jsonSchema?(): JsonSchema | undefined;
  /** What resources of the type can do, by capability. */
  readonly provisions?: ReadonlyMap<object, (resource: Resource) => object> | undefined;
}

/** Stands in the place of the mere size, so that resources that are never encoded take no room for it. */
interface SizedEncoding extends Encoding {
  readonly bytes: number;
}

/** Every resource that went through {@link sealResource}; the private fields prove that it is frozen and checked. */
class SealedResource implements Resource {
  readonly metadata: Metadata;
  readonly spec!: unknown;
  /** What checked the spec; undefined for plain data without a schema. */
  readonly #source: SpecSource | undefined;
  /** About how much memory the spec takes; and what was made of the resource for a wire or a disk, once it was. */
  #size: number | SizedEncoding;

  constructor(metadata: Metadata, spec: unknown, source: SpecSource | undefined, size: number | SizedEncoding) {
    this.metadata = metadata;
    if (spec instanceof Uint8Array)
      Object.defineProperty(this, "spec", { enumerable: true, get: () => new Uint8Array(spec) });
    else this.spec = spec;
    this.#source = source;
    this.#size = size;
    Object.freeze(this);
  }

  static isSealed(value: object): boolean {
    return #source in value;
  }

  static sourceOf(value: object): SpecSource | undefined {
    return #source in value ? value.#source : undefined;
  }

  static sizeOf(value: object): number | SizedEncoding {
    return #size in value ? value.#size : 0;
  }

  static setSize(value: object, size: SizedEncoding): void {
    if (#size in value) value.#size = size;
  }

  toString(): string {
    return formatReference(this.metadata);
  }
}

/** Memory that a resource takes besides its spec, labels and the like. Unit: bytes, approximate. */
const RESOURCE_BYTES = 200;
/** Memory that a string takes besides its characters, likewise. */
const STRING_BYTES = 16;

/** True for a resource that is known to be deeply frozen and, when it has a source, checked by it. */
export const isSealed = (resource: Resource): boolean => SealedResource.isSealed(resource);

/** The schema that checked this resource's spec, if any did. */
export const sourceOf = (resource: Resource): SpecSource | undefined => SealedResource.sourceOf(resource);

/** For `keepEncoding` and its kind. */
export function encodingOf(resource: Resource): Encoding | undefined {
  const size = SealedResource.sizeOf(resource);
  return typeof size === "number" ? undefined : size;
}

export function setEncoding(resource: Resource, { form, spec, whole }: Encoding): void {
  SealedResource.setSize(resource, { form, spec, whole, bytes: specBytes(resource) });
}

function specBytes(resource: Resource): number {
  const size = SealedResource.sizeOf(resource);
  return typeof size === "number" ? size : size.bytes;
}

/** About how much memory the resource keeps alive, in bytes: spec, labels, annotations and finalizers. */
export function resourceBytes(resource: Resource): number {
  const { labels, annotations, finalizers } = resource.metadata;
  let bytes = RESOURCE_BYTES + specBytes(resource);
  bytes += dictionaryBytes(labels) + dictionaryBytes(annotations);
  if (finalizers !== NO_FINALIZERS) for (const name of finalizers) bytes += STRING_BYTES + name.length;
  return bytes;
}

function dictionaryBytes(entries: Dictionary): number {
  if (entries === EMPTY_DICTIONARY) return 0;
  let bytes = 0;
  for (const [key, value] of Object.entries(entries)) bytes += 2 * STRING_BYTES + key.length + value.length;
  return bytes;
}

/**
 * A resource of any type from parts. With a `source` the spec is checked and its defaults filled; without, any plain
 * data is accepted.
 *
 * @throws {StateError} `invalid` when metadata or spec have the wrong shape.
 */
export function createResource<Spec>(metadata: MetadataInit, spec: Spec, source?: SpecSource): Resource<Spec> {
  return sealResource(createMetadata(metadata), spec, source);
}

/** {@link createResource} for metadata that is sealed already. */
export function sealResource<Spec>(metadata: Metadata, spec: unknown, source: SpecSource | undefined): Resource<Spec> {
  const parsed = source === undefined ? spec : source.parseSpec(spec, metadata);
  try {
    const { value, bytes } = freezePlain(parsed);
    return new SealedResource(metadata, value, source, bytes) as Resource<Spec>;
  } catch (cause) {
    const message = `${formatPointer(metadata)} is invalid: ${messageOf(cause)}`;
    const issues = cause instanceof PlainDataError ? [{ path: cause.path, message: cause.reason }] : undefined;
    throw new StateError("invalid", message, { cause, pointer: metadata, issues });
  }
}

/** The same spec under other metadata, which must be sealed. */
export function replaceMetadata<Spec>(resource: Resource<Spec>, metadata: Metadata): Resource<Spec> {
  const size = SealedResource.sizeOf(resource);
  return new SealedResource(
    metadata,
    resource.spec,
    SealedResource.sourceOf(resource),
    typeof size === "number" || size.whole === undefined ? size : { ...size, whole: undefined },
  ) as Resource<Spec>;
}

/** A copy of `resource` with the given metadata fields replaced. @throws {StateError} `invalid` */
export function patchMetadata<Spec>(resource: Resource<Spec>, patch: MetadataPatch): Resource<Spec> {
  return replaceMetadata(resource, withMetadata(resource.metadata, patch));
}

/** A copy of `resource` with another spec, checked by whatever checked the first. @throws {StateError} `invalid` */
export function withSpec<Spec>(resource: Resource<Spec>, spec: Spec | Immutable<Spec>): Resource<Spec> {
  return sealResource(resource.metadata, spec, sourceOf(resource));
}

/** Equal metadata (times and the order of finalizers aside) and deeply equal specs. */
export function sameResource(a: Resource, b: Resource): boolean {
  return a === b || (sameMetadata(a.metadata, b.metadata) && samePlain(a.spec, b.spec));
}
