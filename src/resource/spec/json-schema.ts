import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * What people and tools may write, as JSON Schema, from any library that implements Standard JSON Schema (Zod from 4.2,
 * ArkType, and {@link shape}); undefined where the library does not, or has no words for this schema. Parts that JSON
 * cannot hold, such as a `bigint`, accept anything.
 */
export function jsonSchemaOf(schema: StandardSchemaV1): JsonSchema | undefined {
  const converter = (schema["~standard"] as Partial<StandardJSONSchemaV1.Props>).jsonSchema;
  if (typeof converter?.input !== "function") return undefined;
  try {
    const made: unknown = converter.input({ target: "draft-2020-12", libraryOptions: { unrepresentable: "any" } });
    return typeof made === "object" && made !== null ? (made as JsonSchema) : undefined;
  } catch {
    return undefined; // Libraries throw for what they cannot express: then there is nothing to publish.
  }
}
