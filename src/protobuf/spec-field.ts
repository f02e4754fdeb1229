import { sizeOfVarint } from "../wire/index.ts";
import { PROTO_SPEC_TAG, SPEC_TAG, YAML_SPEC_TAG } from "./resource-parts.ts";

/** The forms in which encodings are kept beside resources. Opaque specs know only the first. */
export const WITH_YAML = "cosi+yaml";
export const WITHOUT_YAML = "cosi";

/** The spec of a Resource message as a field of it, and its part for programs: one character for each byte. */
export interface SpecField {
  readonly field: string;
  readonly proto: string;
}

/** A field that holds a Spec message of the two parts; empty parts are left out, the field never is. */
export function buildSpecField(proto: Uint8Array, yaml: Uint8Array): SpecField {
  const size = fieldSize(proto) + fieldSize(yaml);
  const bytes = Buffer.allocUnsafe(1 + sizeOfVarint(size) + size);
  let at = writePrefix(bytes, 0, SPEC_TAG, size);
  if (proto.length > 0) at = writePrefix(bytes, at, PROTO_SPEC_TAG, proto.length);
  const protoFrom = at;
  bytes.set(proto, at);
  at += proto.length;
  if (yaml.length > 0) bytes.set(yaml, writePrefix(bytes, at, YAML_SPEC_TAG, yaml.length));
  const field = bytes.toString("latin1");
  return { field, proto: field.slice(protoFrom, protoFrom + proto.length) };
}

function fieldSize({ length }: Uint8Array): number {
  return length === 0 ? 0 : 1 + sizeOfVarint(length) + length;
}

/** Writes a tag and a length, and returns the position behind them. */
export function writePrefix(bytes: Uint8Array, from: number, tag: number, length: number): number {
  let at = from;
  bytes[at++] = tag;
  let rest = length;
  for (; rest > 0x7f; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
  bytes[at++] = rest;
  return at;
}
