import { Document, Pair, Schema, Scalar, YAMLMap, YAMLSeq, visit, type Node } from "yaml";
import { Handle, OpaqueSpec, StateError } from "../resource/index.ts";
import { YamlSource } from "./yaml-source.ts";

/**
 * A node as block-style YAML: indented by four, long lines never folded, single quotes where quotes are needed. Texts
 * stay plain even where they look like numbers or booleans: nodes of typed values say so themselves ({@link plainNode}).
 */
export function renderNode(node: Node): string {
  const document = new Document(undefined, { schema: "failsafe" });
  document.contents = node as never;
  return document.toString({ indent: 4, lineWidth: 0, singleQuote: true, flowCollectionPadding: false });
}

/**
 * A text that stays plain wherever YAML permits, and becomes a block when it has several lines.
 *
 * The library miscounts the indentation of blocks that start with spaces, when it is not two: those are quoted.
 */
export function verbatimNode(text: string): Scalar {
  const scalar = new Scalar(text);
  if (startsWithSpaces(text)) scalar.type = Scalar.QUOTE_DOUBLE;
  return scalar;
}

const startsWithSpaces = (text: string): boolean => text.includes("\n") && /^\n* /.test(text);

/** Appends to a mapping. The library's own `add` looks for the key first, among all that are there. */
export function addEntry(map: YAMLMap, key: string, value: Node): void {
  map.items.push(new Pair(verbatimNode(key), value));
}

/** A node that reads back to the same plain data under YAML 1.2. @throws {StateError} `invalid` for what has no YAML form. */
export function plainNode(value: unknown): Node {
  switch (typeof value) {
    case "string":
      return textNode(value);
    case "number":
      return new Scalar(numberText(value));
    case "bigint":
    case "boolean":
      return new Scalar(String(value));
    case "object":
      return value === null ? new Scalar("null") : objectNode(value);
    case "undefined":
    case "function":
    case "symbol":
      throw new StateError("invalid", `a ${typeof value} has no YAML form`);
  }
}

function objectNode(value: object): Node {
  if (value instanceof OpaqueSpec) return opaqueNode(value);
  if (value instanceof Handle) return handleNode(value);
  if (value instanceof Uint8Array) return bytesNode(value);
  if (Array.isArray(value)) {
    const list = new YAMLSeq();
    for (const item of value) list.items.push(plainNode(item));
    return list;
  }
  const map = new YAMLMap();
  for (const [key, part] of Object.entries(value)) map.items.push(new Pair(textNode(key), plainNode(part)));
  return map;
}

/** Whole numbers beyond 2^53 get an exponent: without, they would read back as `bigint`. */
function numberText(value: number): string {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value);
}

/** What YAML 1.2 would not read as a text when it stands without quotes. */
const TYPED = new Schema({ schema: "core" }).tags.flatMap((tag) =>
  tag.default === true && tag.test !== undefined ? [tag.test] : [],
);

function textNode(text: string): Scalar {
  const scalar = verbatimNode(text);
  if (TYPED.some((test) => test.test(text))) scalar.type = Scalar.QUOTE_SINGLE;
  return scalar;
}

function bytesNode(bytes: Uint8Array): Scalar {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const scalar = new Scalar(btoa(binary));
  scalar.tag = "tag:yaml.org,2002:binary";
  return scalar;
}

/** The YAML text that came with the spec, in its own style. */
function opaqueNode(spec: OpaqueSpec): Node {
  const source = new YamlSource(spec.yaml ?? "", { schema: "failsafe" });
  const node = source.root;
  if (node === null) throw new StateError("invalid", "the spec came without YAML text, so it has no YAML form");
  visit(node, {
    Alias: (_, alias) => void source.resolve(alias, ["spec"]),
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string" && startsWithSpaces(scalar.value)) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return node;
}

/** What the wrapped object says of itself: its `toJSON`, else its own `toString`. */
function handleNode(handle: Handle<object>): Node {
  const target = handle.target as { toJSON?: unknown; toString: () => string };
  if (typeof target.toJSON === "function") return plainNode(target.toJSON());
  if (target.toString !== Object.prototype.toString) return plainNode(target.toString());
  throw new StateError(
    "invalid",
    "the wrapped object has neither toJSON nor a toString of its own, so it has no YAML form",
  );
}
