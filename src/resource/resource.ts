import {
  createMetadata,
  MetadataDraft,
  sameMetadata,
  withMetadata,
  type Metadata,
  type MetadataInit,
  type MetadataPatch,
} from "./metadata.ts";
import { draftOf, freezePlain, samePlain, type Draft, type Immutable } from "./plain-data.ts";
import type { Pointer } from "./pointer.ts";
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
}

declare const OF: unique symbol;

/** Identity of the schema that admitted a spec; compared by reference only. */
export interface SpecSource {
  readonly type: string;
  /** Checks a spec and fills its defaults. @throws {StateError} `invalid` */
  parseSpec(value: unknown, pointer: Pointer): unknown;
}

/** Every resource that went through {@link sealResource}; the private fields prove that it is frozen and checked. */
class SealedResource implements Resource {
  readonly metadata: Metadata;
  readonly spec!: unknown;
  /** What checked the spec; undefined for plain data without a schema. */
  readonly #source: SpecSource | undefined;
  readonly #bytes: number;

  constructor(metadata: Metadata, spec: unknown, source: SpecSource | undefined, bytes: number) {
    this.metadata = metadata;
    if (spec instanceof Uint8Array) Object.defineProperty(this, "spec", { enumerable: true, get: () => spec.slice() });
    else this.spec = spec;
    this.#source = source;
    this.#bytes = bytes;
    Object.freeze(this);
  }

  static isSealed(value: object): boolean {
    return #source in value;
  }

  static sourceOf(value: object): SpecSource | undefined {
    return #source in value ? value.#source : undefined;
  }

  static bytesOf(value: object): number {
    return #bytes in value ? value.#bytes : 0;
  }

  toString(): string {
    return `${this.metadata.type}(${this.metadata.namespace}/${this.metadata.id}@${this.metadata.version})`;
  }
}

/** Memory that a resource takes besides its spec, labels and the like. Unit: bytes, approximate. */
const RESOURCE_BYTES = 200;

/** True for a resource that is known to be deeply frozen and, when it has a source, checked by it. */
export const isSealed = (resource: Resource): boolean => SealedResource.isSealed(resource);

/** The schema that checked this resource's spec, if any did. */
export const sourceOf = (resource: Resource): SpecSource | undefined => SealedResource.sourceOf(resource);

/** About how much memory the resource keeps alive, in bytes. */
export const resourceBytes = (resource: Resource): number => RESOURCE_BYTES + SealedResource.bytesOf(resource);

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
    throw new StateError(
      "invalid",
      `${metadata.type}(${metadata.namespace}/${metadata.id}): ${(cause as Error).message}`,
      {
        cause,
        pointer: metadata,
      },
    );
  }
}

/** The same spec under other metadata, which must be sealed. */
export function replaceMetadata<Spec>(resource: Resource<Spec>, metadata: Metadata): Resource<Spec> {
  return new SealedResource(
    metadata,
    resource.spec,
    SealedResource.sourceOf(resource),
    SealedResource.bytesOf(resource),
  ) as Resource<Spec>;
}

/** A copy of `resource` with the given metadata fields replaced. @throws {StateError} `invalid` */
export function patchMetadata<Spec>(resource: Resource<Spec>, patch: MetadataPatch): Resource<Spec> {
  return replaceMetadata(resource, withMetadata(resource.metadata, patch));
}

/** A copy of `resource` with another spec, checked by whatever checked the first. @throws {StateError} `invalid` */
export function withSpec<Spec>(resource: Resource<Spec>, spec: Spec | Immutable<Spec>): Resource<Spec> {
  return sealResource(resource.metadata, spec, SealedResource.sourceOf(resource));
}

/**
 * Changes a resource: may write to the draft of the spec and to the draft of the metadata, and may return a spec that
 * takes the draft's place. It can run more than once, so it must have no side effects that must not be repeated.
 */
export type Change<Spec> = (
  spec: Draft<Spec>,
  metadata: MetadataDraft,
) => Spec | Draft<Spec> | Immutable<Spec> | void | Promise<Spec | Draft<Spec> | Immutable<Spec> | void>;

/**
 * The value that `change` makes of `resource`; `resource` itself when nothing differs. Rejects with whatever `change`
 * throws, unchanged.
 *
 * @throws {StateError} `invalid` when the changed spec is refused by the resource's schema.
 */
export async function changeResource<Spec>(
  resource: Resource<Spec>,
  change: Change<Spec>,
  source: SpecSource | undefined = SealedResource.sourceOf(resource),
): Promise<Resource<Spec>> {
  const metadata = new MetadataDraft(resource.metadata);
  const draft = draftOf(resource.spec) as Draft<Spec>;
  const returned = change(draft, metadata);
  const settled = returned instanceof Promise ? await returned : returned;
  const spec = settled === undefined ? draft : settled;
  const sealed = metadata.seal();
  if (samePlain(spec, resource.spec))
    return sealed === resource.metadata ? resource : replaceMetadata(resource, sealed);
  return sealResource(sealed, spec, source);
}

/** Equal metadata (times and the order of finalizers aside) and deeply equal specs. */
export function sameResource(a: Resource, b: Resource): boolean {
  return a === b || (sameMetadata(a.metadata, b.metadata) && samePlain(a.spec, b.spec));
}

/** Stands for a resource that is not there: metadata without a spec. */
export interface Tombstone {
  readonly metadata: Metadata;
  /** Reading it is a programming error. */
  readonly spec: never;
}

class TombstoneResource implements Tombstone {
  readonly metadata: Metadata;

  constructor(metadata: Metadata) {
    this.metadata = metadata;
    Object.freeze(this);
  }

  get spec(): never {
    throw new TypeError(`${this.toString()} has no spec: the resource does not exist`);
  }

  static is(value: unknown): value is Tombstone {
    return value instanceof TombstoneResource;
  }

  toString(): string {
    const { type, namespace, id, version } = this.metadata;
    return `Tombstone(${type}(${namespace}/${id}@${version}))`;
  }
}

/** A tombstone that keeps the address and the version, and nothing else. */
export function createTombstone(reference: Pointer & { readonly version?: string | undefined }): Tombstone {
  const { namespace, type, id, version } = reference;
  return new TombstoneResource(createMetadata({ namespace, type, id, version }));
}

export const isTombstone = (value: unknown): value is Tombstone => TombstoneResource.is(value);
