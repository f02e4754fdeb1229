import { messageOf } from "../internal/foreign-value.ts";
import { isAscii } from "node:buffer";
import { TextCache, WireReader } from "../wire/index.ts";
import {
  createTombstone,
  formatPointer,
  hasCode,
  jsonCodec,
  keepEncoding,
  OpaqueSpec,
  sealResource,
  StateError,
  UNDEFINED_VERSION,
  type AnyResourceType,
  type Metadata,
  type Resource,
  type Tombstone,
  type TypeRegistry,
} from "../resource/index.ts";
import { decodeReadableSpec, isReadableSpec } from "./readable-spec.ts";
import { ResourceParts } from "./resource-parts.ts";
import { buildSpecField, WITH_YAML } from "./spec-field.ts";

const RESOURCE_TAG = 0x0a;

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** How a resource is decoded from its message. */
export interface DecodeOptions {
  /** Leaves every spec as it came, also of types that are known. Default: false. */
  readonly skipDecoding?: boolean | undefined;
  /**
   * Leaves a spec as it came that its codec or schema refuses: who reads the resource as one of its type gets the error,
   * all others get the resource. Default: false.
   */
  readonly lenient?: boolean | undefined;
  /** Time of creation, in place of the one in the message. Default: none. */
  readonly created?: string | undefined;
}

/**
 * Makes resources of wire messages. Specs of registered types are decoded and checked by their schema; all others stay
 * opaque, their bytes and YAML verbatim. What is kept is copied: the message may be a view of a larger buffer.
 *
 * Every method throws a `WireError` when the bytes are no message, and a `StateError` with the code `invalid` when the
 * message is no resource: metadata or spec missing, a version or phase that is none, a spec that its codec or schema
 * refuses, unless it is to be lenient.
 */
export class ResourceDecoder {
  readonly #types: TypeRegistry;
  readonly #texts = new TextCache();

  constructor(types: TypeRegistry) {
    this.#types = types;
  }

  /** The Resource message by itself. */
  decode(bytes: Uint8Array, options: DecodeOptions = {}): Resource {
    const parts = new ResourceParts();
    parts.readRest(new WireReader(bytes), this.#texts);
    return this.resource(parts, options);
  }

  /**
   * The resource in field 1 of a message: `GetResponse`, `ListResponse`, `CreateResponse`, `UpdateResponse`.
   *
   * @throws {StateError} `invalid` also when there is none.
   */
  decodeField(bytes: Uint8Array, options: DecodeOptions = {}): Resource {
    const reader = new WireReader(bytes);
    let parts: ResourceParts | undefined;
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === RESOURCE_TAG) parts = this.read(reader, parts);
      else reader.skip(tag);
    }
    if (parts === undefined) throw new StateError("invalid", "the answer came without a resource");
    return this.resource(parts, options);
  }

  /** Reads the Resource message in the field at hand and merges it with what an earlier field said. */
  read(reader: WireReader, before?: ResourceParts): ResourceParts {
    const parts = before ?? new ResourceParts();
    parts.read(reader, this.#texts);
    return parts;
  }

  resource(parts: ResourceParts, options: DecodeOptions = {}): Resource {
    const metadata = parts.metadata(options.created);
    const type = options.skipDecoding === true ? undefined : this.#types.get(metadata.type);
    if (type === undefined) return opaqueResource(metadata, parts);
    try {
      return typedResource(metadata, parts, type);
    } catch (error) {
      if (options.lenient === true && error instanceof StateError) return opaqueResource(metadata, parts);
      throw error;
    }
  }

  /**
   * The resource of an event. What has no version and no content stands for something that does not exist; only events
   * have such, as in a request it is a new resource without content.
   */
  resourceOrTombstone(parts: ResourceParts, options: DecodeOptions = {}): Resource | Tombstone {
    if (parts.proto.length > 0 || parts.yaml.length > 0) return this.resource(parts, options);
    const metadata = parts.metadata();
    return metadata.version === UNDEFINED_VERSION ? createTombstone(metadata) : this.resource(parts, options);
  }
}

function opaqueResource(metadata: Metadata, { proto, yaml }: ResourceParts): Resource {
  const encoded = buildSpecField(proto, yaml);
  const spec = new OpaqueSpec({
    binary: proto.length === 0 ? undefined : encoded.proto,
    yaml: yaml.length === 0 ? undefined : decodeYaml(metadata, yaml, encoded.field),
  });
  const resource = sealResource(metadata, spec, undefined);
  keepEncoding(resource, WITH_YAML, encoded.field);
  return resource;
}

/** The text, which is the end of the field when it is ASCII: then the two share their memory. */
function decodeYaml(metadata: Metadata, yaml: Uint8Array, field: string): string {
  if (isAscii(yaml)) return field.slice(field.length - yaml.length);
  try {
    return UTF8.decode(yaml);
  } catch (cause) {
    throw invalid(metadata, "its YAML is not valid UTF-8", cause);
  }
}

function typedResource(metadata: Metadata, parts: ResourceParts, type: AnyResourceType): Resource {
  return sealResource(metadata, decodeSpec(metadata, parts.proto, type), type.source);
}

function decodeSpec(metadata: Metadata, bytes: Uint8Array, { codec }: AnyResourceType): unknown {
  try {
    if (isReadableSpec(bytes)) return decodeReadableSpec(bytes, codec);
    // A codec may keep views of what it is given, and these are views of all that came with the message; JSON has none.
    return codec.decode(codec === jsonCodec ? bytes : new Uint8Array(bytes));
  } catch (cause) {
    const code = isReadableSpec(bytes) && hasCode(cause, "type_mismatch") ? "type_mismatch" : "invalid";
    throw refusal(code, metadata, `its spec cannot be decoded: ${messageOf(cause)}`, cause);
  }
}

const invalid = (metadata: Metadata, reason: string, cause: unknown): StateError =>
  refusal("invalid", metadata, reason, cause);

function refusal(code: "invalid" | "type_mismatch", metadata: Metadata, reason: string, cause: unknown): StateError {
  return new StateError(code, `${formatPointer(metadata)} is invalid: ${reason}`, { cause, pointer: metadata });
}
