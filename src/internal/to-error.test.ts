import { expect, test } from "vitest";
import { toError } from "./to-error.ts";

test("an error stays itself", () => {
  const error = new TypeError("x");
  expect(toError(error, "A")).toBe(error);
});

test.each([
  ["text", 'A threw "text"'],
  [undefined, "A threw undefined"],
  [null, "A threw null"],
  [Symbol("s"), "A threw Symbol(s)"],
  [Object.create(null), "A threw a value of type object"],
])("%o becomes an error with the value as its cause", (thrown: unknown, message) => {
  const error = toError(thrown, "A");
  expect(error.message).toBe(message);
  expect(error).toHaveProperty("cause", thrown);
});
