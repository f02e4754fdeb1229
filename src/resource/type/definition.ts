import type { Resource } from "../resource.ts";
import { defineResource, type AnyResourceType, type ResourceType } from "./resource-type.ts";
import { describeValue } from "../describe-value.ts";
import { definitionCodec, namespaceCodec } from "./meta-codecs.ts";
import type { NamespaceSpec, PrintColumn, ResourceDefinitionSpec } from "./meta-specs.ts";
import { shape } from "../spec/shape.ts";
import { StateError } from "../state-error.ts";

/** Namespace of the resources that describe namespaces and types, and owner of those that registries write. */
export const META_NAMESPACE = "meta";
/** Owner of the resources that describe namespaces and types. */
export const META_OWNER = "meta";

/** One per namespace; the id is its name. Informative: a namespace can be used without. */
export const NamespaceType: ResourceType<NamespaceSpec, "Namespaces.meta.cosi.dev"> = defineResource({
  type: "Namespaces.meta.cosi.dev",
  namespace: META_NAMESPACE,
  spec: shape({ description: "string" }),
  codec: namespaceCodec,
  aliases: ["ns"],
});

/** One per type; the id is the type in lower case. */
export const ResourceDefinitionType: ResourceType<ResourceDefinitionSpec, "ResourceDefinitions.meta.cosi.dev"> =
  defineResource({
    type: "ResourceDefinitions.meta.cosi.dev",
    namespace: META_NAMESPACE,
    spec: shape({
      type: "string",
      displayType: "string",
      defaultNamespace: "string",
      aliases: ["string"],
      allAliases: ["string"],
      "skipAutomaticAliases?": "boolean",
      printColumns: [{ name: "string", jsonPath: "string" }],
      "sensitivity?": parseSensitivity,
    }),
    codec: definitionCodec,
    aliases: ["api-resources"],
    columns: { Aliases: "$.aliases[:]" },
  });

function parseSensitivity(value: unknown): "sensitive" | undefined {
  if (value === "sensitive") return value;
  if (value === "") return undefined;
  throw new TypeError(`must be "sensitive" or absent, got ${describeValue(value)}`);
}

/** What {@link fillDefinition} completes. */
export interface DefinitionInput {
  readonly type: string;
  readonly defaultNamespace?: string | undefined;
  readonly aliases?: readonly string[] | undefined;
  readonly allAliases?: readonly string[] | undefined;
  /** Only the given aliases count. Default: false. */
  readonly skipAutomaticAliases?: boolean | undefined;
  readonly printColumns?: readonly Readonly<PrintColumn>[] | undefined;
  /** Default: not sensitive. */
  readonly sensitivity?: string | undefined;
}

/**
 * Checks a definition and derives the display name and the aliases. Pure, and filling a filled definition again changes
 * nothing. The library that knows English plurals is loaded on first use.
 *
 * @throws {StateError} `invalid`; the message says which rule the type breaks.
 */
export async function fillDefinition(input: DefinitionInput): Promise<ResourceDefinitionSpec> {
  const { type } = input;
  const { name, suffix } = splitType(type);
  const displayType = await singularOf(type, name);
  const aliases = [...(input.aliases ?? [])];
  const allAliases = [...(input.allAliases ?? [])];
  if (input.skipAutomaticAliases !== true) {
    aliases.push(displayType.toLowerCase());
    allAliases.push(...prefixesOf(name, suffix));
    aliases.push(...abbreviationsOf(name));
  }
  allAliases.push(...aliases);
  const { sensitivity = "" } = input;
  if (sensitivity !== "" && sensitivity !== "sensitive") {
    throw refused(type, `sensitivity must be "sensitive" or empty, got ${describeValue(sensitivity)}`);
  }
  return {
    type,
    displayType,
    defaultNamespace: input.defaultNamespace ?? "",
    aliases: [...new Set(aliases)],
    allAliases: [...new Set(allAliases)],
    ...(input.skipAutomaticAliases === true && { skipAutomaticAliases: true }),
    printColumns: (input.printColumns ?? []).map(({ name, jsonPath }) => ({ name, jsonPath })),
    ...(sensitivity !== "" && { sensitivity }),
  };
}

/**
 * The resource that describes `type` to people and peers, from what {@link defineResource} was told. Not stored yet.
 *
 * @throws {StateError} `invalid` when the type's name does not follow the rules; {@link fillDefinition}.
 */
export async function definitionOf(type: AnyResourceType): Promise<Resource<ResourceDefinitionSpec>> {
  const { aliases, columns, sensitive, skipAutomaticAliases } = type.presentation;
  const spec = await fillDefinition({
    type: type.type,
    defaultNamespace: type.namespace,
    aliases,
    skipAutomaticAliases,
    printColumns: Object.entries(columns).map(([name, path]) => ({ name, jsonPath: toPrintPath(path) })),
    sensitivity: sensitive ? "sensitive" : "",
  });
  return ResourceDefinitionType.create(type.type.toLowerCase(), spec, { annotations: schemaAnnotation(type) });
}

/**
 * Annotation of a resource definition: the JSON Schema of the type's specs, as JSON text. The message of a definition has
 * no field for it; peers pass annotations on as they are. `homeostat fields` shows it to people.
 */
export const SCHEMA_ANNOTATION = "homeostat/schema";

/** Longer schemas are not published: a definition is read by every command. Unit: UTF-16 units. */
const MAX_SCHEMA_LENGTH = 65_536;

function schemaAnnotation({ source }: AnyResourceType): Readonly<Record<string, string>> {
  const schema = source.jsonSchema?.();
  const text = schema === undefined ? "" : JSON.stringify(schema);
  return text === "" || text.length > MAX_SCHEMA_LENGTH ? {} : { [SCHEMA_ANNOTATION]: text };
}

/** A JSONPath (`$.size`) as definitions carry it: in curly braces, without the root (`{.size}`). */
export function toPrintPath(path: string): string {
  if (path.startsWith("{")) return path;
  return path.startsWith("$") ? `{${path.slice(1)}}` : `{${path}}`;
}

const NAME = /^[A-Z][A-Za-z0-9-]+$/;
const SUFFIX = /^[a-z][a-z0-9-]+(\.[a-z][a-z0-9-]+)*$/;
/** Longer types are refused. Unit: UTF-16 units. */
const MAX_TYPE_LENGTH = 500;

function splitType(type: string): { readonly name: string; readonly suffix: string } {
  if (typeof type !== "string" || type.length > MAX_TYPE_LENGTH)
    throw refused(type, `it must be a string of at most ${MAX_TYPE_LENGTH} characters`);
  const dot = type.indexOf(".");
  if (dot < 0) throw refused(type, "it needs a suffix after its name, as in Disks.hw.example");
  const [name, suffix] = [type.slice(0, dot), type.slice(dot + 1)];
  if (name === "") throw refused(type, "there is no name before the first dot");
  if (suffix === "") throw refused(type, "there is no suffix after the first dot");
  if (name === name.toLowerCase())
    throw refused(type, `the name ${describeValue(name)} must be CamelCase, as in Disks`);
  if (!NAME.test(name)) throw refused(type, `the name ${describeValue(name)} must match ${NAME.source}`);
  if (!SUFFIX.test(suffix)) throw refused(type, `the suffix ${describeValue(suffix)} must match ${SUFFIX.source}`);
  return { name, suffix };
}

/** The one word that the original's library has in addition: the same in singular and plural. */
const UNCHANGED_IN_PLURAL = "sms";

async function singularOf(type: string, name: string): Promise<string> {
  if (name.toLowerCase() === UNCHANGED_IN_PLURAL) return name;
  const { default: pluralize } = await import("pluralize");
  if (!pluralize.isPlural(name.toLowerCase())) {
    throw refused(type, `the name ${describeValue(name)} must be an English plural, such as ${pluralize.plural(name)}`);
  }
  return pluralize.singular(name);
}

/** The name alone, then with ever more of the suffix, but never all of it: that is the type itself. */
function prefixesOf(name: string, suffix: string): readonly string[] {
  const parts = suffix.split(".");
  return parts.map((_, count) => [name.toLowerCase(), ...parts.slice(0, count)].join("."));
}

/** The capitals of the name, if there are several: `rd` and `rds` for ResourceDefinitions. */
export function abbreviationsOf(name: string): readonly string[] {
  const capitals = name.replace(/[^A-Z]/g, "").toLowerCase();
  if (capitals.length < 2) return [];
  return capitals.endsWith("s") ? [capitals] : [capitals, `${capitals}s`];
}

function refused(type: unknown, reason: string): StateError {
  return new StateError("invalid", `resource definition of type ${describeValue(type)} is invalid: ${reason}`);
}
