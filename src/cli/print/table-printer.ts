import { onOneLine } from "../../internal/visible-text.ts";
import { styleText } from "node:util";
import { Phase } from "../../resource/index.ts";
import { describeFailure } from "../failure.ts";
import type { NamedKind } from "../args/named-kind.ts";
import { compilePath, formatFound, type PathQuery } from "./path-query.ts";
import { isHidden, type Printer, type PrinterOptions, type Shown, type ShownEvent } from "./printer.ts";
import { readableSpec } from "./readable-value.ts";
import { padToWidth, textWidth } from "./text-width.ts";

const SYMBOLS = { created: "+", updated: "", destroyed: "-" } as const;
const COLORS = { created: "green", destroyed: "red" } as const;
const HIDDEN = "***";
/** Between two columns. */
const GAP = "   ";

interface Column {
  readonly header: string;
  /** @param spec - The readable spec; undefined when it is hidden or unreadable. */
  readonly cell: (row: Shown & Partial<ShownEvent>, spec: unknown) => string;
}

/** Rows under the columns of the type's definition. Widths only grow, so that the rows of a watch stay in line. */
export async function openTablePrinter(kind: NamedKind, isWide: boolean, options: PrinterOptions): Promise<Printer> {
  const columns: Column[] = [
    ...(options.withNodes ? [{ header: "NODE", cell: (row: Shown) => row.node ?? "" }] : []),
    ...(options.isWatch
      ? [{ header: "*", cell: ({ event }: Partial<ShownEvent>) => (event === undefined ? "" : SYMBOLS[event]) }]
      : []),
    { header: "NAMESPACE", cell: ({ resource }) => resource.metadata.namespace },
    { header: "TYPE", cell: () => kind.displayType },
    { header: "ID", cell: ({ resource }) => resource.metadata.id },
    { header: "VERSION", cell: ({ resource }) => resource.metadata.version },
    ...(isWide ? WIDE_COLUMNS : []),
  ];
  for (const { name, jsonPath } of kind.columns) {
    const query = await queryOf(kind, name, jsonPath, options);
    columns.push({ header: name.toUpperCase(), cell: (_, spec) => (query === undefined ? "?" : cellOf(query(spec))) });
  }
  return new TablePrinter(columns, kind.columns.length > 0, options);
}

const WIDE_COLUMNS: readonly Column[] = [
  { header: "PHASE", cell: ({ resource }) => resource.metadata.phase },
  { header: "OWNER", cell: ({ resource }) => resource.metadata.owner },
  { header: "UPDATED", cell: ({ resource }) => resource.metadata.updated },
  { header: "LABELS", cell: ({ resource }) => pairsOf(resource.metadata.labels) },
  { header: "FINALIZERS", cell: ({ resource }) => resource.metadata.finalizers.join(",") },
];

const pairsOf = (entries: Readonly<Record<string, string>>): string =>
  Object.entries(entries)
    .map(([key, value]) => (value === "" ? key : `${key}=${value}`))
    .toSorted()
    .join(",");

/** A definition comes from a peer: a path that cannot be used costs its column, not the table. */
async function queryOf(
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

const cellOf = (found: readonly unknown[]): string =>
  found.map((value) => (value === null ? "" : formatFound(value))).join(",");

class TablePrinter implements Printer {
  readonly #columns: readonly Column[];
  readonly #needsSpec: boolean;
  readonly #options: PrinterOptions;
  readonly #widths: number[];
  #hasHeader: boolean;

  constructor(columns: readonly Column[], needsSpec: boolean, options: PrinterOptions) {
    this.#columns = columns;
    this.#needsSpec = needsSpec;
    this.#options = options;
    this.#widths = columns.map(() => 0);
    this.#hasHeader = !options.withHeaders;
  }

  async list(shown: readonly (Shown & Partial<ShownEvent>)[]): Promise<void> {
    if (shown.length === 0) return;
    const rows: { readonly cells: readonly string[]; readonly of: Shown & Partial<ShownEvent> }[] = [];
    for (const one of shown) rows.push({ cells: await this.#cells(one), of: one });
    const headers = this.#columns.map(({ header }) => onOneLine(header));
    const isFirst = !this.#hasHeader;
    this.#hasHeader = true;
    for (const cells of [...(this.#options.withHeaders ? [headers] : []), ...rows.map(({ cells }) => cells)]) {
      cells.forEach((cell, i) => (this.#widths[i] = Math.max(this.#widths[i] ?? 0, textWidth(cell))));
    }
    const lines = rows.map(({ cells, of }) => this.#color(this.#line(cells), of));
    if (isFirst) lines.unshift(this.#line(headers));
    await this.#options.stdout.write(lines.map((line) => `${line}\n`).join(""));
  }

  events(shown: readonly ShownEvent[]): Promise<void> {
    return this.list(shown);
  }

  async marker(): Promise<void> {}

  #line(cells: readonly string[]): string {
    return cells
      .map((cell, i) => padToWidth(cell, this.#widths[i] ?? 0))
      .join(GAP)
      .trimEnd();
  }

  #color(line: string, { event, resource }: Shown & Partial<ShownEvent>): string {
    if (!this.#options.color) return line;
    const color =
      event === "created" || event === "destroyed"
        ? COLORS[event]
        : resource.metadata.phase === Phase.tearingDown
          ? "yellow"
          : undefined;
    return color === undefined ? line : styleText(color, line, { validateStream: false });
  }

  async #cells(row: Shown & Partial<ShownEvent>): Promise<readonly string[]> {
    const isSpecHidden = isHidden(row, this.#options);
    let spec: unknown;
    let isUnreadable = false;
    if (this.#needsSpec && !isSpecHidden) {
      try {
        spec = await readableSpec(row.resource);
      } catch {
        isUnreadable = true; // The row says so; `-o yaml` says why.
      }
    }
    const own = this.#columns.length - row.kind.columns.length;
    return this.#columns.map(({ cell }, i) => {
      if (i >= own && isSpecHidden) return HIDDEN;
      if (i >= own && isUnreadable) return "<unreadable>";
      return onOneLine(cell(row, spec));
    });
  }
}
