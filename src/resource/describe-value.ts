/** Longer texts are cut in messages. Unit: UTF-16 units. */
const LONGEST = 80;

/** A value as error messages show it: short, whatever it is. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.length > LONGEST ? `${JSON.stringify(value.slice(0, LONGEST))}…` : JSON.stringify(value);
    case "number":
    case "boolean":
    case "undefined":
      return String(value);
    case "bigint":
      return value.toString().length > LONGEST ? "a very large bigint" : `${value}n`;
    case "function":
    case "symbol":
      return `a ${typeof value}`;
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "a list" : "an object";
  }
}
