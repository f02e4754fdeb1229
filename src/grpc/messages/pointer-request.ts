import { type WireWriter, WireReader } from "../../wire/index.ts";
import { withLife, type Kind, type LifePointer, type Pointer } from "../../resource/index.ts";
import { encodeMessage } from "./encode-message.ts";
import { writeLife, WriteOptionParts, writeOwner } from "./write-options.ts";

/** Tags that all requests about a kind or a resource share. */
export const NAMESPACE_TAG = 0x0a;
export const TYPE_TAG = 0x12;
export const ID_TAG = 0x1a;
const OPTIONS_TAG = 0x22;

/** What a Get, Destroy, Teardown or TeardownAndDestroy request says. */
export interface PointerRequest {
  /** Of one life, if the request names one. */
  readonly pointer: LifePointer;
  /** Empty: the resource has no owner. Always so in a Get. */
  readonly owner: string;
}

/** The options are always sent, even when they are empty: older servers do not survive their absence. */
export function encodePointerRequest(pointer: Pointer, owner = "", life?: string): Uint8Array {
  return encodeMessage((writer) => {
    writeKind(writer, pointer);
    if (pointer.id !== "") writer.stringField(ID_TAG, pointer.id);
    const options = writer.open(OPTIONS_TAG);
    writeOwner(writer, owner);
    writeLife(writer, life);
    writer.close(options);
  });
}

/** @throws {WireError} */
export function decodePointerRequest(bytes: Uint8Array): PointerRequest {
  const reader = new WireReader(bytes);
  const options = new WriteOptionParts();
  let [namespace, type, id] = ["", "", ""];
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === NAMESPACE_TAG) namespace = reader.string();
    else if (tag === TYPE_TAG) type = reader.string();
    else if (tag === ID_TAG) id = reader.string();
    else if (tag === OPTIONS_TAG) options.read(reader);
    else reader.skip(tag);
  }
  return { pointer: withLife({ namespace, type, id }, options.life), owner: options.owner };
}

export function writeKind(writer: WireWriter, { namespace, type }: Kind): void {
  if (namespace !== "") writer.stringField(NAMESPACE_TAG, namespace);
  if (type !== "") writer.stringField(TYPE_TAG, type);
}
