import { usageError } from "../cli-error.ts";

/** What to do with labels or annotations: texts are set, undefined removes. */
export type MetadataEdits = ReadonlyMap<string, string | undefined>;

/**
 * Reads `key=value` and `key-`.
 *
 * @param what - What the keys belong to, for messages.
 * @throws {CliError} usage
 */
export function parseMetadataEdits(args: readonly string[], what: string): MetadataEdits {
  const edits = new Map<string, string | undefined>();
  for (const arg of args) {
    const equals = arg.indexOf("=");
    const key = equals >= 0 ? arg.slice(0, equals) : arg.endsWith("-") ? arg.slice(0, -1) : undefined;
    if (key === undefined || key === "") throw usageError(`KEY=VALUE or KEY- was expected, got ${JSON.stringify(arg)}`);
    if (edits.has(key)) throw usageError(`the ${what} ${JSON.stringify(key)} is given twice`);
    edits.set(key, equals >= 0 ? arg.slice(equals + 1) : undefined);
  }
  if (edits.size === 0) throw usageError(`no ${what} is given; set one with KEY=VALUE, remove one with KEY-`);
  return edits;
}

/** True for an argument that is an edit, not an id: ids come before the first of these. */
export const isMetadataEdit = (arg: string): boolean => arg.includes("=") || arg.endsWith("-");
