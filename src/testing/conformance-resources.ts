import { defineResource, type ResourceType } from "../resource/index.ts";

/** The spec of {@link PathResource}: nothing. The path is the id. */
export type PathSpec = Record<string, never>;

/** The spec of {@link Int}. */
export interface IntSpec {
  /** A whole number, exact: within ±(2^53 − 1). */
  value: number;
}

/** The spec of {@link Str} and {@link Sentence}. */
export interface TextSpec {
  value: string;
}

/** The resource of the State suite: a path without content. */
export const PathResource: ResourceType<PathSpec, "os/path"> = defineResource({
  type: "os/path",
  spec: recordSchema<PathSpec>({}),
});

/** A whole number: the input of most controllers in the engine's suite. */
export const Int: ResourceType<IntSpec, "test/int"> = defineResource({
  type: "test/int",
  spec: recordSchema<IntSpec>({
    value: (value) => (Number.isSafeInteger(value) ? undefined : "must be a whole number within ±(2^53 − 1)"),
  }),
});

/** A text: what controllers of the engine's suite make of an {@link Int}. */
export const Str: ResourceType<TextSpec, "test/str"> = defineResource({
  type: "test/str",
  spec: recordSchema<TextSpec>({ value: checkText }),
});

/** Another text, made of a {@link Str}. */
export const Sentence: ResourceType<TextSpec, "test/sentence"> = defineResource({
  type: "test/sentence",
  spec: recordSchema<TextSpec>({ value: checkText }),
});

/** Says what is wrong with the value of a field; undefined when nothing is. */
type FieldCheck = (value: unknown) => string | undefined;

interface Issue {
  readonly message: string;
  readonly path?: readonly string[] | undefined;
}

/** What `defineResource` needs of a Standard Schema, written out so that the suites bring no schema library along. */
interface RecordSchema<Spec> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "homeostat";
    readonly types?: { readonly input: Spec; readonly output: Spec } | undefined;
    readonly validate: (value: unknown) => { readonly value: Spec } | { readonly issues: readonly Issue[] };
  };
}

/** Accepts records that have exactly the given fields. */
function recordSchema<Spec extends object>(fields: Record<keyof Spec & string, FieldCheck>): RecordSchema<Spec> {
  const checks = new Map<string, FieldCheck>(Object.entries(fields));
  const validate = (value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return { issues: [{ message: "must be an object" }] };
    }
    const given = new Map<string, unknown>(Object.entries(value));
    const issues: Issue[] = [];
    for (const [field, check] of checks) {
      const message = check(given.get(field));
      if (message !== undefined) issues.push({ message, path: [field] });
    }
    for (const field of given.keys()) {
      if (!checks.has(field)) issues.push({ message: "is not a field of this type", path: [field] });
    }
    // What has exactly these fields, each as it should be, is a Spec.
    return issues.length > 0 ? { issues } : { value: Object.fromEntries(given) as Spec };
  };
  return { "~standard": { version: 1, vendor: "homeostat", validate } };
}

function checkText(value: unknown): string | undefined {
  return typeof value === "string" ? undefined : "must be a string";
}
