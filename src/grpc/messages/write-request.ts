import { WireReader } from "../../wire/index.ts";
import { EPOCH, lifeOf, parsePhase, StateError, type Resource } from "../../resource/index.ts";
import type { ExpectedPhase } from "../../state/index.ts";
import { encodeMessage } from "./encode-message.ts";
import { writeLife, WriteOptionParts, writeOwner } from "./write-options.ts";
import type { ResourceDecoder, ResourceEncoder, ResourceParts } from "../../protobuf/index.ts";

const CREATE_RESOURCE_TAG = 0x0a;
const CREATE_OPTIONS_TAG = 0x12;
const UPDATE_RESOURCE_TAG = 0x12;
const UPDATE_OPTIONS_TAG = 0x1a;
/** Of UpdateOptions. */
const EXPECTED_PHASE_TAG = 0x12;

/** About what the options take. */
const OPTIONS_BYTES = 200;

/** What a Create request says. */
export interface CreateRequest {
  readonly resource: Resource;
  readonly owner: string;
}

/** What an Update request says. The resource names a life only if the options do, whatever its metadata says. */
export interface UpdateRequest extends CreateRequest {
  readonly expectedPhase: ExpectedPhase;
}

/** @throws {StateError} `invalid` when the resource cannot be encoded. */
export function encodeCreateRequest(encoder: ResourceEncoder, resource: Resource, owner = ""): Uint8Array {
  const field = encoder.encodeField(resource);
  return encodeMessage((writer) => {
    writer.raw(field);
    const options = writer.open(CREATE_OPTIONS_TAG);
    writeOwner(writer, owner);
    writer.close(options);
  }, field.length + OPTIONS_BYTES);
}

/** @throws {StateError} `invalid` when the resource cannot be encoded. */
export function encodeUpdateRequest(
  encoder: ResourceEncoder,
  resource: Resource,
  owner = "",
  expectedPhase: ExpectedPhase = "running",
): Uint8Array {
  const bytes = encoder.encode(resource);
  return encodeMessage((writer) => {
    writer.bytesField(UPDATE_RESOURCE_TAG, bytes);
    const options = writer.open(UPDATE_OPTIONS_TAG);
    writeOwner(writer, owner);
    if (expectedPhase !== "any") writer.stringField(EXPECTED_PHASE_TAG, expectedPhase);
    writeLife(writer, lifeOf(resource.metadata));
    writer.close(options);
  }, bytes.length + OPTIONS_BYTES);
}

/**
 * @throws {WireError}
 * @throws {StateError} `invalid` for what is no resource.
 */
export function decodeCreateRequest(decoder: ResourceDecoder, bytes: Uint8Array): CreateRequest {
  const reader = new WireReader(bytes);
  let parts: ResourceParts | undefined;
  const options = new WriteOptionParts();
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === CREATE_RESOURCE_TAG) parts = decoder.read(reader, parts);
    else if (tag === CREATE_OPTIONS_TAG) options.read(reader);
    else reader.skip(tag);
  }
  return { resource: decoder.resource(required(parts)), owner: options.owner };
}

/**
 * @throws {WireError}
 * @throws {StateError} `invalid` for what is no resource, and for an expected phase that is none.
 */
export function decodeUpdateRequest(decoder: ResourceDecoder, bytes: Uint8Array): UpdateRequest {
  const reader = new WireReader(bytes);
  let parts: ResourceParts | undefined;
  const options = new WriteOptionParts();
  let phase: string | undefined;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === UPDATE_RESOURCE_TAG) parts = decoder.read(reader, parts);
    else if (tag === UPDATE_OPTIONS_TAG) {
      const outer = reader.enter();
      for (let inner = reader.tag(); inner !== 0; inner = reader.tag()) {
        if (inner === EXPECTED_PHASE_TAG) phase = reader.string();
        else options.readField(reader, inner);
      }
      reader.leave(outer);
    } else reader.skip(tag);
  }
  const expectedPhase = phase === undefined ? "any" : parsePhase(phase);
  const resource = decoder.resource(required(parts), { created: options.life ?? EPOCH });
  return { resource, owner: options.owner, expectedPhase };
}

function required(parts: ResourceParts | undefined): ResourceParts {
  if (parts === undefined) throw new StateError("invalid", "the request came without a resource");
  return parts;
}
