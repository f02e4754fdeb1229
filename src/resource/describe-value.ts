/** Longer texts are cut in messages. Unit: UTF-16 units. */
const MAX_LENGTH = 80;

/** A value as error messages show it: short, whatever it is. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.length > MAX_LENGTH ? `${JSON.stringify(value.slice(0, MAX_LENGTH))}…` : JSON.stringify(value);
    case "number":
    case "boolean":
    case "undefined":
      return String(value);
    case "bigint":
      return value.toString().length > MAX_LENGTH ? "a very large bigint" : `${value}n`;
    case "function":
    case "symbol":
      return `a ${typeof value}`;
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "a list" : "an object";
  }
}
