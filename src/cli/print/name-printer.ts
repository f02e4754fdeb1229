import { nameOf, type Printer, type PrinterOptions, type Shown, type ShownEvent } from "./printer.ts";

/** One `type/id` a line. */
export class NamePrinter implements Printer {
  readonly #options: PrinterOptions;

  constructor(options: PrinterOptions) {
    this.#options = options;
  }

  async list(shown: readonly Shown[]): Promise<void> {
    await this.#options.stdout.write(shown.map(({ resource }) => `${nameOf(resource.metadata)}\n`).join(""));
  }

  events(shown: readonly ShownEvent[]): Promise<void> {
    return this.list(shown);
  }

  async marker(): Promise<void> {}
}
