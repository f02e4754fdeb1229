import { WireReader, WireWriter } from "../../wire/index.ts";
import type { NamespaceSpec, PrintColumn, ResourceDefinitionSpec } from "./meta-specs.ts";
import type { Immutable } from "../spec/plain-data.ts";
import type { SpecCodec } from "../spec/spec-codec.ts";

// Peers know these two types by messages of the wire protocol (`proto/cosi/resource/meta`). They are coded by hand so
// that the core loads nothing; a test holds them equal to the protobuf library.

const DESCRIPTION_TAG = 0x0a;

export const namespaceCodec: SpecCodec<NamespaceSpec> = Object.freeze({
  encode({ description }: Immutable<NamespaceSpec>): Uint8Array {
    const writer = new WireWriter();
    if (description !== "") writer.stringField(DESCRIPTION_TAG, description);
    return writer.take();
  },
  decode(bytes: Uint8Array): NamespaceSpec {
    const reader = new WireReader(bytes);
    let description = "";
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === DESCRIPTION_TAG) description = reader.string();
      else reader.skip(tag);
    }
    return { description };
  },
});

const TAG = {
  type: 0x0a,
  displayType: 0x12,
  defaultNamespace: 0x1a,
  aliases: 0x22,
  allAliases: 0x2a,
  printColumns: 0x32,
  sensitivity: 0x38,
} as const;
const NAME_TAG = 0x0a;
const JSON_PATH_TAG = 0x12;
const SENSITIVE = 1;

/** `skipAutomaticAliases` is not in the message: it matters only before the aliases are filled in. */
export const definitionCodec: SpecCodec<ResourceDefinitionSpec> = Object.freeze({
  encode(spec: Immutable<ResourceDefinitionSpec>): Uint8Array {
    const writer = new WireWriter();
    if (spec.type !== "") writer.stringField(TAG.type, spec.type);
    if (spec.displayType !== "") writer.stringField(TAG.displayType, spec.displayType);
    if (spec.defaultNamespace !== "") writer.stringField(TAG.defaultNamespace, spec.defaultNamespace);
    for (const alias of spec.aliases) writer.stringField(TAG.aliases, alias);
    for (const alias of spec.allAliases) writer.stringField(TAG.allAliases, alias);
    for (const { name, jsonPath } of spec.printColumns) {
      const mark = writer.open(TAG.printColumns);
      if (name !== "") writer.stringField(NAME_TAG, name);
      if (jsonPath !== "") writer.stringField(JSON_PATH_TAG, jsonPath);
      writer.close(mark);
    }
    if (spec.sensitivity !== undefined) writer.uint32Field(TAG.sensitivity, SENSITIVE);
    return writer.take();
  },
  decode(bytes: Uint8Array): unknown {
    const reader = new WireReader(bytes);
    let [type, displayType, defaultNamespace, sensitivity] = ["", "", "", 0];
    const aliases: string[] = [];
    const allAliases: string[] = [];
    const printColumns: PrintColumn[] = [];
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === TAG.type) type = reader.string();
      else if (tag === TAG.displayType) displayType = reader.string();
      else if (tag === TAG.defaultNamespace) defaultNamespace = reader.string();
      else if (tag === TAG.aliases) aliases.push(reader.string());
      else if (tag === TAG.allAliases) allAliases.push(reader.string());
      else if (tag === TAG.printColumns) printColumns.push(readColumn(reader));
      else if (tag === TAG.sensitivity) sensitivity = reader.int32();
      else reader.skip(tag);
    }
    const spec = { type, displayType, defaultNamespace, aliases, allAliases, printColumns };
    if (sensitivity === 0) return spec;
    // The schema refuses whatever a later version of the protocol may add.
    return { ...spec, sensitivity: sensitivity === SENSITIVE ? "sensitive" : `sensitivity ${sensitivity}` };
  },
});

function readColumn(reader: WireReader): PrintColumn {
  let [name, jsonPath] = ["", ""];
  const outer = reader.enter();
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === NAME_TAG) name = reader.string();
    else if (tag === JSON_PATH_TAG) jsonPath = reader.string();
    else reader.skip(tag);
  }
  reader.leave(outer);
  return { name, jsonPath };
}
