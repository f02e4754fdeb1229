import { describeForeign, isErrorValue, messageOf, readForeign } from "./foreign-value.ts";

/** What loggers and people read of an error. */
const READ_OF_ERRORS = ["name", "message", "stack", "cause", "code", "errors"] as const;

/**
 * What was thrown, as an error that is safe to read: itself if it is an ordinary error. Of an error with getters of its
 * own, or behind a proxy, a copy that holds its name, message and stack. Anything else becomes the cause of a new one.
 *
 * @param thrower - Who threw it, for the message.
 */
export function toError(thrown: unknown, thrower: string): Error {
  if (!isErrorValue(thrown)) return new Error(`${thrower} threw ${describeForeign(thrown)}`, { cause: thrown });
  return isOrdinary(thrown) ? thrown : copyOf(thrown);
}

function copyOf(thrown: Error): Error {
  const message = messageOf(thrown);
  const copy = isReadable(thrown) ? new Error(message, { cause: thrown }) : new Error(message);
  for (const key of ["name", "stack"] as const) {
    const value = readForeign(thrown, key);
    if (typeof value === "string") Object.defineProperty(copy, key, { value, configurable: true, writable: true });
  }
  return copy;
}

/** True when reading the error can neither throw nor give something else the next time. */
function isOrdinary(error: Error): boolean {
  try {
    // A proxy of an error has no such tag.
    const tag: unknown = Object.prototype.toString.call(error);
    if (tag === "[object DOMException]") return Object.getPrototypeOf(error) === DOMException.prototype;
    if (tag !== "[object Error]") return false;
    return READ_OF_ERRORS.every((key) => isPlainProperty(error, key)) && hasTexts(error);
  } catch {
    return false;
  }
}

function hasTexts({ name, message, stack }: { name: unknown; message: unknown; stack?: unknown }): boolean {
  return typeof name === "string" && typeof message === "string" && (stack === undefined || typeof stack === "string");
}

function isPlainProperty(error: Error, key: string): boolean {
  for (let at: object | null = error; at !== null; at = Reflect.getPrototypeOf(at)) {
    const property = Reflect.getOwnPropertyDescriptor(at, key);
    if (property === undefined) continue;
    return property.get === undefined || (key === "stack" && property.get === stackGetter());
  }
  return true;
}

/** The engine's own getter of stacks, where they are not plain properties. */
function stackGetter(): unknown {
  return Reflect.getOwnPropertyDescriptor(new Error(), "stack")?.get;
}

function isReadable(error: Error): boolean {
  try {
    for (const key of READ_OF_ERRORS) Reflect.get(error, key);
    return true;
  } catch {
    return false;
  }
}
