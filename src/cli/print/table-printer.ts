import { onOneLine } from "../../internal/visible-text.ts";
import { styleText } from "node:util";
import { Phase } from "../../resource/index.ts";
import type { NamedKind } from "../args/named-kind.ts";
import { commonColumns, customColumns, definedColumns, leadingColumns, type Column, type Row } from "./columns.ts";
import { jsonFormOf } from "./json-printer.ts";
import { isHidden, type Printer, type PrinterOptions, type ShownEvent } from "./printer.ts";
import { readableSpec } from "./readable-value.ts";
import { TableWriter } from "./table-writer.ts";

const COLORS = { created: "green", destroyed: "red" } as const;
const HIDDEN = "***";

/** Rows under the columns of the type's definition. */
export async function openTablePrinter(kind: NamedKind, isWide: boolean, options: PrinterOptions): Promise<Printer> {
  const columns = [...commonColumns(kind, isWide, options), ...(await definedColumns(kind, options))];
  return new TablePrinter(columns, false, options);
}

/** Rows under columns of the user's own. @throws {CliError} usage */
export async function openColumnPrinter(columns: string, options: PrinterOptions): Promise<Printer> {
  return new TablePrinter([...leadingColumns(options), ...(await customColumns(columns))], true, options);
}

class TablePrinter implements Printer {
  readonly #columns: readonly Column[];
  /** True when cells are made of the whole resource, as JSON shows it. */
  readonly #needsForm: boolean;
  readonly #needsSpec: boolean;
  readonly #options: PrinterOptions;
  readonly #table: TableWriter;

  constructor(columns: readonly Column[], needsForm: boolean, options: PrinterOptions) {
    this.#columns = columns;
    this.#needsForm = needsForm;
    this.#needsSpec = columns.some((one) => one.of === "spec");
    this.#options = options;
    const headers = columns.map(({ header }) => onOneLine(header));
    this.#table = new TableWriter(headers, options.withHeaders);
  }

  async list(shown: readonly Row[]): Promise<void> {
    const rows: (readonly string[])[] = [];
    for (const one of shown) rows.push(await this.#cells(one));
    const text = this.#table.write(rows, (line, i) => {
      const row = shown[i];
      return row === undefined ? line : this.#color(line, row);
    });
    if (text !== "") await this.#options.stdout.write(text);
  }

  events(shown: readonly ShownEvent[]): Promise<void> {
    return this.list(shown);
  }

  async marker(): Promise<void> {}

  #color(line: string, { event, resource }: Row): string {
    if (!this.#options.color) return line;
    const color =
      event === "created" || event === "destroyed"
        ? COLORS[event]
        : resource.metadata.phase === Phase.tearingDown
          ? "yellow"
          : undefined;
    return color === undefined ? line : styleText(color, line, { validateStream: false });
  }

  async #cells(row: Row): Promise<readonly string[]> {
    const form = this.#needsForm ? await jsonFormOf(row, this.#options) : undefined;
    const { spec, instead } = await this.#specOf(row);
    return this.#columns.map(({ cell, of }) => {
      if (of === "resource") return onOneLine(cell(row, form));
      return instead ?? onOneLine(cell(row, spec));
    });
  }

  /** The readable spec, or what stands in its cells instead. */
  async #specOf(row: Row): Promise<{ readonly spec?: unknown; readonly instead?: string }> {
    if (!this.#needsSpec) return {};
    if (isHidden(row, this.#options)) return { instead: HIDDEN };
    try {
      return { spec: await readableSpec(row.resource) };
    } catch {
      return { instead: "<unreadable>" }; // The row says so; `-o yaml` says why.
    }
  }
}
