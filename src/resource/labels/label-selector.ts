import { describeValue } from "../describe-value.ts";
import {
  equal,
  exists,
  LabelOperator,
  lessOrEqual,
  lessOrEqualNumeric,
  lessThan,
  lessThanNumeric,
  not,
  oneOf,
  type LabelQuery,
  type LabelTerm,
} from "./label-query.ts";
import { LABEL_WORD, labelKeyMistake } from "./label-key.ts";
import { StateError } from "../state-error.ts";

/** Longer selectors are refused. Unit: UTF-16 units. */
const MAX_SELECTOR_LENGTH = 10_000;

/**
 * Reads a selector as `kubectl -l` does, and a little more; the conditions, separated by commas, must all hold:
 *
 * - `app`, `!app`: the label is there, or is not;
 * - `app=web` (also `==`), `app!=web`: a missing label is not equal to anything;
 * - `tier in (front, back)`, `tier notin (front)`;
 * - `size<10`, `size<=4GiB`, `size>1k`, `size>=0`: as numbers with units; a missing label never matches;
 * - `name lt m`, `le`, `gt`, `ge`: as text, by UTF-8 bytes; a missing label never matches.
 *
 * Values with other characters than letters, digits and `.-_/:@+*~` stand in double quotes, as in JSON; keys of labels
 * have no others. The empty selector matches everything.
 *
 * @throws {StateError} `invalid`; the message names the place and what was expected there.
 */
export function parseLabelSelector(selector: string): LabelQuery {
  if (typeof selector !== "string" || selector.length > MAX_SELECTOR_LENGTH) {
    throw new StateError("invalid", `a label selector must be a string of at most ${MAX_SELECTOR_LENGTH} characters`);
  }
  return new SelectorParser(selector).parse();
}

/** The selector text of a query; {@link parseLabelSelector} reads it back to one that matches the same. */
export function formatLabelQuery(query: LabelQuery): string {
  return query.map(formatTerm).join(",");
}

type Token =
  | { readonly kind: "word" | "text" | "symbol"; readonly value: string; readonly at: number }
  | { readonly kind: "end"; readonly at: number };

const SPACE = /\s*/y;
const WORD = new RegExp(LABEL_WORD.source, "uy");
const QUOTED = /"(?:[^"\\\p{Cc}]|\\.)*"/uy;
const SYMBOL = /==|!=|<=|>=|[=<>!(),]/y;

type Compare = (key: string, value: string) => LabelTerm;
const COMPARISONS: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ["=", equal],
  ["==", equal],
  ["!=", (key, value) => not(equal(key, value))],
  ["<", lessThanNumeric],
  ["<=", lessOrEqualNumeric],
  [">", (key, value) => not(lessOrEqualNumeric(key, value))],
  [">=", (key, value) => not(lessThanNumeric(key, value))],
  ["lt", lessThan],
  ["le", lessOrEqual],
  ["gt", (key, value) => not(lessOrEqual(key, value))],
  ["ge", (key, value) => not(lessThan(key, value))],
]);

class SelectorParser {
  readonly #source: string;
  #position = 0;
  #token: Token;

  constructor(source: string) {
    this.#source = source;
    this.#token = this.#read();
  }

  parse(): LabelQuery {
    const terms: LabelTerm[] = [];
    if (this.#atEnd()) return Object.freeze(terms);
    do terms.push(this.#term());
    while (this.#skip(","));
    if (!this.#atEnd()) throw this.#unexpected('"," or the end');
    return Object.freeze(terms);
  }

  #term(): LabelTerm {
    if (this.#skip("!")) return not(exists(this.#key()));
    const key = this.#key();
    const operator = this.#operator();
    if (operator === undefined) return exists(key);
    if (operator === "in") return oneOf(key, ...this.#list());
    if (operator === "notin") return not(oneOf(key, ...this.#list()));
    const compare = COMPARISONS.get(operator);
    if (compare === undefined) throw this.#unexpected("an operator such as =, !=, in, notin, <, lt");
    this.#advance();
    const empty = operator === "=" || operator === "==" || operator === "!=";
    return compare(key, empty && this.#atTermEnd() ? "" : this.#text(`a value after ${JSON.stringify(operator)}`));
  }

  /** The operator that stands here; undefined at the end of the term. `in` and `notin` are passed over. */
  #operator(): string | undefined {
    if (this.#atTermEnd()) return undefined;
    const token = this.#token;
    if (token.kind !== "word" && token.kind !== "symbol") throw this.#unexpected('an operator, "," or the end');
    if (token.value === "in" || token.value === "notin") this.#advance();
    return token.value;
  }

  #list(): readonly string[] {
    this.#expect("(");
    const values: string[] = [];
    if (this.#skip(")")) return values;
    do values.push(this.#text("a value"));
    while (this.#skip(","));
    this.#expect(")");
    return values;
  }

  #atEnd(): boolean {
    return this.#token.kind === "end";
  }

  #atTermEnd(): boolean {
    return this.#atEnd() || (this.#token.kind === "symbol" && this.#token.value === ",");
  }

  #key(): string {
    const { at } = this.#token;
    const key = this.#text("a label key");
    const mistake = labelKeyMistake(key);
    if (mistake !== undefined) throw this.#error(at, mistake);
    return key;
  }

  #text(wanted: string): string {
    const token = this.#token;
    if (token.kind !== "word" && token.kind !== "text") throw this.#unexpected(wanted);
    this.#advance();
    return token.value;
  }

  #expect(symbol: string): void {
    if (!this.#skip(symbol)) throw this.#unexpected(JSON.stringify(symbol));
  }

  #skip(symbol: string): boolean {
    if (this.#token.kind !== "symbol" || this.#token.value !== symbol) return false;
    this.#advance();
    return true;
  }

  #advance(): void {
    this.#token = this.#read();
  }

  #read(): Token {
    this.#match(SPACE);
    const at = this.#position;
    if (at === this.#source.length) return { kind: "end", at };
    const word = this.#match(WORD);
    if (word !== undefined) return { kind: "word", value: word, at };
    const quoted = this.#match(QUOTED);
    if (quoted !== undefined) return { kind: "text", value: this.#unquote(quoted, at), at };
    const symbol = this.#match(SYMBOL);
    if (symbol !== undefined) return { kind: "symbol", value: symbol, at };
    const reason =
      this.#source[at] === '"' ? "a quoted text without its end" : `unexpected ${JSON.stringify(this.#source[at])}`;
    throw this.#error(at, `${reason}; texts with special characters stand in double quotes`);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#source)?.[0];
    if (found !== undefined) this.#position += found.length;
    return found;
  }

  #unquote(quoted: string, at: number): string {
    try {
      return JSON.parse(quoted) as string;
    } catch (cause) {
      throw this.#error(at, `${describeValue(quoted)} is no JSON string`, cause);
    }
  }

  #unexpected(wanted: string): StateError {
    const token = this.#token;
    return this.#error(
      token.at,
      `expected ${wanted}, got ${token.kind === "end" ? "the end" : describeValue(token.value)}`,
    );
  }

  #error(at: number, reason: string, cause?: unknown): StateError {
    return new StateError("invalid", `label selector ${describeValue(this.#source)}, character ${at + 1}: ${reason}`, {
      cause,
    });
  }
}

const BARE = new RegExp(`^(?:${LABEL_WORD.source})$`, "u");
const quote = (text: string): string => (BARE.test(text) ? text : JSON.stringify(text));

/** What stands between a key and a value: for the comparison, and for its inversion. */
const SYMBOLS: ReadonlyMap<LabelOperator, readonly [string, string]> = new Map([
  [LabelOperator.equal, ["=", "!="]],
  [LabelOperator.lessThan, [" lt ", " ge "]],
  [LabelOperator.lessOrEqual, [" le ", " gt "]],
  [LabelOperator.lessThanNumeric, ["<", ">="]],
  [LabelOperator.lessOrEqualNumeric, ["<=", ">"]],
]);

function formatTerm({ key, operator, values, invert }: LabelTerm): string {
  const name = quote(key);
  const [value] = values;
  if (operator === LabelOperator.exists) return invert ? `!${name}` : name;
  if (operator === LabelOperator.in) return `${name} ${invert ? "notin" : "in"} (${values.map(quote).join(",")})`;
  const comparison = SYMBOLS.get(operator);
  if (comparison === undefined) throw new RangeError(`unknown label operator ${describeValue(operator)}`);
  if (value !== undefined) return `${name}${comparison[invert ? 1 : 0]}${quote(value)}`;
  // A comparison without a value: false for every label, without an answer for a missing one.
  if (!invert) return `${name} in ()`;
  return operator === LabelOperator.equal ? `${name} notin ()` : name;
}
