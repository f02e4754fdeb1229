import { SCHEMA_ANNOTATION, type JsonSchema, type PrintColumn, type Resource } from "../../resource/index.ts";
import { readableSpec } from "../print/readable-value.ts";

/** A type as its definition presents it. */
export interface NamedKind {
  readonly type: string;
  /** The type in the singular, without its suffix. */
  readonly displayType: string;
  readonly defaultNamespace: string;
  /** Everything that the type is called, in lower case: its full name first. */
  readonly names: readonly string[];
  readonly columns: readonly PrintColumn[];
  readonly isSensitive: boolean;
  /** JSON Schema of the specs; undefined where the definition carries none. */
  readonly schema: JsonSchema | undefined;
  /** False when the type has no definition: then it is only known by its full name. */
  readonly isDescribed: boolean;
}

/** What a resource definition says; it comes from a peer, so that anything may be missing or wrong. */
export async function readDefinition(definition: Resource): Promise<NamedKind | undefined> {
  const spec = await readableSpec(definition);
  if (!isRecord(spec) || typeof spec["type"] !== "string" || spec["type"] === "") return undefined;
  const { type } = spec;
  const displayType = textOf(spec["displayType"]) || type.split(".", 1).join("");
  const names = [type, ...textsOf(spec["allAliases"]), ...textsOf(spec["aliases"]), displayType];
  return {
    type,
    displayType,
    defaultNamespace: textOf(spec["defaultNamespace"]) || "default",
    names: [...new Set(names.map((name) => name.toLowerCase()))],
    columns: columnsOf(spec["printColumns"]),
    isSensitive: spec["sensitivity"] !== undefined && spec["sensitivity"] !== "" && spec["sensitivity"] !== null,
    schema: schemaOf(definition),
    isDescribed: true,
  };
}

/** A type of which only the full name is known. */
export function undescribedKind(type: string): NamedKind {
  return {
    type,
    displayType: type.split(".", 1).join(""),
    defaultNamespace: "default",
    names: [type.toLowerCase()],
    columns: [],
    isSensitive: false,
    schema: undefined,
    isDescribed: false,
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((part) => typeof part === "string" && part !== "") : [];

function schemaOf({ metadata: { annotations } }: Resource): JsonSchema | undefined {
  const text = Object.hasOwn(annotations, SCHEMA_ANNOTATION) ? annotations[SCHEMA_ANNOTATION] : undefined;
  if (text === undefined) return undefined;
  try {
    const schema: unknown = JSON.parse(text);
    return isRecord(schema) ? schema : undefined;
  } catch {
    return undefined; // What a peer wrote badly is not known here.
  }
}

function columnsOf(value: unknown): readonly PrintColumn[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).flatMap((column) => {
    const [name, jsonPath] = [textOf(column["name"]), textOf(column["jsonPath"])];
    return name === "" || jsonPath === "" ? [] : [{ name, jsonPath }];
  });
}
