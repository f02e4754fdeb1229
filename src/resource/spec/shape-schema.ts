import type { JsonSchema } from "./json-schema.ts";

/** What a {@link Shape} can name. */
export interface Primitives {
  string: string;
  /** Finite. */
  number: number;
  /** Exact: within ±2^53. */
  integer: number;
  boolean: boolean;
}

/**
 * What `shape` understands: the name of a primitive; `[item]` for a list of any length; an object of such, in
 * which a key that ends in `?` is optional; or a function that returns the checked value and throws a complaint.
 */
export type Shape =
  | keyof Primitives
  | readonly [Shape]
  | ((value: unknown) => unknown)
  | { readonly [key: string]: Shape };

/** A {@link Shape} as JSON Schema; a function may accept anything. */
export function shapeSchema(template: Shape): JsonSchema {
  if (typeof template === "string") return { type: template };
  if (typeof template === "function") return {};
  if (isList(template)) return { type: "array", items: shapeSchema(template[0]) };
  const fields = Object.entries(template);
  const required = fields.filter(([key]) => !key.endsWith("?")).map(([key]) => key);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([key, part]) => [key.replace(/\?$/, ""), shapeSchema(part)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

const isList = (template: Shape): template is readonly [Shape] => Array.isArray(template);
