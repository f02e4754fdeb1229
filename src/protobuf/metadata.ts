import { messageOf } from "../internal/foreign-value.ts";
import { defineOwn } from "../internal/define-own.ts";
import type { TextCache, WireReader, WireWriter } from "../wire/index.ts";
import {
  EMPTY_DICTIONARY,
  EPOCH,
  formatPointer,
  NO_FINALIZERS,
  parsePhase,
  parseVersion,
  sealFinalizers,
  sealMetadata,
  StateError,
  type Dictionary,
  type Metadata,
} from "../resource/index.ts";
import { formatInstant, readTimestamp, writeTimestamp, type Instant } from "./timestamp.ts";

/** Tags of the Metadata message: number of the field times 8, plus 2 for "length and bytes". */
const TAG = {
  namespace: 0x0a,
  type: 0x12,
  id: 0x1a,
  version: 0x22,
  owner: 0x2a,
  phase: 0x32,
  created: 0x3a,
  updated: 0x42,
  finalizers: 0x4a,
  labels: 0x52,
  annotations: 0x5a,
} as const;
const KEY_TAG = 0x0a;
const VALUE_TAG = 0x12;

/** More finalizers, labels or annotations in one resource are refused: a few bytes each would take megabytes. */
const MAX_ENTRIES = 100_000;

/** Go's implementation reads versions as signed numbers; what it cannot read must not get in. */
const MAX_VERSION = 2n ** 63n - 1n;

/** The fields of a Metadata message. Version, phase and both times are always written. */
export function writeMetadata(writer: WireWriter, metadata: Metadata): void {
  const { namespace, type, id, owner } = metadata;
  if (namespace !== "") writer.stringField(TAG.namespace, namespace);
  if (type !== "") writer.stringField(TAG.type, type);
  if (id !== "") writer.stringField(TAG.id, id);
  writer.stringField(TAG.version, metadata.version);
  if (owner !== "") writer.stringField(TAG.owner, owner);
  writer.stringField(TAG.phase, metadata.phase);
  writeTimestamp(writer, TAG.created, metadata.created);
  writeTimestamp(writer, TAG.updated, metadata.updated);
  for (const finalizer of metadata.finalizers) writer.stringField(TAG.finalizers, finalizer);
  writeDictionary(writer, TAG.labels, metadata.labels);
  writeDictionary(writer, TAG.annotations, metadata.annotations);
}

function writeDictionary(writer: WireWriter, tag: number, entries: Dictionary): void {
  if (entries === EMPTY_DICTIONARY) return;
  for (const key of Object.keys(entries)) {
    const mark = writer.open(tag);
    writer.stringField(KEY_TAG, key);
    writer.stringField(VALUE_TAG, entries[key] ?? "");
    writer.close(mark);
  }
}

/** Takes in the fields of a Metadata message, or of several that are merged into one, and makes metadata of them. */
export class MetadataParts {
  #namespace = "";
  #type = "";
  #id = "";
  #version = "";
  #owner = "";
  #phase = "";
  #created: Instant | undefined;
  #updated: Instant | undefined;
  #finalizers: string[] | undefined;
  #labels: Record<string, string> | undefined;
  #annotations: Record<string, string> | undefined;
  #entries = 0;

  /** Reads the message in the field at hand. @throws {WireError} */
  read(reader: WireReader, texts: TextCache): void {
    const outer = reader.enter();
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      switch (tag) {
        case TAG.namespace:
          this.#namespace = reader.string(texts);
          break;
        case TAG.type:
          this.#type = reader.string(texts);
          break;
        case TAG.id:
          this.#id = reader.string();
          break;
        case TAG.version:
          this.#version = reader.string(texts);
          break;
        case TAG.owner:
          this.#owner = reader.string(texts);
          break;
        case TAG.phase:
          this.#phase = reader.string(texts);
          break;
        case TAG.created:
          this.#created = readTimestamp(reader, this.#created);
          break;
        case TAG.updated:
          this.#updated = readTimestamp(reader, this.#updated);
          break;
        case TAG.finalizers:
          this.#count();
          (this.#finalizers ??= []).push(reader.string(texts));
          break;
        case TAG.labels:
          this.#count();
          readEntry(reader, texts, (this.#labels ??= {}));
          break;
        case TAG.annotations:
          this.#count();
          readEntry(reader, texts, (this.#annotations ??= {}));
          break;
        default:
          reader.skip(tag);
      }
    }
    reader.leave(outer);
  }

  /**
   * @param given - The time of creation, in place of the one in the message.
   * @throws {StateError} `invalid` when version or phase have a text that they cannot have.
   */
  seal(given?: string): Metadata {
    const created = given ?? format(this.#created);
    const isOneTime = given === undefined && sameInstant(this.#created, this.#updated);
    const updated = isOneTime ? created : format(this.#updated);
    return this.#checked(() =>
      sealMetadata({
        namespace: this.#namespace,
        type: this.#type,
        id: this.#id,
        version: parseWireVersion(this.#version),
        owner: this.#owner,
        phase: parsePhase(this.#phase),
        created,
        updated,
        finalizers: this.#finalizers === undefined ? NO_FINALIZERS : sealFinalizers(this.#finalizers),
        labels: seal(this.#labels),
        annotations: seal(this.#annotations),
      }),
    );
  }

  /** Adds the address to what is wrong. */
  #checked(make: () => Metadata): Metadata {
    try {
      return make();
    } catch (cause) {
      const pointer = { namespace: this.#namespace, type: this.#type, id: this.#id };
      const reason = messageOf(cause);
      throw new StateError("invalid", `${formatPointer(pointer)} is invalid: ${reason}`, { cause, pointer });
    }
  }

  #count(): void {
    if (++this.#entries <= MAX_ENTRIES) return;
    throw new StateError(
      "invalid",
      `a resource may have at most ${MAX_ENTRIES} finalizers, labels and annotations in all`,
    );
  }
}

const format = (instant: Instant | undefined): string =>
  instant === undefined ? EPOCH : formatInstant(instant.seconds, instant.nanos);

function sameInstant(a: Instant | undefined, b: Instant | undefined): boolean {
  return a?.seconds === b?.seconds && a?.nanos === b?.nanos;
}

/** `undefined`, or decimal digits of at most 63 bits. @throws {StateError} `invalid` */
function parseWireVersion(text: string): string {
  const version = parseVersion(text);
  if (version.length < 19 || BigInt(version) <= MAX_VERSION) return version;
  throw new StateError("invalid", `version must be at most ${MAX_VERSION}, got ${version}`);
}

function readEntry(reader: WireReader, texts: TextCache, entries: Record<string, string>): void {
  let [key, value] = ["", ""];
  const outer = reader.enter();
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === KEY_TAG) key = reader.string(texts);
    else if (tag === VALUE_TAG) value = reader.string(texts);
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (key === "__proto__") defineOwn(entries, key, value);
  else entries[key] = value;
}

/** The entries are ours alone, so they need no copy to be sealed. */
function seal(entries: Record<string, string> | undefined): Dictionary {
  if (entries === undefined) return EMPTY_DICTIONARY;
  return Object.freeze(Object.setPrototypeOf(entries, null) as Record<string, string>);
}
