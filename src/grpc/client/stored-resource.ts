import { WireReader } from "../../wire/index.ts";
import {
  OpaqueSpec,
  replaceMetadata,
  sealResource,
  sourceOf,
  StateError,
  type Resource,
} from "../../resource/index.ts";
import { type ResourceDecoder, PROTO_SPEC_TAG, SPEC_TAG, type ResourceParts } from "../../protobuf/index.ts";

const ANSWERED_RESOURCE_TAG = 0x0a;
/** Where the requests of the two writes have their resource. */
export const CREATED_RESOURCE_TAG = 0x0a;
export const UPDATED_RESOURCE_TAG = 0x12;

const NO_BYTES = new Uint8Array(0);

/** A resource on its way to the server. */
export interface SentResource {
  readonly resource: Resource;
  /** The request that carries it. */
  readonly message: Uint8Array;
  readonly tag: number;
}

/**
 * The resource in the answer to a write: metadata as the server set it, and the very spec that was sent, unless the
 * server has changed that too. It is of the type of what was sent, whether the client knows that type or not.
 *
 * @throws {StateError} `invalid`, and {@link WireError}, when the answer is no resource.
 */
export function readStored(decoder: ResourceDecoder, sent: SentResource, answer: Uint8Array): Resource {
  const reader = new WireReader(answer);
  let parts: ResourceParts | undefined;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === ANSWERED_RESOURCE_TAG) parts = decoder.read(reader, parts);
    else reader.skip(tag);
  }
  if (parts === undefined) throw new StateError("invalid", "the answer came without a resource");
  const { proto } = parts;
  const { resource } = sent;
  // Comparing the bytes is quicker than decoding them, and comparing specs finds the same object.
  if (sameBytes(protoOf(sent), proto)) return replaceMetadata(resource, parts.metadata());
  const stored = decoder.resource(parts);
  const source = sourceOf(resource);
  if (!(stored.spec instanceof OpaqueSpec) || source?.codec === undefined) return stored;
  return sealResource(stored.metadata, source.codec.decode(proto), source);
}

/** The bytes of the spec that programs read, in the request. */
function protoOf({ message, tag }: SentResource): Uint8Array {
  const reader = new WireReader(message);
  return enterField(reader, tag) && enterField(reader, SPEC_TAG) && enterField(reader, PROTO_SPEC_TAG)
    ? reader.rest()
    : NO_BYTES;
}

/** Goes into the first field of this tag; false when there is none. */
function enterField(reader: WireReader, wanted: number): boolean {
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === wanted) {
      reader.enter();
      return true;
    }
    reader.skip(tag);
  }
  return false;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  // A call into the platform costs more than a few bytes.
  if (a.length > 64) return Buffer.compare(a, b) === 0;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
