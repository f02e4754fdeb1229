import { expect, test } from "vitest";
import { jsonLogger, type JsonLoggerOptions } from "./json-logger.ts";

function setUp(options: JsonLoggerOptions = {}) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, log: jsonLogger({ write, now: () => 0, ...options }) };
}

test("an object a line: time, level, message, the fields of the logger and of the call", () => {
  const { lines, log } = setUp();
  log
    .child({ controller: "A" })
    .child({ id: "x" })
    .warn("hello", { n: 1, list: [1], nothing: undefined });
  expect(lines).toEqual([
    { time: "1970-01-01T00:00:00.000Z", level: "warn", message: "hello", controller: "A", id: "x", n: 1, list: [1] },
  ]);
});

test("leaves out what is below its level", () => {
  const { lines, log } = setUp({ level: "warn" });
  log.debug("a");
  log.info("b");
  log.error("c");
  expect(lines.map(({ message }) => message)).toEqual(["c"]);
});

test("an error is name, message and stack; what JSON cannot say is its text; nothing fakes a field of the line", () => {
  const { lines, log } = setUp();
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const broken = {
    get value(): never {
      throw new Error("getter");
    },
  };
  log.error("failed\n{}", { error: new TypeError("no"), cyclic, broken, big: 1n, symbol: Symbol("s"), level: "info" });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    level: "error",
    _level: "info",
    message: "failed\n{}",
    error: { name: "TypeError", message: "no", stack: expect.stringContaining("json-logger.test.ts") },
    cyclic: "[object Object]",
    broken: "[object Object]",
    big: "1",
  });
});
