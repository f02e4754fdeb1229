import { usageError } from "../cli-error.ts";

/** Longer paths are refused. Unit: UTF-16 units. */
const MAX_PATH_LENGTH = 1_000;

/**
 * The RFC 9535 expression for a path as people and definitions write it: `$.a.b` as it is; `{.a.b}`, `.a.b` and `a.b`
 * as `kubectl` reads them, where a name may hold dashes and escaped dots. Everything else that kubectl's templates
 * offer (text around a path, several paths, `range`, `end`) is refused.
 *
 * @throws {CliError} usage
 */
export function toJsonPath(text: string): string {
  if (text.length > MAX_PATH_LENGTH) {
    throw usageError(`a path may have at most ${MAX_PATH_LENGTH} characters, this one has ${text.length}`);
  }
  const trimmed = text.trim();
  if (trimmed.startsWith("$")) return trimmed;
  if (!trimmed.includes("{") && !trimmed.includes("}")) return convert(trimmed, text);
  const inner = /^\{([^]*)\}$/.exec(trimmed)?.[1];
  if (inner === undefined) throw refused(text, "text around the braces is a feature of kubectl's templates");
  return convert(inner.trim(), text);
}

function convert(path: string, original: string): string {
  if (/^(?:range\b|end$)/.test(path)) throw refused(original, "range and end are features of kubectl's templates");
  if (/^["']/.test(path)) throw refused(original, "text in braces is a feature of kubectl's templates");
  if (path.startsWith("$")) return path;
  const rest = path.startsWith("@") ? path.slice(1) : path;
  return `$${new PathConverter(rest, original).convert()}`;
}

function refused(text: string, reason: string): Error {
  return usageError(
    `${JSON.stringify(text)} is no path that can be used here: ${reason}; give one path, such as {.spec.size}`,
  );
}

const RFC_NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;

class PathConverter {
  readonly #path: string;
  readonly #original: string;
  #at = 0;

  constructor(path: string, original: string) {
    this.#path = path;
    this.#original = original;
  }

  convert(): string {
    let result = "";
    while (this.#at < this.#path.length) {
      const next = this.#path[this.#at];
      if (next === "{" || next === "}") throw refused(this.#original, "it has several parts in braces");
      if (next === "[") result += this.#brackets();
      else if (next === ".") result += this.#dotted();
      else if (this.#at === 0) result += this.#name(".");
      else throw refused(this.#original, `a "." or "[" was expected before ${JSON.stringify(next)}`);
    }
    return result;
  }

  #dotted(): string {
    const dots = this.#path.startsWith("..", this.#at) ? ".." : ".";
    this.#at += dots.length;
    if (this.#at >= this.#path.length) {
      // `{.}` is the whole.
      if (dots === "." && this.#path === ".") return "";
      throw refused(this.#original, "a name is missing at its end");
    }
    if (this.#path[this.#at] === "[") return dots === ".." ? ".." : "";
    return this.#name(dots);
  }

  #name(dots: string): string {
    let name = "";
    while (this.#at < this.#path.length) {
      const next = this.#path.charAt(this.#at);
      if (next === "\\" && this.#at + 1 < this.#path.length) {
        name += this.#path.charAt(this.#at + 1);
        this.#at += 2;
        continue;
      }
      if (next === "." || next === "[" || next === "{" || next === "}") break;
      name += next;
      this.#at++;
    }
    if (name === "") throw refused(this.#original, "a name is missing between two dots");
    if (name === "*" || RFC_NAME.test(name)) return `${dots}${name}`;
    if (/[\s"'()|]/.test(name)) throw refused(this.#original, `${JSON.stringify(name)} is no name`);
    return `${dots === ".." ? ".." : ""}[${JSON.stringify(name)}]`;
  }

  /** A part in brackets, as it is; a filter may hold further brackets, and quoted texts anything. */
  #brackets(): string {
    const start = this.#at;
    let depth = 0;
    let quote = "";
    for (; this.#at < this.#path.length; this.#at++) {
      const next = this.#path.charAt(this.#at);
      if (quote !== "") {
        if (next === "\\") this.#at++;
        else if (next === quote) quote = "";
      } else if (next === '"' || next === "'") quote = next;
      else if (next === "[") depth++;
      else if (next === "]" && --depth === 0) return this.#path.slice(start, ++this.#at);
    }
    throw refused(this.#original, `there is no "]" for the "[" at character ${start + 1}`);
  }
}
