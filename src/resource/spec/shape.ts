import { messageOf } from "../../internal/foreign-value.ts";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { describeValue } from "../describe-value.ts";
import { shapeSchema, type Primitives, type Shape } from "./shape-schema.ts";
import type { SpecIssue } from "./spec-issue.ts";

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

/** What {@link shape} makes: a Standard Schema that can also tell what it accepts, as JSON Schema. */
export interface ShapeSchema<T> {
  readonly "~standard": StandardSchemaV1.Props<T, T> & StandardJSONSchemaV1.Props<T, T>;
}

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
export function shape<const S extends Shape>(template: S): ShapeSchema<Shaped<S>> {
  const check = compile(template);
  const toJsonSchema = (): Record<string, unknown> => ({ ...shapeSchema(template) });
  return {
    "~standard": {
      version: 1,
      vendor: "homeostat",
      validate: (value) => {
        const report = new Report();
        const checked = check(value, report);
        return report.issues === undefined ? { value: checked as Shaped<S> } : { issues: report.issues };
      },
      jsonSchema: { input: toJsonSchema, output: toJsonSchema },
    },
  };
}

/** Enough to correct a mistake; a hostile spec cannot make a longer report. */
const MAX_ISSUES = 20;

/** What is wrong, and where the check is just now. */
class Report {
  /** Undefined while nothing is wrong. */
  issues: SpecIssue[] | undefined;
  #path: (string | number)[] | undefined;

  add(message: string): undefined {
    const issues = (this.issues ??= []);
    if (issues.length < MAX_ISSUES) issues.push({ message, path: [...(this.#path ?? [])] });
    return undefined;
  }

  addAt(step: string | number, message: string): void {
    this.within(step, () => this.add(message));
  }

  within<T>(step: string | number, check: () => T): T {
    const path = (this.#path ??= []);
    path.push(step);
    const checked = check();
    path.pop();
    return checked;
  }
}

/** Returns the checked value, or adds to the report. */
interface Check {
  (value: unknown, report: Report): unknown;
  readonly accepts?: ((value: unknown) => boolean) | undefined;
}

/** A check of a value without parts; `accepts` answers for nearly all of them, at no cost. */
interface PrimitiveCheck extends Check {
  readonly accepts: (value: unknown) => boolean;
}

function expecting(accepts: (value: unknown) => boolean, wanted: string): PrimitiveCheck {
  const check = (value: unknown, report: Report): unknown => {
    if (accepts(value)) return value;
    return report.add(
      value === undefined ? `is missing; it must be ${wanted}` : `must be ${wanted}, got ${describeValue(value)}`,
    );
  };
  return Object.assign(check, { accepts });
}

const PRIMITIVES: { readonly [Name in keyof Primitives]: Check } = {
  string: expecting((value) => typeof value === "string", "a string"),
  number: expecting(Number.isFinite, "a finite number"),
  integer: expecting(Number.isSafeInteger, "a whole number"),
  boolean: expecting((value) => typeof value === "boolean", "true or false"),
};

function compile(template: Shape): Check {
  if (typeof template === "string" && Object.hasOwn(PRIMITIVES, template)) return PRIMITIVES[template];
  if (typeof template === "function") return custom(template);
  if (isList(template)) return listOf(compile(template[0]));
  if (typeof template === "object" && template !== null && !Array.isArray(template)) {
    return objectOf(template as Readonly<Record<string, Shape>>);
  }
  const names = Object.keys(PRIMITIVES).join(", ");
  throw new TypeError(`a shape is one of ${names}, [item], an object or a function; got ${describeValue(template)}`);
}

const isList = (template: Shape): template is readonly [Shape] => Array.isArray(template) && template.length === 1;

function custom(parse: (value: unknown) => unknown): Check {
  return (value, report) => {
    try {
      return parse(value);
    } catch (error) {
      return report.add(messageOf(error));
    }
  };
}

function listOf(item: Check): Check {
  return (value, report) => {
    if (!Array.isArray(value)) return expectingList(value, report);
    return Array.from(value, (part: unknown, i) => report.within(i, () => item(part, report)));
  };
}

const expectingList = expecting(Array.isArray, "a list");
const expectingObject = expecting(isObject, "an object");

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Field {
  readonly key: string;
  readonly check: Check;
  readonly optional: boolean;
}

function objectOf(template: Readonly<Record<string, Shape>>): Check {
  if (Object.hasOwn(template, "__proto__")) throw new TypeError("a shape has no key __proto__");
  const fields = Object.entries(template).map(([key, part]): Field => {
    const optional = key.endsWith("?");
    return { key: optional ? key.slice(0, -1) : key, check: compile(part), optional };
  });
  const known = new Set(fields.map(({ key }) => key));
  const check = (value: unknown, report: Report): unknown => {
    if (!isObject(value)) return expectingObject(value, report);
    if (acceptsFields(value, fields)) return value;
    for (const key of Object.keys(value)) {
      if (!known.has(key)) report.addAt(key, `is not a known field; known: ${[...known].join(", ") || "none"}`);
    }
    let checked = value;
    for (const { key, check, optional } of fields) {
      const given = Object.hasOwn(value, key) ? value[key] : undefined;
      if (check.accepts?.(given) === true || (given === undefined && optional)) continue;
      const part = report.within(key, () => check(given, report));
      // copied from the value, which keeps its shape and makes the smallest copy
      if (part !== given) checked = { ...checked, [key]: part };
    }
    return checked;
  };
  return Object.assign(check, { accepts: (value: unknown) => isObject(value) && acceptsFields(value, fields) });
}

/** True when nothing is wrong with the value, which is nearly always: found out without a list and without a report. */
function acceptsFields(value: Readonly<Record<string, unknown>>, fields: readonly Field[]): boolean {
  let known = 0;
  for (const { key, check, optional } of fields) {
    const has = Object.hasOwn(value, key);
    if (has) known++;
    const given = has ? value[key] : undefined;
    if (check.accepts?.(given) !== true && !(given === undefined && optional)) return false;
  }
  // Others are unknown; inherited ones are counted too, and sorted out by the slow check.
  for (const _ in value) known--;
  return known === 0;
}
