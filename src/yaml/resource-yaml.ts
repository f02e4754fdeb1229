import { YAMLMap } from "yaml";
import { sourceOf, type AnyResourceType, type Resource } from "../resource/index.ts";
import { buildResource, isErrors } from "./build-resource.ts";
import { formatFlat } from "./flat-spec.ts";
import { metadataNode, NO_ADDRESS, readMetadata } from "./metadata-yaml.ts";
import { readPlainValue } from "./plain-value.ts";
import { addEntry, plainNode, renderNode } from "./render-node.ts";
import type { YamlError } from "./yaml-error.ts";
import { YamlSource, type Entry, type SourceOptions } from "./yaml-source.ts";

/**
 * A resource as a YAML mapping of `metadata` and `spec`. Opaque specs keep the style of the text that they came as; a
 * live object behind a `Handle` is shown by its `toJSON` or `toString`.
 *
 * @throws {StateError} `invalid` when the spec has no YAML form.
 */
export function formatResource(resource: Resource): string {
  const document = new YAMLMap();
  addEntry(document, "metadata", metadataNode(resource.metadata));
  addEntry(document, "spec", plainNode(readableSpec(resource)));
  return renderNode(document);
}

/** The spec as people see it: the codec of its type may show it in another form than programs use. */
function readableSpec(resource: Resource): unknown {
  const codec = sourceOf(resource)?.codec;
  return codec?.toReadable === undefined ? resource.spec : codec.toReadable(resource.spec);
}

/** A spec, in the form for people, as YAML. @throws {StateError} `invalid` when it has no YAML form. */
export function formatSpec(readable: unknown): string {
  return formatFlat(readable) ?? renderNode(plainNode(readable));
}

/** Several resources as one stream of YAML documents. */
export function formatResources(resources: Iterable<Resource>): string {
  return Array.from(resources, formatResource).join("---\n");
}

/** Options of {@link parseResource}: the types that may come. */
export interface ParseResourceOptions extends SourceOptions {
  /** The types that may come. */
  readonly types: Iterable<AnyResourceType>;
}

/**
 * Reads what {@link formatResource} writes: exactly `metadata` and `spec`, of a known type, its spec checked by the
 * type's schema. For files that people write see {@link parseManifests}.
 *
 * @throws {YamlError} with line, column and field.
 */
export function parseResource(text: string, options: ParseResourceOptions): Resource {
  const source = new YamlSource(text, options);
  const entries = source.entriesOf(source.root, []);
  for (const { key, keyNode } of entries) {
    if (key !== "metadata" && key !== "spec")
      throw source.error("is not a known field; known: metadata, spec", keyNode, [key]);
  }
  const metadata = required(source, entries, "metadata");
  const spec = required(source, entries, "spec");
  source.entriesOf(spec.value, ["spec"]);

  const errors: YamlError[] = [];
  const reading = readMetadata(source, metadata.value, ["metadata"], errors);
  const init = { ...NO_ADDRESS, ...reading?.values };
  const [error] = errors;
  if (error !== undefined) throw error;
  const type = [...options.types].find((known) => known.type === init.type);
  if (type === undefined) {
    const at = ["metadata", "type"];
    throw source.error(`type ${JSON.stringify(init.type)} is not known`, source.locate(at), at);
  }
  const built = buildResource(source, init, readPlainValue(source, spec.value, ["spec"]), type);
  if (!isErrors(built)) return built;
  const [first] = built;
  if (first === undefined) throw new TypeError(`the schema of ${init.type} refused a spec without saying why`);
  throw first;
}

function required(source: YamlSource, entries: readonly Entry[], key: string): Entry {
  const entry = entries.find((one) => one.key === key);
  if (entry === undefined) throw source.error("is missing", source.root, [key]);
  return entry;
}
