import { describeForeign } from "../internal/foreign-value.ts";
import { StateError, type AnyResourceType, type Kind, type Pointer, type Resource } from "../resource/index.ts";
import { isResourceType } from "./typed-answers.ts";

// What callers pass whom no compiler holds back: each check names the value and what would be right, and returns what
// is. The parts of a reference, of metadata and of a spec are checked where they are read.

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function invalid(right: string, value: unknown): StateError {
  return new StateError("invalid", `${right}, got ${describeForeign(value)}`);
}

/** @throws {StateError} `invalid`. */
export function asPointer(value: AnyResourceType | Pointer): Pointer {
  if (isObject(value)) return value as Pointer;
  throw invalid('a reference must be { namespace, type, id }, such as Type.ref("web")', value);
}

/** @throws {StateError} `invalid`. */
export function asKind(value: Kind): Kind {
  if (isObject(value)) return value;
  throw invalid("a kind must be a resource type or { namespace, type }", value);
}

/** @throws {StateError} `invalid`. */
export function asType(value: object): AnyResourceType {
  if (isObject(value) && isResourceType(value as Kind)) return value as AnyResourceType;
  throw invalid("before an id there must be a resource type, as defineResource makes them", value);
}

/** @throws {StateError} `invalid`. */
export function asResource<Some extends Resource>(value: Some): Some {
  if (isObject(value) && isObject(value.metadata)) return value;
  throw invalid("a resource must be { metadata, spec }, as Type.create makes them", value);
}

/** @throws {StateError} `invalid`. */
export function asChange<Change>(value: Change): Change {
  if (typeof value === "function") return value;
  throw invalid("a change must be a function of the draft", value);
}

/** @throws {StateError} `invalid`. */
export function asOptions<Options extends object>(value: Options | undefined): Options | undefined {
  if (value === undefined || isObject(value)) return value;
  throw invalid("options must be an object", value);
}

/** Runs it, and rejects with what it throws: who awaits an answer sees all errors in one way. */
export function promised<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return run();
  } catch (error) {
    return Promise.reject(error);
  }
}
