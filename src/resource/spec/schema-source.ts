import type { StandardSchemaV1 } from "@standard-schema/spec";
import { jsonSchemaOf, type JsonSchema } from "./json-schema.ts";
import { formatPointer, type Pointer } from "../pointer.ts";
import type { Resource, SpecSource } from "../resource.ts";
import type { SpecCodec } from "./spec-codec.ts";
import { formatIssues, type SpecIssue } from "./spec-issue.ts";
import { StateError } from "../state-error.ts";

/** Enough to correct a mistake; a hostile spec cannot make a longer report. */
const MAX_ISSUES = 50;

/** A Standard Schema as the check of one type's specs. */
export class SchemaSource implements SpecSource {
  readonly type: string;
  readonly codec: SpecCodec;
  readonly provisions: ReadonlyMap<object, (resource: Resource) => object>;
  readonly #schema: StandardSchemaV1;

  constructor(
    type: string,
    schema: StandardSchemaV1,
    codec: SpecCodec,
    provisions: ReadonlyMap<object, (resource: Resource) => object> = new Map(),
  ) {
    this.type = type;
    this.codec = codec;
    this.provisions = provisions;
    this.#schema = schema;
  }

  /** The same schema, with one thing more that its resources can do. */
  providing(capability: object, make: (resource: Resource) => object): SchemaSource {
    return new SchemaSource(this.type, this.#schema, this.codec, new Map([...this.provisions, [capability, make]]));
  }

  jsonSchema(): JsonSchema | undefined {
    return jsonSchemaOf(this.#schema);
  }

  parseSpec(value: unknown, pointer: Pointer): unknown {
    const result = this.#schema["~standard"].validate(value);
    if ("then" in result) {
      // Its result is not used, and an unhandled rejection would end the process.
      result.then(undefined, () => undefined);
      throw new TypeError(
        `the schema of ${this.type} validates asynchronously; a resource's schema must be synchronous`,
      );
    }
    if (result.issues === undefined) return result.value;
    const issues = result.issues.slice(0, MAX_ISSUES).flatMap(specIssues).slice(0, MAX_ISSUES);
    throw new StateError("invalid", `${formatPointer(pointer)} is invalid: ${formatIssues(issues)}`, {
      pointer,
      issues,
    });
  }
}

/** An issue as ours. Zod reports all unknown keys of an object in one, at the object: that becomes one at each key. */
function specIssues(issue: StandardSchemaV1.Issue): readonly SpecIssue[] {
  const path = plainPath(issue.path ?? []);
  const { code, keys } = issue as { readonly code?: unknown; readonly keys?: unknown };
  if (code !== "unrecognized_keys" || !Array.isArray(keys)) return [{ message: issue.message, path }];
  return keys.map((key) => ({ message: "is not a known field", path: [...path, String(key)] }));
}

function plainPath(path: NonNullable<StandardSchemaV1.Issue["path"]>): readonly (string | number)[] {
  return path.map((segment) => {
    const key = typeof segment === "object" ? segment.key : segment;
    return typeof key === "number" ? key : String(key);
  });
}
