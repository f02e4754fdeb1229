import { padToWidth, textWidth } from "./text-width.ts";

/** Between two columns. */
const GAP = "   ";

/** Lines up cells under headers. Widths only grow, so that the rows of a watch stay in line; nothing is ever cut. */
export class TableWriter {
  readonly #headers: readonly string[];
  readonly #widths: number[];
  readonly #withHeaders: boolean;
  #hasHeader: boolean;

  /** @param withHeaders - Write a line of headers before the first rows. Default: true. */
  constructor(headers: readonly string[], withHeaders = true) {
    this.#headers = headers;
    this.#widths = headers.map(() => 0);
    this.#withHeaders = withHeaders;
    this.#hasHeader = !withHeaders;
  }

  /** @param decorate - Adds what takes no room, such as colour, to the line of a row. */
  write(
    rows: readonly (readonly string[])[],
    decorate: (line: string, row: number) => string = (line) => line,
  ): string {
    if (rows.length === 0) return "";
    const isFirst = !this.#hasHeader;
    this.#hasHeader = true;
    for (const cells of this.#withHeaders ? [this.#headers, ...rows] : rows) {
      cells.forEach((cell, i) => (this.#widths[i] = Math.max(this.#widths[i] ?? 0, textWidth(cell))));
    }
    const lines = rows.map((cells, i) => decorate(this.#line(cells), i));
    if (isFirst) lines.unshift(this.#line(this.#headers));
    return lines.map((line) => `${line}\n`).join("");
  }

  #line(cells: readonly string[]): string {
    return cells
      .map((cell, i) => padToWidth(cell, this.#widths[i] ?? 0))
      .join(GAP)
      .trimEnd();
  }
}
