/**
 * Values that foreign code threw or returned. A proxy or a getter makes any look at them throw, so all looks go through here.
 */

/** Errors that are looked at behind one: more of them are a loop, or an attack. */
export const MAX_ERRORS = 1000;

/** Characters of a description. */
const MAX_TEXT = 10_000;

/** A property of `value`; undefined when there is none, or reading it throws. */
export function readForeign(value: unknown, key: string): unknown {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}

/** `value instanceof Error`; false when the question itself throws. */
export function isErrorValue(value: unknown): value is Error {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

/** The first elements of an array; undefined for anything else. */
export function foreignList(value: unknown): readonly unknown[] | undefined {
  try {
    if (!Array.isArray(value)) return undefined;
    return Array.from({ length: Math.min(value.length, MAX_ERRORS) }, (_, at) => readForeign(value, String(at)));
  } catch {
    return undefined;
  }
}

/** The message of an error, or a text for any other value. Never throws; bounded. */
export function messageOf(thrown: unknown): string {
  if (!isErrorValue(thrown)) return typeof thrown === "string" ? shorten(thrown) : describeForeign(thrown);
  const message = readForeign(thrown, "message");
  return typeof message === "string" ? shorten(message) : "an error whose message cannot be read";
}

/** What a value is, for a message: a string in quotes, else its own text. Bounded. */
export function describeForeign(value: unknown): string {
  try {
    return shorten(typeof value === "string" ? JSON.stringify(value) : String(value));
  } catch {
    return `a value of type ${typeof value}`;
  }
}

function shorten(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}

/** Causes deeper than this are not looked at: a chain that long is a loop. */
const MAX_CAUSES = 100;

/** An error and its causes, as far as they are errors. */
export function* causeChain(error: unknown): Generator<Error> {
  let cause = error;
  for (let depth = 0; isErrorValue(cause) && depth < MAX_CAUSES; depth++) {
    yield cause;
    cause = readForeign(cause, "cause");
  }
}
