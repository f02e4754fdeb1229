import type { PrintColumn, Resource } from "../../resource/index.ts";
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
  /** False when nobody described the type: then it is only known by its full name. */
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
    isDescribed: false,
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((part) => typeof part === "string" && part !== "") : [];

function columnsOf(value: unknown): readonly PrintColumn[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).flatMap((column) => {
    const [name, jsonPath] = [textOf(column["name"]), textOf(column["jsonPath"])];
    return name === "" || jsonPath === "" ? [] : [{ name, jsonPath }];
  });
}
