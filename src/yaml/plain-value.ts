import { isAlias, isMap, isScalar, isSeq, type Node } from "yaml";
import type { Path, YamlSource } from "./yaml-source.ts";

/** Aliases may add this many nodes to a document; more is an attack (each level of nesting multiplies them). */
const MOST_ALIASED_NODES = 100_000;

/**
 * The plain data that a node stands for, typed as YAML 1.2 says; whole numbers beyond 2^53 become `bigint`, `!!binary`
 * becomes `Uint8Array`. `path` is the node's own, for errors.
 *
 * @throws {YamlError} for keys that are no scalars or are repeated, unknown tags, and aliases that are cyclic, unknown
 * or too many.
 */
export function readPlainValue(source: YamlSource, node: Node | null, path: Path): unknown {
  return new PlainReader(source).read(node, [...path]);
}

class PlainReader {
  readonly #source: YamlSource;
  /** The aliased nodes that are being read now. */
  readonly #open = new Set<Node>();
  #aliasedNodes = 0;

  constructor(source: YamlSource) {
    this.#source = source;
  }

  read(node: Node | null, path: (string | number)[]): unknown {
    if (node === null) return null;
    if (this.#open.size > 0 && ++this.#aliasedNodes > MOST_ALIASED_NODES) {
      throw this.#source.error(`aliases add more than ${MOST_ALIASED_NODES} nodes to the document`, node, path);
    }
    if (isAlias(node)) return this.#readAlias(node, path);
    if (isMap(node)) return this.#readMap(node, path);
    if (isSeq(node)) {
      return this.#source.itemsOf(node, path).map((item, i) => this.#within(item, i, path));
    }
    if (isScalar(node)) return this.#source.scalarValue(node, path);
    throw this.#source.error("is not a value", node, path);
  }

  #readMap(node: Node, path: (string | number)[]): unknown {
    const value: Record<string, unknown> = {};
    for (const entry of this.#source.entriesOf(node, path)) {
      const part = this.#within(entry.value, entry.key, path);
      if (entry.key === "__proto__")
        Object.defineProperty(value, entry.key, { enumerable: true, configurable: true, writable: true, value: part });
      else value[entry.key] = part;
    }
    return value;
  }

  #readAlias(alias: Node, path: (string | number)[]): unknown {
    const target = this.#source.resolve(alias, path);
    if (target === null) return null;
    if (this.#open.has(target)) throw this.#source.error("the alias contains itself", alias, path);
    this.#open.add(target);
    try {
      return this.read(target, path);
    } finally {
      this.#open.delete(target);
    }
  }

  #within(node: Node | null, step: string | number, path: (string | number)[]): unknown {
    path.push(step);
    const value = this.read(node, path);
    path.pop();
    return value;
  }
}
