import { checkLabelKeys } from "../labels/label-key.ts";
import { createMetadata, type Metadata } from "../metadata/metadata.ts";
import { OpaqueSpec } from "../spec/opaque-spec.ts";
import { formatPointer } from "../pointer.ts";
import { isSealed, sealResource, sourceOf, type Resource, type SpecSource } from "../resource.ts";
import type { AnyResourceType } from "./resource-type.ts";
import { StateError } from "../state-error.ts";

/**
 * The types that a State knows. Everything that enters a State passes {@link admit}, whatever door it comes through,
 * so that a registered type never holds an invalid spec. Resources of other types pass as plain or opaque data.
 */
export class TypeRegistry {
  readonly #types = new Map<string, AnyResourceType>();

  constructor(types: Iterable<AnyResourceType> = []) {
    for (const type of types) this.register(type);
  }

  /** Registers a type. Repeating it, in whatever namespace, does nothing. @throws {TypeError} for a second definition. */
  register(type: AnyResourceType): void {
    const known = this.#types.get(type.type);
    if (known === undefined) this.#types.set(type.type, type);
    else if (known.source !== type.source)
      throw new TypeError(`type ${type.type} is registered with another definition already`);
  }

  get(type: string): AnyResourceType | undefined {
    return this.#types.get(type);
  }

  [Symbol.iterator](): IterableIterator<AnyResourceType> {
    return this.#types.values();
  }

  /**
   * The resource as a State may store it: deeply frozen, its spec checked by its type's schema. Resources made by a
   * {@link ResourceType} pass as they are, once the keys of their labels are known to be such that can be selected.
   *
   * @throws {StateError} `invalid` when metadata or spec are refused.
   */
  admit<Spec>(resource: Resource<Spec>): Resource<Spec> {
    const sealed = isSealed(resource);
    const metadata = sealed ? resource.metadata : createMetadata(resource.metadata);
    checkLabelKeys(metadata, metadata.labels);
    const source: SpecSource | undefined = this.#types.get(metadata.type)?.source;
    if (sealed && (source === undefined || source === sourceOf(resource))) return resource;
    const { spec } = resource;
    if (source !== undefined && spec instanceof OpaqueSpec) throw undecoded(metadata);
    return sealResource(metadata, spec, source);
  }
}

function undecoded(metadata: Metadata): StateError {
  const reason = "came undecoded, but its type is registered: decode it first";
  return new StateError("invalid", `${formatPointer(metadata)} ${reason}`, { pointer: metadata });
}
