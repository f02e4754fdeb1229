import type { AnyResourceType, Resource } from "../resource/index.ts";
import { buildResource, isErrors } from "./build-resource.ts";
import { collect, METADATA_FIELDS, NO_ADDRESS, readMetadata, type MetadataReading } from "./metadata-yaml.ts";
import { readPlainValue, type KeepText } from "./plain-value.ts";
import type { TypeNames } from "./type-names.ts";
import type { YamlError } from "./yaml-error.ts";
import type { Entry, YamlSource } from "./yaml-source.ts";

/** Keys that people bring along from other systems, and what to write instead. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ["apiVersion", "; the type is a field of metadata"],
  ["kind", "; the type is a field of metadata"],
  ["type", "; it belongs into metadata"],
  ["id", "; it belongs into metadata"],
  ["name", "; the name of a resource is metadata.id"],
]);

/** One document. */
export interface Manifest {
  readonly resource: Resource;
  /** False when the document has no `spec`. */
  readonly hasSpec: boolean;
}

/** Reads one manifest as far as it can; what is wrong is added to `errors`, and then the answer counts for nothing. */
export async function readManifest(
  source: YamlSource,
  types: TypeNames,
  errors: YamlError[],
  keepText?: KeepText,
): Promise<Manifest | undefined> {
  const parts = collect(errors, () => source.entriesOf(source.root, []));
  if (parts === undefined) return undefined;
  refuseUnknown(source, parts, [], ["metadata", "spec"], errors);
  const metadata = parts.find(({ key }) => key === "metadata");
  if (metadata === undefined) {
    errors.push(source.error("is missing", source.root, ["metadata"]));
    return undefined;
  }
  const reading = readMetadata(source, metadata.value, ["metadata"], errors);
  if (reading === undefined) return undefined;
  refuseUnknown(source, [...reading.entries.values()], ["metadata"], METADATA_FIELDS, errors);
  requireText(source, metadata, reading, "id", errors);
  requireText(source, metadata, reading, "type", errors);
  const type = await findType(source, types, reading, errors);
  if (type === undefined) return undefined;

  const values = { ...NO_ADDRESS, ...reading.values, type: type.type };
  const init = values.namespace === "" ? { ...values, namespace: type.namespace } : values;
  const spec = parts.find(({ key }) => key === "spec")?.value ?? null;
  const value = collect(errors, () => ({ spec: readPlainValue(source, spec, ["spec"], keepText) ?? {} }));
  if (value === undefined) return undefined;
  const built = buildResource(source, init, value.spec, type);
  if (!isErrors(built)) return { resource: built, hasSpec: parts.some(({ key }) => key === "spec") };
  errors.push(...built);
  return undefined;
}

/** Enough to see what is going on. */
const MAX_UNKNOWN = 20;

function refuseUnknown(
  source: YamlSource,
  entries: readonly Entry[],
  path: readonly string[],
  known: readonly string[],
  errors: YamlError[],
): void {
  const unknown = entries.filter(({ key }) => !known.includes(key));
  for (const { key, keyNode } of unknown.slice(0, MAX_UNKNOWN)) {
    errors.push(
      source.error(`is not a known field${HINTS.get(key) ?? `; known: ${known.join(", ")}`}`, keyNode, [...path, key]),
    );
  }
}

function requireText(
  source: YamlSource,
  metadata: Entry,
  reading: MetadataReading,
  field: "id" | "type",
  errors: YamlError[],
): void {
  const path = ["metadata", field];
  const entry = reading.entries.get(field);
  if (entry === undefined) errors.push(source.error("is missing", metadata.keyNode, path));
  else if (reading.values[field] === "") errors.push(source.error("must not be empty", entry.keyNode, path));
}

async function findType(
  source: YamlSource,
  types: TypeNames,
  reading: MetadataReading,
  errors: YamlError[],
): Promise<AnyResourceType | undefined> {
  const { type: name = "" } = reading.values;
  if (name === "") return undefined;
  const found = await types.find(name);
  if ("type" in found) return found.type;
  const entry = reading.entries.get("type");
  errors.push(
    source.error(`${JSON.stringify(name)} ${found.reason}`, entry?.value ?? entry?.keyNode, ["metadata", "type"]),
  );
  return undefined;
}
