import { usageError } from "../cli-error.ts";
import { toJsonPath } from "./print-path.ts";
import { toQueryable } from "./readable-value.ts";

/** Everything that a path finds in plain data, in the order of the document. */
export type PathQuery = (value: unknown) => readonly unknown[];

/** Functions of filters that run a pattern: fine when the user writes them, no good from a peer, since they may hang. */
const PATTERN_FUNCTION = /\b(?:match|search)\s*\(/;

/**
 * Makes a path ready to be asked. The library is loaded on first use.
 *
 * @param isForeign - The path comes from a peer: pattern functions are refused. Default: false.
 * @throws {CliError} usage, when it is no path.
 */
export async function compilePath(text: string, isForeign = false): Promise<PathQuery> {
  const path = toJsonPath(text);
  if (isForeign && PATTERN_FUNCTION.test(path)) {
    throw usageError(`the path ${JSON.stringify(text)} uses a pattern, which a definition may not`);
  }
  const { query } = await import("jsonpath-rfc9535");
  const ask: PathQuery = (value) => query(toQueryable(value) as never, path);
  try {
    ask(null);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw usageError(`${JSON.stringify(text)} is no JSONPath: ${reason}`, { cause });
  }
  return ask;
}

/** A found value as text: texts as they are, everything else as JSON on one line. */
export function formatFound(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
