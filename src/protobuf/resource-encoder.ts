import { messageOf } from "../internal/foreign-value.ts";
import { sizeOfVarint, UnencodableTextError, WireWriter } from "../wire/index.ts";
import {
  createMetadata,
  formatPointer,
  Handle,
  isSealed,
  isTombstone,
  jsonCodec,
  keepEncoding,
  keptEncoding,
  keptSpecEncoding,
  OpaqueSpec,
  sealResource,
  sourceOf,
  StateError,
  type Pointer,
  type Resource,
  type Tombstone,
} from "../resource/index.ts";
import { formatSpec } from "../yaml/index.ts";
import { writeMetadata } from "./metadata.ts";
import { METADATA_TAG } from "./resource-parts.ts";
import { buildSpecField, WITH_YAML, WITHOUT_YAML, writePrefix } from "./spec-field.ts";

/** Field 1: where nearly every message that has a resource has it. */
const RESOURCE_TAG = 0x0a;

const NO_BYTES = new Uint8Array(0);

/** The spec of a tombstone. A peer refuses a resource whose spec is not there at all. */
const EMPTY_SPEC = buildSpecField(NO_BYTES, NO_BYTES).field;

export interface ResourceEncoderOptions {
  /**
   * Whether specs are also rendered as YAML, which is all that generic tools can show; a function decides by type. It
   * takes some time for each new spec. Opaque specs keep the YAML that they came with. Default: true.
   */
  readonly yaml?: boolean | ((type: string) => boolean) | undefined;
  /**
   * Whether bytes stay beside the values that they were made of, for those that are sent again and again. Default: true.
   */
  readonly keep?: boolean | undefined;
}

/**
 * Makes wire messages of resources. Each resource is encoded once: the result stays beside the frozen value and lives as
 * long as it; that of the spec is shared by all versions that differ only in metadata.
 */
export class ResourceEncoder {
  readonly #yaml: boolean | ((type: string) => boolean);
  readonly #keep: boolean;
  readonly #writer = new WireWriter(1024);

  constructor(options: ResourceEncoderOptions = {}) {
    this.#yaml = options.yaml ?? true;
    this.#keep = options.keep ?? true;
  }

  /**
   * The resource as field 1 of a message. That is a whole `GetResponse`, `ListResponse`, `CreateResponse` or
   * `UpdateResponse`, and the beginning of a `CreateRequest` or an `Event`.
   *
   * @throws {StateError} `invalid` when a text has no UTF-8 form, or the codec of the type refuses the spec.
   */
  encodeField(resource: Resource | Tombstone): Uint8Array {
    if (isTombstone(resource)) return this.#build(resource, EMPTY_SPEC);
    if (!isSealed(resource)) {
      return this.encodeField(sealResource(createMetadata(resource.metadata), resource.spec, undefined));
    }
    const form = this.#formOf(resource);
    const kept = keptEncoding(resource, form);
    if (kept !== undefined) return Buffer.from(kept, "latin1");
    const spec = keptSpecEncoding(resource, form) ?? encodeSpec(resource, form === WITH_YAML);
    const bytes = this.#build(resource, spec);
    if (this.#keep) keepEncoding(resource, form, spec, bytes.toString("latin1"));
    return bytes;
  }

  /** The Resource message by itself. @throws as {@link encodeField} does. */
  encode(resource: Resource | Tombstone): Uint8Array {
    return contentOfField(this.encodeField(resource));
  }

  #formOf({ metadata, spec }: Resource): string {
    if (spec instanceof OpaqueSpec || this.#yaml === true) return WITH_YAML;
    return this.#yaml !== false && this.#yaml(metadata.type) ? WITH_YAML : WITHOUT_YAML;
  }

  #build({ metadata }: Resource | Tombstone, spec: string): Buffer {
    const writer = this.#writer;
    writer.reset();
    try {
      writeMetadata(writer, metadata);
    } catch (cause) {
      throw unencodable(metadata, cause);
    }
    const { length } = writer;
    const size = 1 + sizeOfVarint(length) + length + spec.length;
    const bytes = Buffer.allocUnsafe(1 + sizeOfVarint(size) + size);
    let at = writePrefix(bytes, 0, RESOURCE_TAG, size);
    at = writePrefix(bytes, at, METADATA_TAG, length);
    bytes.set(writer.take(), at);
    bytes.write(spec, at + length, "latin1");
    return bytes;
  }
}

/** What a field holds, without its tag, which must be below 16, and its length. */
export function contentOfField(field: Uint8Array): Uint8Array {
  let at = 1;
  while ((field[at] ?? 0) > 0x7f) at++;
  return field.subarray(at + 1);
}

/** The spec as a field of a Resource message. */
function encodeSpec(resource: Resource, withYaml: boolean): string {
  const { metadata, spec } = resource;
  try {
    if (spec instanceof OpaqueSpec) return buildSpecField(spec.bytes ?? NO_BYTES, utf8(spec.yaml ?? "")).field;
    const codec = sourceOf(resource)?.codec ?? jsonCodec;
    // A handle wraps a live object: people may see it, but it cannot travel.
    const proto = spec instanceof Handle ? NO_BYTES : codec.encode(spec);
    const yaml = withYaml ? utf8(formatSpec(codec.toReadable === undefined ? spec : codec.toReadable(spec))) : NO_BYTES;
    return buildSpecField(proto, yaml).field;
  } catch (cause) {
    throw unencodable(metadata, cause);
  }
}

function utf8(text: string): Uint8Array {
  if (!text.isWellFormed()) throw new UnencodableTextError();
  return Buffer.from(text);
}

function unencodable(pointer: Pointer, cause: unknown): StateError {
  const reason = messageOf(cause);
  return new StateError("invalid", `${formatPointer(pointer)} cannot be encoded: ${reason}`, { cause, pointer });
}
