import { expect, test } from "vitest";
import { RecordingLogger } from "./recording-logger.ts";

test("keeps the lines of a logger and its children in order, with the fields of all of them", () => {
  const log = new RecordingLogger();
  log.info("one");
  const child = log.child({ a: 1, b: 1 }).child({ b: 2 });
  child.error("two", { c: 3 });
  child.debug("three");
  log.warn("four", { d: 4 });
  expect(log.lines).toEqual([
    { level: "info", message: "one", fields: {} },
    { level: "error", message: "two", fields: { a: 1, b: 2, c: 3 } },
    { level: "debug", message: "three", fields: { a: 1, b: 2 } },
    { level: "warn", message: "four", fields: { d: 4 } },
  ]);
});
