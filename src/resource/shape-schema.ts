import type { JsonSchema } from "./json-schema.ts";
import type { Shape } from "./shape.ts";

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
