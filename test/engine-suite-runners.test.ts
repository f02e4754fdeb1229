import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { RUNTIME_SCENARIOS } from "../src/testing/index.ts";

const run = promisify(execFile);

test("the engine's suite runs in node:test as it does here, and what is skipped is reported as skipped", async () => {
  const fixture = join(import.meta.dirname, "fixtures", "runtime-suite-in-node-test.ts");
  const args = ["--conditions=source", "--test", "--test-reporter=tap", fixture];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 24 });
  const count = (what: string) => Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(stdout)?.[1]);
  expect(count("fail")).toBe(0);
  expect(count("skipped")).toBe(1);
  expect(count("pass")).toBe(RUNTIME_SCENARIOS.length - 1);
  expect(stdout).toContain("# SKIP to see a skip");
});
