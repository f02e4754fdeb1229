import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Alias,
  type Document,
  type ErrorCode,
  type Node,
  type ParsedNode,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { formatSpecPath } from "../resource/index.ts";
import { YamlError, type Position } from "./yaml-error.ts";

/** Where a text comes from. */
export interface SourceOptions {
  /** Name of the file, for positions. */
  readonly file?: string | undefined;
  /** Line of the file at which the text starts. Default: 1. */
  readonly firstLine?: number | undefined;
}

interface ParseOptions extends SourceOptions {
  /** `failsafe` leaves every scalar as it is written. Default: `core`. */
  readonly schema?: "core" | "failsafe" | undefined;
}

/** Keys and indexes from the document inwards. */
export type Path = readonly (string | number)[];

/** One entry of a mapping: its key as written, and both nodes. */
export interface Entry {
  readonly key: string;
  readonly keyNode: Node;
  readonly value: Node | null;
}

/** All tags that a document may use; they mean what the YAML specification says. */
const KNOWN_TAGS: ReadonlySet<string> = new Set(
  ["map", "seq", "str", "null", "bool", "int", "float", "binary"].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * Levels that documents may have, aliases included: whatever walks through one has stack enough for them. Plain data may
 * have fewer.
 */
export const MAX_DEPTH = 500;
const TOO_DEEP = "the document cannot be read; it is nested too deeply";

/**
 * One YAML document with the places of its nodes. Reading it takes time linear in its length: the parser's own check
 * for duplicate keys is quadratic, so {@link entriesOf} does it, and aliases are resolved in one pass.
 */
export class YamlSource {
  readonly #file: string | undefined;
  readonly #firstLine: number;
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed<ParsedNode>;
  #targets: ReadonlyMap<Alias, Node> | undefined;

  /** @throws {YamlError} when the text is no YAML, or more than one document. */
  constructor(text: string, options: ParseOptions = {}) {
    this.#file = options.file;
    this.#firstLine = options.firstLine ?? 1;
    this.#document = this.#parse(text, options.schema ?? "core");
    const [error] = this.#document.errors;
    if (error !== undefined) {
      const message = MESSAGES.get(error.code) ?? firstLineOf(error.message);
      throw new YamlError(message, this.#positionAt(error.pos[0]), undefined, { cause: error });
    }
    const tooDeep = firstBelow(this.#document.contents, MAX_DEPTH);
    if (tooDeep !== undefined) throw new YamlError(TOO_DEEP, this.positionOf(tooDeep));
  }

  /** The document's one node; null when it is empty. */
  get root(): Node | null {
    return this.#document.contents;
  }

  /** Where a node starts; the start of the text for none. */
  positionOf(node: Node | null | undefined): Position {
    return this.#positionAt(node?.range?.[0] ?? 0);
  }

  error(reason: string, node: Node | null | undefined, path: Path = [], options?: ErrorOptions): YamlError {
    return new YamlError(reason, this.positionOf(node), formatField(path), options);
  }

  /**
   * The entries of a mapping.
   *
   * @throws {YamlError} when `node` is none, or a key is no scalar or repeated.
   */
  entriesOf(node: Node | null, path: Path): readonly Entry[] {
    const map = this.resolve(node, path);
    if (!isMap(map)) throw this.error(`must be a mapping, got ${kindOfNode(map)}`, node, path);
    this.#checkTag(map, path);
    const seen = new Set<string>();
    return (map as YAMLMap<Node, Node | null>).items.map(({ key, value }) => {
      const text = this.scalarText(key, path, "a key");
      if (seen.has(text)) throw this.error("the key is there twice", key, [...path, text]);
      seen.add(text);
      return { key: text, keyNode: key, value };
    });
  }

  /** The items of a sequence. @throws {YamlError} when `node` is none. */
  itemsOf(node: Node | null, path: Path): readonly (Node | null)[] {
    const list = this.resolve(node, path);
    if (!isSeq(list)) throw this.error(`must be a list, got ${kindOfNode(list)}`, node, path);
    this.#checkTag(list, path);
    return list.items as (Node | null)[];
  }

  /** The text of a scalar as it was written, without regard to its type. @throws {YamlError} when `node` is none. */
  scalarText(node: Node | null, path: Path, wanted = "a single value"): string {
    const scalar = this.resolve(node, path);
    if (scalar === null) return "";
    if (!isScalar(scalar)) throw this.error(`must be ${wanted}, got ${kindOfNode(scalar)}`, node, path);
    this.#checkTag(scalar, path);
    return scalar.source ?? String(scalar.value);
  }

  /** A scalar with the type that YAML 1.2 gives it. */
  scalarValue(node: Node, path: Path): unknown {
    if (!isScalar(node)) throw this.error(`must be a single value, got ${kindOfNode(node)}`, node, path);
    this.#checkTag(node, path);
    const { value } = node;
    return typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }

  /** What an alias stands for; other nodes stand for themselves. @throws {YamlError} for an alias without its anchor. */
  resolve(node: Node | null, path: Path): Node | null {
    if (!isAlias(node)) return node;
    this.#targets ??= aliasTargets(this.#document);
    const target = this.#targets.get(node);
    if (target === undefined) throw this.error(`there is no anchor &${node.source} before this alias`, node, path);
    return target;
  }

  /** The node that tells best where `path` is: the key of a field, the item of a list, or the last part that exists. */
  locate(path: Path, from: Node | null = this.root): Node | null {
    let [place, node] = [from, from];
    for (const step of path) {
      const at = isAlias(node) ? this.resolve(node, path) : node;
      if (isMap(at)) {
        const pair = (at as YAMLMap<Node, Node | null>).items.find(
          ({ key }) => isScalar(key) && (key.source ?? String(key.value)) === String(step),
        );
        if (pair === undefined) break;
        [place, node] = [pair.key, pair.value];
      } else if (isSeq(at) && typeof step === "number" && at.items[step] !== undefined) {
        node = at.items[step] as Node | null;
        place = node ?? place;
      } else break;
    }
    return place;
  }

  #parse(text: string, schema: "core" | "failsafe"): Document.Parsed<ParsedNode> {
    try {
      return parseDocument(text, {
        lineCounter: this.#lines,
        schema,
        customTags: schema === "core" ? ["binary"] : null,
        intAsBigInt: true,
        uniqueKeys: false,
        prettyErrors: false,
        logLevel: "error",
      });
    } catch (cause) {
      // The parser reports what it finds; it throws only when it runs out of stack.
      throw new YamlError(TOO_DEEP, this.#positionAt(0), undefined, { cause });
    }
  }

  #positionAt(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { file: this.#file, line: Math.max(line, 1) + this.#firstLine - 1, column: Math.max(col, 1) };
  }

  #checkTag(node: Node, path: Path): void {
    const { tag } = node as { tag?: string };
    if (tag !== undefined && !KNOWN_TAGS.has(tag)) throw this.error(`the tag ${tag} is not supported`, node, path);
  }
}

/** What the parser says in words that are not for people who write documents. */
const MESSAGES: ReadonlyMap<ErrorCode, string> = new Map([
  ["MULTIPLE_DOCS", "there is a second document, where one is expected"],
  ["RESOURCE_EXHAUSTION", TOO_DEEP],
]);

/** A node that is nested deeper than so many levels. It is looked for without recursion. */
function firstBelow(root: Node | null, levels: number): Node | undefined {
  let [level, depth] = [root === null ? [] : [root], 0];
  while (level.length > 0) {
    if (depth++ > levels) return level[0];
    level = level.flatMap(childrenOf);
  }
  return undefined;
}

function childrenOf(node: Node): readonly Node[] {
  const isNode = (child: Node | null): child is Node => child !== null;
  if (isSeq(node)) return (node as YAMLSeq<Node | null>).items.filter(isNode);
  if (!isMap(node)) return [];
  return (node as YAMLMap<Node, Node | null>).items.flatMap(({ key, value }) => [key, value].filter(isNode));
}

/** For each alias the last node before it that carries its anchor. */
function aliasTargets(document: Document.Parsed): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Alias: (_, alias) => {
      const target = anchors.get(alias.source);
      if (target !== undefined) targets.set(alias, target);
    },
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

function kindOfNode(node: Node | null): string {
  if (isMap(node)) return "a mapping";
  if (isSeq(node)) return "a list";
  if (node === null || (isScalar(node) && node.value === null)) return "nothing";
  return "a single value";
}

function formatField(path: Path): string | undefined {
  const [root, ...rest] = path;
  return root === undefined ? undefined : formatSpecPath(rest, String(root));
}

function firstLineOf(message: string): string {
  return message.split("\n", 1)[0] ?? message;
}
