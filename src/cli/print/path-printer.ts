import { jsonFormOf } from "./json-printer.ts";
import { writeForeign } from "../output.ts";
import { usageError } from "../cli-error.ts";
import { toJsonPath } from "./print-path.ts";
import { compilePath, formatFound, type PathQuery } from "./path-query.ts";
import type { Printer, PrinterOptions, Shown, ShownEvent } from "./printer.ts";

/** Such a path asks the list as a whole, as kubectl shows it: `{ items: [ … ] }`. */
const IS_OF_LIST = /^\$(?:\.items\b|\[["']items["']\])/;

/**
 * A printer of everything that a path finds in each resource, or in the list of them when it starts with `items`, one
 * value a line.
 *
 * @throws {CliError} usage
 */
export async function openPathPrinter(path: string, options: PrinterOptions): Promise<Printer> {
  if (IS_OF_LIST.test(toJsonPath(path)) && options.isWatch) {
    throw usageError(`a watch shows one resource at a time: ${JSON.stringify(path)} is for lists`);
  }
  return new PathPrinter(await compilePath(path), IS_OF_LIST.test(toJsonPath(path)), options);
}

class PathPrinter implements Printer {
  readonly #query: PathQuery;
  readonly #isOfList: boolean;
  readonly #options: PrinterOptions;

  constructor(query: PathQuery, isOfList: boolean, options: PrinterOptions) {
    this.#query = query;
    this.#isOfList = isOfList;
    this.#options = options;
  }

  async list(shown: readonly Shown[]): Promise<void> {
    if (!this.#isOfList) return this.#ofEach(shown);
    const items: unknown[] = [];
    for (const one of shown) items.push(await jsonFormOf(one, this.#options));
    await this.#write(this.#query({ items }));
  }

  /** A change is one resource, and never a list. */
  events(shown: readonly ShownEvent[]): Promise<void> {
    return this.#ofEach(shown);
  }

  async #ofEach(shown: readonly Shown[]): Promise<void> {
    for (const one of shown) await this.#write(this.#query(await jsonFormOf(one, this.#options)));
  }

  async #write(found: readonly unknown[]): Promise<void> {
    await writeForeign(this.#options.stdout, found.map((value) => `${formatFound(value)}\n`).join(""));
  }

  async marker(): Promise<void> {}
}
