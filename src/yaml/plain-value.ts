import { isAlias, isMap, isSeq, type Node } from "yaml";
import { defineOwn } from "../internal/define-own.ts";
import { MAX_DEPTH, type Path, type YamlSource } from "./yaml-source.ts";

/** Aliases may add this many nodes to a document; more is an attack (each level of nesting multiplies them). */
const MAX_ALIASED_NODES = 100_000;

/**
 * The plain data that a node stands for, typed as YAML 1.2 says; whole numbers beyond 2^53 become `bigint`, `!!binary`
 * becomes `Uint8Array`. `path` is the node's own, for errors.
 *
 * @throws {YamlError} for keys that are no scalars or are repeated, unknown tags, and aliases that are cyclic, unknown
 * or too many.
 */
export function readPlainValue(source: YamlSource, node: Node | null, path: Path, keepText?: KeepText): unknown {
  return new PlainReader(source, keepText).read(node, [...path]);
}

/** True for a field whose single value stays the text that is written, whatever YAML would read in it. */
export type KeepText = (path: Path) => boolean;

class PlainReader {
  readonly #source: YamlSource;
  readonly #keepText: KeepText | undefined;
  /** The mappings and lists that are being read now. */
  readonly #open = new Set<Node>();
  #aliasDepth = 0;
  #aliasedNodes = 0;

  constructor(source: YamlSource, keepText: KeepText | undefined) {
    this.#source = source;
    this.#keepText = keepText;
  }

  read(node: Node | null, path: (string | number)[]): unknown {
    if (node === null) return this.#keepText?.(path) === true ? "" : null;
    if (this.#aliasDepth > 0 && ++this.#aliasedNodes > MAX_ALIASED_NODES) {
      throw this.#source.error(`aliases add more than ${MAX_ALIASED_NODES} nodes to the document`, node, path);
    }
    if (path.length > MAX_DEPTH)
      throw this.#source.error(`is nested deeper than ${MAX_DEPTH} levels`, node, path.slice(0, 1));
    if (isAlias(node)) return this.#readAlias(node, path);
    if (!isMap(node) && !isSeq(node)) {
      return this.#keepText?.(path) === true
        ? this.#source.scalarText(node, path)
        : this.#source.scalarValue(node, path);
    }
    this.#open.add(node);
    const value = isMap(node) ? this.#readMap(node, path) : this.#readList(node, path);
    this.#open.delete(node);
    return value;
  }

  #readMap(node: Node, path: (string | number)[]): unknown {
    const value: Record<string, unknown> = {};
    for (const entry of this.#source.entriesOf(node, path)) {
      const part = this.#within(entry.value, entry.key, path);
      if (entry.key === "__proto__") defineOwn(value, entry.key, part);
      else value[entry.key] = part;
    }
    return value;
  }

  #readList(node: Node, path: (string | number)[]): unknown {
    return this.#source.itemsOf(node, path).map((item, i) => this.#within(item, i, path));
  }

  #readAlias(alias: Node, path: (string | number)[]): unknown {
    const target = this.#source.resolve(alias, path);
    if (target === null) return null;
    if (this.#open.has(target)) throw this.#source.error("the alias contains itself", alias, path);
    this.#aliasDepth++;
    const value = this.read(target, path);
    this.#aliasDepth--;
    return value;
  }

  #within(node: Node | null, step: string | number, path: (string | number)[]): unknown {
    path.push(step);
    const value = this.read(node, path);
    path.pop();
    return value;
  }
}
