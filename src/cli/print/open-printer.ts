import { JsonPrinter } from "./json-printer.ts";
import type { NamedKind } from "../args/named-kind.ts";
import { NamePrinter } from "./name-printer.ts";
import { openPathPrinter } from "./path-printer.ts";
import type { Printer, PrinterOptions } from "./printer.ts";
import { openColumnPrinter, openTablePrinter } from "./table-printer.ts";
import { YamlPrinter } from "./yaml-printer.ts";

/** The printer for what the user asked for. @throws {CliError} usage, for a path that is none. */
export async function openPrinter(kind: NamedKind, options: PrinterOptions): Promise<Printer> {
  const { format } = options;
  switch (format.kind) {
    case "table":
      return openTablePrinter(kind, format.isWide, options);
    case "yaml":
      return new YamlPrinter(options);
    case "json":
      return new JsonPrinter(options);
    case "jsonpath":
      return openPathPrinter(format.path, options);
    case "custom-columns":
      return openColumnPrinter(format.columns, options);
    case "name":
      return new NamePrinter(options);
  }
}
