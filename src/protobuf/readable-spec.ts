import { messageOf } from "../internal/foreign-value.ts";
import { hasCode, jsonCodec, StateError, type SpecCodec } from "../resource/index.ts";

/**
 * What stands before a spec that is written by somebody who does not know the codec of its type. No protobuf message and
 * no JSON text starts with a zero, so that a peer which does not know this refuses it.
 */
const MARK = new TextEncoder().encode("\0homeostat/readable\n");

/**
 * The bytes of a spec in the form for people, for a peer that knows the type: it makes a spec of its own of them. A tool
 * that knows types only by their definitions writes specs like this; see {@link isReadableRefusal}.
 */
export function encodeReadableSpec(readable: unknown): Uint8Array {
  return withMark(jsonCodec.encode(readable));
}

/** A spec that every peer which reads {@link encodeReadableSpec} refuses: to find out whether it does. */
export function readableProbe(): Uint8Array {
  return withMark(new Uint8Array(0));
}

/**
 * True for the error of a peer that reads {@link encodeReadableSpec}, and was sent {@link readableProbe}. It is by the
 * category, which only servers of ours send: on the way in nothing else is a `type_mismatch`.
 */
export const isReadableRefusal = (error: unknown): boolean => hasCode(error, "type_mismatch");

function withMark(json: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(MARK.length + json.length);
  bytes.set(MARK);
  bytes.set(json, MARK.length);
  return bytes;
}

export function isReadableSpec(bytes: Uint8Array): boolean {
  return bytes[0] === 0 && bytes.length >= MARK.length && MARK.every((byte, i) => bytes[i] === byte);
}

/**
 * The spec that marked bytes stand for; its schema checks it afterwards.
 *
 * @throws {StateError} `type_mismatch` when behind the mark there is no JSON; what the codec throws for other JSON.
 */
export function decodeReadableSpec(bytes: Uint8Array, codec: SpecCodec): unknown {
  const readable = parse(bytes.subarray(MARK.length));
  return codec.fromReadable === undefined ? readable : codec.fromReadable(readable);
}

function parse(json: Uint8Array): unknown {
  // An empty text is an empty object to the codec.
  if (json.length === 0) throw new StateError("type_mismatch", "a readable spec must be JSON, got nothing");
  try {
    return jsonCodec.decode(json);
  } catch (cause) {
    throw new StateError("type_mismatch", `a readable spec must be JSON: ${messageOf(cause)}`, { cause });
  }
}
