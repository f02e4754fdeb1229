import { describe, expect, test } from "vitest";
import { consoleLogger, type ConsoleLoggerOptions } from "./console-logger.ts";

function setUp(options: ConsoleLoggerOptions = {}) {
  const lines: string[] = [];
  const log = consoleLogger({ write: (line) => lines.push(line), now: () => 0, ...options });
  return { lines, log };
}

describe("consoleLogger", () => {
  test("writes time, level, message and fields on one line", () => {
    const { lines, log } = setUp();
    log
      .child({ controller: "A" })
      .child({ id: "x y" })
      .info("hello", { n: 1, list: [1], nothing: undefined });
    expect(lines).toEqual(['1970-01-01T00:00:00.000Z INFO  hello controller=A id="x y" n=1 list=[1]']);
  });

  test("leaves out what is below its level", () => {
    const { lines, log } = setUp({ level: "warn" });
    log.debug("a");
    log.info("b");
    log.warn("c");
    log.error("d");
    expect(lines.map((line) => line.split(" ")[1])).toEqual(["WARN", "ERROR"]);
    setUp({ level: "debug" }).log.debug("seen");
  });

  test("shows the stack of an error below its line, causes of any shape never break it", () => {
    const { lines, log } = setUp();
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    log.error("failed", { error: new Error("broken\nin two"), cyclic, big: 1n });
    expect(lines[0]).toContain('error="broken\\nin two" cyclic=[object] big=1\nError: broken\\nin two\n    at ');
    expect(lines[0]).toContain("console-logger.test.ts");
  });

  test("what a peer says cannot fake a line, nor command a terminal", () => {
    const { lines, log } = setUp();
    const hostile = "x\n1970-01-01T00:00:00.000Z INFO  all is well\n    at fake (a.ts:1:1)\u001b[2J\u009b2J\u202e";
    log.error(hostile, { text: hostile, list: [hostile], error: new Error(hostile) });
    for (const line of lines.join("\n").split("\n").slice(2)) expect(line).toMatch(/^ {4}at (?!fake)/);
    // oxlint-disable-next-line no-control-regex
    expect(lines[0]).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  test("colours only the level, and only when told to", () => {
    const { lines, log } = setUp({ color: true });
    log.error("failed");
    expect(lines[0]).toBe("1970-01-01T00:00:00.000Z \u001b[31mERROR\u001b[0m failed");
  });
});
