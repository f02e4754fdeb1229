import { usageError } from "../cli-error.ts";
import { compareText } from "../../internal/compare-text.ts";
import { parseQuantity } from "../../resource/index.ts";
import { jsonFormOf } from "./json-printer.ts";
import { compilePath } from "./path-query.ts";
import type { PrinterOptions, Shown } from "./printer.ts";

/** A way to order values of one sort. */
type Compare = (a: unknown, b: unknown) => number;

/**
 * Orders resources by what a path finds in each: numbers by their size, texts as quantities if all of them are some
 * (`10MiB`, `2k`), else by their UTF-8 bytes. Those in which it finds nothing come last; equal ones stay in their order.
 *
 * @throws {CliError} usage, for a path that is none.
 */
export async function sortShown(
  shown: readonly Shown[],
  path: string,
  options: Pick<PrinterOptions, "showSensitive" | "stderr">,
): Promise<readonly Shown[]> {
  const query = await compilePath(path);
  const keyed: { readonly one: Shown; readonly key: unknown }[] = [];
  for (const one of shown) {
    const [key, ...others] = query(await jsonFormOf(one, options));
    if (others.length > 0) throw usageError(`--sort-by needs a path to one value, ${JSON.stringify(path)} finds more`);
    keyed.push({ one, key });
  }
  const compare = compareFor(keyed.map(({ key }) => key).filter((key) => !isMissing(key)));
  return keyed.toSorted((a, b) => compareKeys(a.key, b.key, compare)).map(({ one }) => one);
}

const isMissing = (key: unknown): boolean => key === undefined || key === null;

function compareKeys(a: unknown, b: unknown, compare: Compare): number {
  if (isMissing(a) || isMissing(b)) return Number(isMissing(a)) - Number(isMissing(b));
  return compare(a, b);
}

function compareFor(keys: readonly unknown[]): Compare {
  if (keys.every((key) => typeof key === "number" || typeof key === "boolean")) return (a, b) => Number(a) - Number(b);
  const quantities = keys.map((key) => parseQuantity(textOf(key)));
  if (!quantities.includes(undefined)) {
    return (a, b) => compareBigints(parseQuantity(textOf(a)) ?? 0n, parseQuantity(textOf(b)) ?? 0n);
  }
  return (a, b) => compareText(textOf(a), textOf(b));
}

const compareBigints = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
const textOf = (key: unknown): string => (typeof key === "string" ? key : (JSON.stringify(key) ?? ""));
