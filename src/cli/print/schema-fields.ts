import type { JsonSchema } from "../../resource/index.ts";

/** A field of a spec. */
export interface Field {
  /** From the spec inwards: `spec.ports[].name`, `spec.env.*`. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** JSON; empty when there is none. */
  readonly defaultText: string;
  readonly description: string;
}

/** Fields deeper than this are left to their parents: schemas may contain themselves. */
const MAX_DEPTH = 10;
/** Enough for any person; a hostile schema cannot make more. */
const MAX_FIELDS = 5_000;

/** The fields of a schema, each before those in it. */
export function fieldsOf(schema: JsonSchema): readonly Field[] {
  const walk = new Walk(schema);
  walk.inside(schema, "spec", 0);
  return walk.fields;
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

class Walk {
  readonly fields: Field[] = [];
  readonly #root: JsonSchema;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  inside(schema: JsonSchema, path: string, depth: number): void {
    if (depth > MAX_DEPTH || this.fields.length > MAX_FIELDS) return;
    const { properties, required, items, additionalProperties } = this.#resolve(schema);
    const needed = new Set(Array.isArray(required) ? required : []);
    for (const [key, part] of isSchema(properties) ? Object.entries(properties) : []) {
      if (isSchema(part)) this.#field(part, `${path}.${key}`, needed.has(key), depth);
    }
    if (isSchema(items)) this.inside(items, `${path}[]`, depth + 1);
    if (isSchema(additionalProperties) && Object.keys(additionalProperties).length > 0) {
      this.#field(additionalProperties, `${path}.*`, false, depth);
    }
    for (const option of this.#optionsOf(schema)) this.inside(option, path, depth + 1);
  }

  #field(schema: JsonSchema, path: string, isRequired: boolean, depth: number): void {
    const { default: value, description } = { ...this.#resolve(schema), ...schema };
    this.fields.push({
      path,
      type: this.#typeOf(schema, depth),
      isRequired,
      defaultText: value === undefined ? "" : JSON.stringify(value),
      description: typeof description === "string" ? description : "",
    });
    this.inside(schema, path, depth + 1);
  }

  #typeOf(schema: JsonSchema, depth: number): string {
    if (depth > MAX_DEPTH) return "any";
    const { type, enum: values, const: value, items } = this.#resolve(schema);
    if (value !== undefined) return JSON.stringify(value);
    if (Array.isArray(values)) return values.map((one) => JSON.stringify(one)).join(" | ");
    if (type === "array") return isSchema(items) ? `list of ${this.#typeOf(items, depth + 1)}` : "list";
    if (typeof type === "string") return type;
    if (Array.isArray(type)) return type.join(" | ");
    const options = this.#optionsOf(schema).map((option) => this.#typeOf(option, depth + 1));
    return options.length === 0 ? "any" : [...new Set(options)].join(" | ");
  }

  #optionsOf(schema: JsonSchema): readonly JsonSchema[] {
    const { anyOf, oneOf, allOf } = this.#resolve(schema);
    return [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list.filter(isSchema) : []));
  }

  /** What a reference within the schema leads to; one that leads nowhere, or in a circle, is an empty schema. */
  #resolve(schema: JsonSchema): JsonSchema {
    let found: unknown = schema;
    for (let steps = 0; isSchema(found) && typeof found["$ref"] === "string"; steps++) {
      if (steps > MAX_DEPTH || !found["$ref"].startsWith("#")) return {};
      const keys = found["$ref"]
        .slice(1)
        .split("/")
        .filter((key) => key !== "");
      found = keys.reduce<unknown>(
        (at, key) => (isSchema(at) && Object.hasOwn(at, key) ? at[key] : undefined),
        this.#root,
      );
    }
    return isSchema(found) ? found : {};
  }
}
