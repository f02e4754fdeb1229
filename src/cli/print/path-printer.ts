import { jsonFormOf } from "./json-printer.ts";
import { writeForeign } from "../output.ts";
import { compilePath, formatFound, type PathQuery } from "./path-query.ts";
import type { Printer, PrinterOptions, Shown, ShownEvent } from "./printer.ts";

/** A printer of everything that a path finds in each resource, one value a line. @throws {CliError} usage */
export async function openPathPrinter(path: string, options: PrinterOptions): Promise<Printer> {
  return new PathPrinter(await compilePath(path), options);
}

class PathPrinter implements Printer {
  readonly #query: PathQuery;
  readonly #options: PrinterOptions;

  constructor(query: PathQuery, options: PrinterOptions) {
    this.#query = query;
    this.#options = options;
  }

  async list(shown: readonly Shown[]): Promise<void> {
    for (const one of shown) {
      const found = this.#query(await jsonFormOf(one, this.#options));
      await writeForeign(this.#options.stdout, found.map((value) => `${formatFound(value)}\n`).join(""));
    }
  }

  events(shown: readonly ShownEvent[]): Promise<void> {
    return this.list(shown);
  }

  async marker(): Promise<void> {}
}
