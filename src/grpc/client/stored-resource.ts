import { WireReader } from "../../internal/wire-reader.ts";
import {
  keptSpecEncoding,
  OpaqueSpec,
  replaceMetadata,
  sealResource,
  sourceOf,
  StateError,
  type Resource,
} from "../../resource/index.ts";
import type { ResourceDecoder } from "../messages/resource-decoder.ts";
import type { ResourceParts } from "../messages/resource-parts.ts";
import { protoOf, WITH_YAML, WITHOUT_YAML } from "../messages/spec-field.ts";

const RESOURCE_TAG = 0x0a;

/**
 * The resource in the answer to a write: metadata as the server set it, and the very spec that was sent, unless the
 * server has changed that too. It is of the type of what was sent, whether the client knows that type or not.
 *
 * @param sent - What was encoded for the request.
 * @throws {StateError} `invalid`, and {@link WireError}, when the answer is no resource.
 */
export function readStored(decoder: ResourceDecoder, sent: Resource, answer: Uint8Array): Resource {
  const reader = new WireReader(answer);
  let parts: ResourceParts | undefined;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === RESOURCE_TAG) parts = decoder.read(reader, parts);
    else reader.skip(tag);
  }
  if (parts === undefined) throw new StateError("invalid", "the answer came without a resource");
  const { proto } = parts;
  const spec = sentSpec(sent);
  if (spec !== undefined && isSame(spec, proto)) return replaceMetadata(sent, parts.metadata());
  const stored = decoder.resource(parts);
  const source = sourceOf(sent);
  if (!(stored.spec instanceof OpaqueSpec) || source?.codec === undefined) return stored;
  return sealResource(stored.metadata, source.codec.decode(proto), source);
}

/** What programs read, as it was encoded for the request: one character for each byte. */
function sentSpec(sent: Resource): string | undefined {
  const field = keptSpecEncoding(sent, WITH_YAML) ?? keptSpecEncoding(sent, WITHOUT_YAML);
  return field === undefined ? undefined : protoOf(field);
}

function isSame(text: string, bytes: Uint8Array): boolean {
  return text.length === bytes.length && Buffer.from(text, "latin1").equals(bytes);
}
