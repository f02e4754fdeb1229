import { YAMLMap, YAMLSeq, type Node } from "yaml";
import {
  createMetadata,
  sortedKeys,
  StateError,
  type Dictionary,
  type Metadata,
  type MetadataInit,
  type Pointer,
} from "../resource/index.ts";
import { addEntry, renderNode, verbatimNode } from "./render-node.ts";
import { YamlError } from "./yaml-error.ts";
import { YamlSource, type Entry, type Path, type SourceOptions } from "./yaml-source.ts";

const TEXT_FIELDS = ["namespace", "type", "id", "version", "owner", "phase", "created", "updated"] as const;
type TextField = (typeof TEXT_FIELDS)[number];

/** All keys that metadata may have, in the order in which they are written. */
export const METADATA_FIELDS: readonly string[] = [...TEXT_FIELDS, "labels", "annotations", "finalizers"];

/**
 * Metadata as a YAML mapping: the eight text fields always, labels, annotations (sorted) and finalizers when there are
 * any. Values are plain wherever YAML permits; times are in UTC and whole seconds.
 */
export function formatMetadata(metadata: Metadata): string {
  return renderNode(metadataNode(metadata));
}

/** {@link formatMetadata} before it becomes text. */
export function metadataNode(metadata: Metadata): YAMLMap {
  const map = new YAMLMap();
  for (const field of TEXT_FIELDS) {
    const isTime = field === "created" || field === "updated";
    addEntry(map, field, verbatimNode(isTime ? wholeSeconds(metadata[field]) : metadata[field]));
  }
  if (hasEntries(metadata.labels)) addEntry(map, "labels", dictionaryNode(metadata.labels));
  if (hasEntries(metadata.annotations)) addEntry(map, "annotations", dictionaryNode(metadata.annotations));
  if (metadata.finalizers.length > 0) {
    const list = new YAMLSeq();
    for (const finalizer of metadata.finalizers) list.items.push(verbatimNode(finalizer));
    addEntry(map, "finalizers", list);
  }
  return map;
}

const hasEntries = (entries: Dictionary): boolean => Object.keys(entries).length > 0;

function dictionaryNode(entries: Dictionary): YAMLMap {
  const map = new YAMLMap();
  for (const key of sortedKeys(entries)) addEntry(map, key, verbatimNode(entries[key] ?? ""));
  return map;
}

/** A timestamp in UTC without its fraction. */
function wholeSeconds(timestamp: string): string {
  const whole = timestamp.replace(/\.\d+/, "");
  return whole.endsWith("Z") ? whole : new Date(whole).toISOString().replace(".000Z", "Z");
}

/**
 * Reads metadata from a YAML mapping. Values are taken as written, whatever YAML would make of them; unknown keys are
 * passed over, missing ones have the values of new metadata.
 *
 * @throws {YamlError} with line and column.
 */
export function parseMetadata(text: string, options: SourceOptions = {}): Metadata {
  const source = new YamlSource(text, options);
  const errors: YamlError[] = [];
  const reading = readMetadata(source, source.root, [], errors);
  const [error] = errors;
  if (error !== undefined) throw error;
  return createMetadata({ ...NO_ADDRESS, ...reading?.values });
}

/** What missing address fields read as. */
export const NO_ADDRESS: Pointer = Object.freeze({ namespace: "", type: "", id: "" });

/** What a mapping says of metadata: only the fields that are there and right. */
export type PartialMetadata = { -readonly [Field in keyof MetadataInit]?: MetadataInit[Field] };

export interface MetadataReading {
  readonly values: PartialMetadata;
  /** Everything that the mapping holds, unknown keys as well. */
  readonly entries: ReadonlyMap<string, Entry>;
}

/** Reads as much as it can; what is wrong is added to `errors`. Undefined when `node` is no mapping at all. */
export function readMetadata(
  source: YamlSource,
  node: Node | null,
  path: Path,
  errors: YamlError[],
): MetadataReading | undefined {
  const entries = collect(errors, () => source.entriesOf(node, path));
  if (entries === undefined) return undefined;
  const values: PartialMetadata = {};
  for (const entry of entries) collect(errors, () => readField(source, entry, [...path, entry.key], values));
  return { values, entries: new Map(entries.map((entry) => [entry.key, entry])) };
}

function readField(source: YamlSource, { key, keyNode, value }: Entry, path: Path, values: PartialMetadata): void {
  const set = (field: PartialMetadata) => {
    try {
      createMetadata({ ...NO_ADDRESS, ...field });
    } catch (cause) {
      if (!(cause instanceof StateError)) throw cause;
      throw source.error(cause.message.replace(FIELD_NAME, ""), value ?? keyNode, path, { cause });
    }
    Object.assign(values, field);
  };
  if (isTextField(key)) set({ [key]: source.scalarText(value, path) });
  else if (key === "labels" || key === "annotations") set({ [key]: readDictionary(source, value, path) });
  else if (key === "finalizers") {
    set({ finalizers: source.itemsOf(value, path).map((item, i) => source.scalarText(item, [...path, i])) });
  }
}

/** How messages of the metadata itself start; the field is named by its path already. */
const FIELD_NAME = /^(?:metadata\.\w+|version|phase):? /;

const isTextField = (key: string): key is TextField => (TEXT_FIELDS as readonly string[]).includes(key);

function readDictionary(source: YamlSource, node: Node | null, path: Path): Dictionary {
  const entries = Object.create(null) as Record<string, string>;
  for (const { key, value } of source.entriesOf(node, path)) entries[key] = source.scalarText(value, [...path, key]);
  return entries;
}

/** What `read` returns; a {@link YamlError} that it throws joins `errors`, and the answer is undefined. */
export function collect<T>(errors: YamlError[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    errors.push(error);
    return undefined;
  }
}
