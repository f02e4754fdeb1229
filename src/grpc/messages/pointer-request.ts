import { type WireWriter, WireReader } from "../../wire/index.ts";
import type { Kind, Pointer } from "../../resource/index.ts";
import { encodeMessage } from "./encode-message.ts";

/** Tags that all requests about a kind or a resource share. */
export const NAMESPACE_TAG = 0x0a;
export const TYPE_TAG = 0x12;
export const ID_TAG = 0x1a;
const OPTIONS_TAG = 0x22;
const OWNER_TAG = 0x0a;

/** What a Get, Destroy, Teardown or TeardownAndDestroy request says. */
export interface PointerRequest {
  readonly pointer: Pointer;
  /** Empty: the resource has no owner. Always so in a Get. */
  readonly owner: string;
}

/** The options are always sent, even when they are empty: older servers do not survive their absence. */
export function encodePointerRequest(pointer: Pointer, owner = ""): Uint8Array {
  return encodeMessage((writer) => {
    writeKind(writer, pointer);
    if (pointer.id !== "") writer.stringField(ID_TAG, pointer.id);
    writeOwnerOptions(writer, OPTIONS_TAG, owner);
  });
}

/** @throws {WireError} */
export function decodePointerRequest(bytes: Uint8Array): PointerRequest {
  const reader = new WireReader(bytes);
  let [namespace, type, id, owner] = ["", "", "", ""];
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === NAMESPACE_TAG) namespace = reader.string();
    else if (tag === TYPE_TAG) type = reader.string();
    else if (tag === ID_TAG) id = reader.string();
    else if (tag === OPTIONS_TAG) owner = readOwnerOptions(reader, owner);
    else reader.skip(tag);
  }
  return { pointer: { namespace, type, id }, owner };
}

export function writeKind(writer: WireWriter, { namespace, type }: Kind): void {
  if (namespace !== "") writer.stringField(NAMESPACE_TAG, namespace);
  if (type !== "") writer.stringField(TYPE_TAG, type);
}

/** Options with nothing but an owner. */
export function writeOwnerOptions(writer: WireWriter, tag: number, owner: string): void {
  const options = writer.open(tag);
  if (owner !== "") writer.stringField(OWNER_TAG, owner);
  writer.close(options);
}

/** The owner in the options at hand; `before` when they name none. */
export function readOwnerOptions(reader: WireReader, before: string): string {
  let owner = before;
  const outer = reader.enter();
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === OWNER_TAG) owner = reader.string();
    else reader.skip(tag);
  }
  reader.leave(outer);
  return owner;
}
