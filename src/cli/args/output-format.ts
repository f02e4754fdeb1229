import { usageError } from "../cli-error.ts";

/** How resources are shown. */
export type OutputFormat =
  | { readonly kind: "table"; readonly isWide: boolean }
  | { readonly kind: "yaml" | "json" | "name" }
  | { readonly kind: "jsonpath"; readonly path: string }
  | { readonly kind: "custom-columns"; readonly columns: string };

export const OUTPUT_FORMATS = "table, wide, yaml, json, name, jsonpath=PATH or custom-columns=NAME:PATH,…";

/** Reads the value of `-o`. @throws {CliError} usage */
export function parseOutputFormat(text: string): OutputFormat {
  const [, kind, value = ""] = /^(jsonpath|custom-columns)=([^]*)$/.exec(text) ?? [];
  if (kind === "jsonpath" && value !== "") return { kind, path: value };
  if (kind === "custom-columns" && value !== "") return { kind, columns: value };
  switch (text) {
    case "table":
      return { kind: "table", isWide: false };
    case "wide":
      return { kind: "table", isWide: true };
    case "yaml":
    case "json":
    case "name":
      return { kind: text };
    default:
      throw usageError(`-o must be ${OUTPUT_FORMATS}, got ${JSON.stringify(text)}`);
  }
}
