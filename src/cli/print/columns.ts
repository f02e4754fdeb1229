import { onOneLine } from "../../internal/visible-text.ts";
import { usageError } from "../cli-error.ts";
import { describeFailure } from "../failure.ts";
import type { NamedKind } from "../args/named-kind.ts";
import { formatAge } from "./age.ts";
import { compilePath, formatFound, type PathQuery } from "./path-query.ts";
import type { PrinterOptions, Shown, ShownEvent } from "./printer.ts";

export type Row = Shown & Partial<ShownEvent>;

/** A column of a table. */
export interface Column {
  readonly header: string;
  /** What the cell is made of; that of the spec is not shown when the spec is hidden or unreadable. */
  readonly of: "resource" | "spec";
  /** @param value - For a cell of the resource its JSON form, for one of the spec the readable spec. */
  readonly cell: (row: Row, value: unknown) => string;
}

const SYMBOLS = { created: "+", updated: "", destroyed: "-" } as const;

const column = (header: string, cell: Column["cell"]): Column => ({ header, of: "resource", cell });

/** The columns that all tables of resources have before those of the type. */
export function commonColumns(kind: NamedKind, isWide: boolean, options: PrinterOptions): readonly Column[] {
  return [
    ...leadingColumns(options),
    column("NAMESPACE", ({ resource }) => resource.metadata.namespace),
    column("TYPE", () => kind.displayType),
    column("ID", ({ resource }) => resource.metadata.id),
    column("VERSION", ({ resource }) => resource.metadata.version),
    ...(isWide ? wideColumns(options) : []),
  ];
}

/** What says whose row it is, and of which change. */
export function leadingColumns({ withNodes, isWatch }: PrinterOptions): readonly Column[] {
  return [
    ...(withNodes ? [column("NODE", (row) => row.node ?? "")] : []),
    ...(isWatch ? [column("*", ({ event }) => (event === undefined ? "" : SYMBOLS[event]))] : []),
  ];
}

function wideColumns({ clock }: PrinterOptions): readonly Column[] {
  return [
    column("PHASE", ({ resource }) => resource.metadata.phase),
    column("OWNER", ({ resource }) => resource.metadata.owner),
    column("AGE", ({ resource }) => formatAge(resource.metadata.created, clock.now())),
    column("UPDATED", ({ resource }) => `${formatAge(resource.metadata.updated, clock.now())}`),
    column("LABELS", ({ resource }) => pairsOf(resource.metadata.labels)),
    column("FINALIZERS", ({ resource }) => resource.metadata.finalizers.join(",")),
  ];
}

const pairsOf = (entries: Readonly<Record<string, string>>): string =>
  Object.entries(entries)
    .map(([key, value]) => (value === "" ? key : `${key}=${value}`))
    .toSorted()
    .join(",");

/** The columns of the type's definition. One that comes with an unusable path costs itself, not the table. */
export async function definedColumns(kind: NamedKind, options: PrinterOptions): Promise<readonly Column[]> {
  const columns: Column[] = [];
  for (const { name, jsonPath } of kind.columns) {
    const query = await foreignQuery(kind, name, jsonPath, options);
    const cell: Column["cell"] = (_, spec) => (query === undefined ? "?" : cellOf(query(spec), ""));
    columns.push({ header: name.toUpperCase(), of: "spec", cell });
  }
  return columns;
}

async function foreignQuery(
  kind: NamedKind,
  name: string,
  path: string,
  { stderr }: PrinterOptions,
): Promise<PathQuery | undefined> {
  try {
    return await compilePath(path, true);
  } catch (error) {
    await stderr.write(`homeostat: column ${onOneLine(name)} of ${kind.type}: ${describeFailure(error)}\n`);
    return undefined;
  }
}

const cellOf = (found: readonly unknown[], missing: string): string =>
  found.length === 0 ? missing : found.map((value) => (value === null ? "" : formatFound(value))).join(",");

/**
 * The columns of `-o custom-columns=NAME:.metadata.id,SIZE:.spec.size`. What a path does not find is `<none>`.
 *
 * @throws {CliError} usage
 */
export async function customColumns(text: string): Promise<readonly Column[]> {
  const columns: Column[] = [];
  for (const part of splitOutside(text)) {
    const colon = part.indexOf(":");
    const [header, path] = [part.slice(0, Math.max(0, colon)), part.slice(colon + 1)];
    if (header === "" || path === "") {
      throw usageError(`custom-columns are HEADER:PATH,HEADER:PATH, got ${JSON.stringify(part)}`);
    }
    const query = await compilePath(path);
    columns.push(column(header, (_, form) => cellOf(query(form), "<none>")));
  }
  return columns;
}

/** Splits at the commas that stand in no brackets, braces or quotes: those belong to a path. */
function splitOutside(text: string): readonly string[] {
  const parts: string[] = [""];
  let depth = 0;
  let quote = "";
  for (const character of text) {
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if ("[{(".includes(character)) depth++;
    else if ("]})".includes(character)) depth--;
    if (character === "," && depth === 0 && quote === "") parts.push("");
    else parts.push(`${parts.pop() ?? ""}${character}`);
  }
  return parts;
}
