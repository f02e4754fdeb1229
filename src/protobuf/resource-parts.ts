import type { TextCache, WireReader } from "../wire/index.ts";
import { formatPointer, StateError, type Metadata } from "../resource/index.ts";
import { MetadataParts } from "./metadata.ts";

/** Tags of the Resource message. */
export const METADATA_TAG = 0x0a;
/** Tag of the spec in the Resource message: field 2, length-delimited. */
export const SPEC_TAG = 0x12;
/** Tags of the Spec message. */
export const PROTO_SPEC_TAG = 0x0a;
export const YAML_SPEC_TAG = 0x12;

const NO_BYTES = new Uint8Array(0);

/** Takes in the fields of a Resource message, or of several that are merged into one. */
export class ResourceParts {
  #metadata: MetadataParts | undefined;
  #hasSpec = false;
  /** Views of the message: copy what is kept. */
  proto: Uint8Array = NO_BYTES;
  yaml: Uint8Array = NO_BYTES;

  /** Reads the message in the field at hand. @throws {WireError} */
  read(reader: WireReader, texts: TextCache): void {
    const outer = reader.enter();
    this.readRest(reader, texts);
    reader.leave(outer);
  }

  /** Reads the message that is all the reader has left. @throws {WireError} */
  readRest(reader: WireReader, texts: TextCache): void {
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === METADATA_TAG) (this.#metadata ??= new MetadataParts()).read(reader, texts);
      else if (tag === SPEC_TAG) this.#readSpec(reader);
      else reader.skip(tag);
    }
  }

  /**
   * @param created - The time of creation, in place of the one in the message.
   * @throws {StateError} `invalid` when it cannot be metadata, or one of the two parts is not there.
   */
  metadata(created?: string): Metadata {
    if (this.#metadata === undefined) throw new StateError("invalid", "a resource came without metadata");
    const metadata = this.#metadata.seal(created);
    if (this.#hasSpec) return metadata;
    throw new StateError("invalid", `${formatPointer(metadata)} came without a spec`, { pointer: metadata });
  }

  #readSpec(reader: WireReader): void {
    this.#hasSpec = true;
    const outer = reader.enter();
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === PROTO_SPEC_TAG) this.proto = reader.bytes();
      else if (tag === YAML_SPEC_TAG) this.yaml = reader.bytes();
      else reader.skip(tag);
    }
    reader.leave(outer);
  }
}
