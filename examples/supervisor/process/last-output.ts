import { plainText } from "./plain-text.ts";

/** Lines that are remembered. */
const MAX_LINES = 20;
/** Longer lines are cut. Unit: UTF-16 units. */
const MAX_LENGTH = 200;

const ERROR = /error|fatal|panic|cannot|can't|failed|denied|refused/i;

/** Remembers the end of a process's output, to say in one line why it ended. */
export class LastOutput {
  readonly #lines: string[] = [];
  #unfinished = "";
  readonly #decoder = new TextDecoder();

  add(chunk: Uint8Array): void {
    const [first = "", ...others] = this.#decoder.decode(chunk, { stream: true }).split("\n");
    this.#unfinished = (this.#unfinished + first).slice(0, 4 * MAX_LENGTH);
    for (const next of others) {
      this.#push(this.#unfinished);
      this.#unfinished = next.slice(0, 4 * MAX_LENGTH);
    }
  }

  /** The last line that speaks of an error; undefined when none does. */
  get errorLine(): string | undefined {
    return this.#all.findLast((line) => ERROR.test(line));
  }

  /** {@link errorLine}, else the last line; undefined when there was no output. */
  get line(): string | undefined {
    return this.errorLine ?? this.#all.at(-1);
  }

  get #all(): string[] {
    return [...this.#lines, ...clean(this.#unfinished)];
  }

  #push(line: string): void {
    this.#lines.push(...clean(line));
    if (this.#lines.length > MAX_LINES) this.#lines.splice(0, this.#lines.length - MAX_LINES);
  }
}

function clean(line: string): string[] {
  const text = plainText(line).trim();
  return text === "" ? [] : [text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text];
}
