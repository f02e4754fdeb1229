import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describeValue } from "./describe-value.ts";

interface Primitives {
  string: string;
  /** Finite. */
  number: number;
  /** Exact: within ±2^53. */
  integer: number;
  boolean: boolean;
}

/**
 * What {@link shape} understands: the name of a primitive; `[item]` for a list of any length; an object of such, in
 * which a key that ends in `?` is optional; or a function that returns the checked value and throws a complaint.
 */
export type Shape =
  | keyof Primitives
  | readonly [Shape]
  | ((value: unknown) => unknown)
  | { readonly [key: string]: Shape };

/** The type of the values that fit a {@link Shape}. */
export type Shaped<S> = S extends keyof Primitives
  ? Primitives[S]
  : S extends (value: unknown) => infer T
    ? T
    : S extends readonly [infer Item]
      ? Shaped<Item>[]
      : Flat<
          { -readonly [K in keyof S as K extends `${string}?` ? never : K]: Shaped<S[K]> } & {
            -readonly [K in keyof S as K extends `${infer Name}?` ? Name : never]?: Shaped<S[K]> | undefined;
          }
        >;

type Flat<T> = { [K in keyof T]: T[K] };

/**
 * A Standard Schema for a small spec, without a schema library. It refuses unknown keys, and reports every issue with
 * its path. For anything richer (defaults, unions, patterns) use Zod, Valibot, ArkType or the like.
 *
 * ```ts
 * const Int = defineResource({ type: "Ints.example.dev", spec: shape({ value: "integer" }) });
 * ```
 *
 * @throws {TypeError} when the shape itself is none.
 */
export function shape<const S extends Shape>(template: S): StandardSchemaV1<Shaped<S>, Shaped<S>> {
  const check = compile(template);
  return {
    "~standard": {
      version: 1,
      vendor: "homeostat",
      validate: (value) => {
        const issues: Issue[] = [];
        const checked = check(value, [], issues);
        return issues.length === 0 ? { value: checked as Shaped<S> } : { issues };
      },
    },
  };
}

type Path = readonly (string | number)[];
interface Issue {
  readonly message: string;
  readonly path: Path;
}
/** Returns the checked value, or adds to `issues`. */
type Check = (value: unknown, path: Path, issues: Issue[]) => unknown;

/** Enough to correct a mistake; a hostile spec cannot make a longer report. */
const MOST_ISSUES = 20;

function report(issues: Issue[], path: Path, message: string): undefined {
  if (issues.length < MOST_ISSUES) issues.push({ message, path });
  return undefined;
}

const expecting =
  (accepts: (value: unknown) => boolean, wanted: string): Check =>
  (value, path, issues) =>
    accepts(value)
      ? value
      : report(
          issues,
          path,
          value === undefined ? `is missing; it must be ${wanted}` : `must be ${wanted}, got ${describeValue(value)}`,
        );

const PRIMITIVES: { readonly [Name in keyof Primitives]: Check } = {
  string: expecting((value) => typeof value === "string", "a string"),
  number: expecting(Number.isFinite, "a finite number"),
  integer: expecting(Number.isSafeInteger, "a whole number"),
  boolean: expecting((value) => typeof value === "boolean", "true or false"),
};

function compile(template: Shape): Check {
  if (typeof template === "string" && Object.hasOwn(PRIMITIVES, template)) return PRIMITIVES[template];
  if (typeof template === "function") return custom(template);
  if (Array.isArray(template) && template.length === 1) return listOf(compile(template[0] as Shape));
  if (typeof template === "object" && template !== null && !Array.isArray(template))
    return objectOf(template as Record<string, Shape>);
  throw new TypeError(
    `a shape is one of ${Object.keys(PRIMITIVES).join(", ")}, [item], an object or a function; got ${describeValue(template)}`,
  );
}

function custom(parse: (value: unknown) => unknown): Check {
  return (value, path, issues) => {
    try {
      return parse(value);
    } catch (error) {
      return report(issues, path, error instanceof Error ? error.message : String(error));
    }
  };
}

function listOf(item: Check): Check {
  const isList = expecting(Array.isArray, "a list");
  return (value, path, issues) => {
    if (isList(value, path, issues) === undefined) return undefined;
    return Array.from(value as readonly unknown[], (part, i) => item(part, [...path, i], issues));
  };
}

function objectOf(template: Readonly<Record<string, Shape>>): Check {
  const fields = new Map<string, { readonly check: Check; readonly optional: boolean }>();
  for (const [key, part] of Object.entries(template)) {
    const optional = key.endsWith("?");
    fields.set(optional ? key.slice(0, -1) : key, { check: compile(part), optional });
  }
  const known = [...fields.keys()].join(", ") || "none";
  const isObject = expecting(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    "an object",
  );
  return (value, path, issues) => {
    if (isObject(value, path, issues) === undefined) return undefined;
    const given = value as Readonly<Record<string, unknown>>;
    for (const key of Object.keys(given)) {
      if (!fields.has(key)) report(issues, [...path, key], `is not a known field; known: ${known}`);
    }
    const checked: Record<string, unknown> = {};
    for (const [key, { check, optional }] of fields) {
      const part = Object.hasOwn(given, key) ? given[key] : undefined;
      if (part !== undefined || !optional) checked[key] = check(part, [...path, key], issues);
    }
    return checked;
  };
}
