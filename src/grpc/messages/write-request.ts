import { WireReader, type WireWriter } from "../../wire/index.ts";
import { parsePhase, StateError, type Resource } from "../../resource/index.ts";
import type { ExpectedPhase } from "../../state/index.ts";
import { encodeMessage } from "./encode-message.ts";
import { readOwnerOptions, writeOwnerOptions } from "./pointer-request.ts";
import type { ResourceDecoder, ResourceEncoder, ResourceParts } from "../../protobuf/index.ts";

const CREATE_RESOURCE_TAG = 0x0a;
const CREATE_OPTIONS_TAG = 0x12;
const UPDATE_RESOURCE_TAG = 0x12;
const UPDATE_OPTIONS_TAG = 0x1a;
/** Tags of UpdateOptions. */
const OWNER_TAG = 0x0a;
const EXPECTED_PHASE_TAG = 0x12;

/** About what the options take. */
const OPTIONS_BYTES = 200;

/** What a Create request says. */
export interface CreateRequest {
  readonly resource: Resource;
  readonly owner: string;
}

/** What an Update request says. */
export interface UpdateRequest extends CreateRequest {
  readonly expectedPhase: ExpectedPhase;
}

/** @throws {StateError} `invalid` when the resource cannot be encoded. */
export function encodeCreateRequest(encoder: ResourceEncoder, resource: Resource, owner = ""): Uint8Array {
  const field = encoder.encodeField(resource);
  return encodeMessage((writer) => {
    writer.raw(field);
    writeOwnerOptions(writer, CREATE_OPTIONS_TAG, owner);
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
    writeUpdateOptions(writer, owner, expectedPhase);
    writer.close(options);
  }, bytes.length + OPTIONS_BYTES);
}

function writeUpdateOptions(writer: WireWriter, owner: string, expectedPhase: ExpectedPhase): void {
  if (owner !== "") writer.stringField(OWNER_TAG, owner);
  if (expectedPhase !== "any") writer.stringField(EXPECTED_PHASE_TAG, expectedPhase);
}

/**
 * @throws {WireError}
 * @throws {StateError} `invalid` for what is no resource.
 */
export function decodeCreateRequest(decoder: ResourceDecoder, bytes: Uint8Array): CreateRequest {
  const reader = new WireReader(bytes);
  let parts: ResourceParts | undefined;
  let owner = "";
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === CREATE_RESOURCE_TAG) parts = decoder.read(reader, parts);
    else if (tag === CREATE_OPTIONS_TAG) owner = readOwnerOptions(reader, owner);
    else reader.skip(tag);
  }
  return { resource: resourceOf(decoder, parts), owner };
}

/**
 * @throws {WireError}
 * @throws {StateError} `invalid` for what is no resource, and for an expected phase that is none.
 */
export function decodeUpdateRequest(decoder: ResourceDecoder, bytes: Uint8Array): UpdateRequest {
  const reader = new WireReader(bytes);
  let parts: ResourceParts | undefined;
  let owner = "";
  let phase: string | undefined;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === UPDATE_RESOURCE_TAG) parts = decoder.read(reader, parts);
    else if (tag === UPDATE_OPTIONS_TAG) {
      const outer = reader.enter();
      for (let inner = reader.tag(); inner !== 0; inner = reader.tag()) {
        if (inner === OWNER_TAG) owner = reader.string();
        else if (inner === EXPECTED_PHASE_TAG) phase = reader.string();
        else reader.skip(inner);
      }
      reader.leave(outer);
    } else reader.skip(tag);
  }
  const expectedPhase = phase === undefined ? "any" : parsePhase(phase);
  return { resource: resourceOf(decoder, parts), owner, expectedPhase };
}

function resourceOf(decoder: ResourceDecoder, parts: ResourceParts | undefined): Resource {
  if (parts === undefined) throw new StateError("invalid", "the request came without a resource");
  return decoder.resource(parts);
}
