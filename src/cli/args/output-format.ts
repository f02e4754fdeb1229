import { usageError } from "../cli-error.ts";

/** How resources are shown. */
export type OutputFormat =
  | { readonly kind: "table"; readonly isWide: boolean }
  | { readonly kind: "yaml" | "json" | "name" }
  | { readonly kind: "jsonpath"; readonly path: string };

export const OUTPUT_FORMATS = "table, wide, yaml, json, name or jsonpath=PATH";

/** Reads the value of `-o`. @throws {CliError} usage */
export function parseOutputFormat(text: string): OutputFormat {
  const path = /^jsonpath=([^]*)$/.exec(text)?.[1];
  if (path !== undefined && path !== "") return { kind: "jsonpath", path };
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
