import { createMetadata, type Metadata } from "./metadata/metadata.ts";
import type { Pointer } from "./pointer.ts";

/** Stands for a resource that is not there: metadata without a spec. */
export interface Tombstone {
  readonly metadata: Metadata;
  /** Reading it is a programming error. */
  readonly spec: never;
  /** `Tombstone(type(namespace/id@version))` */
  toString(): string;
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

/** True for what stands for a resource that does not exist: an address without content. */
export const isTombstone = (value: unknown): value is Tombstone => TombstoneResource.is(value);
