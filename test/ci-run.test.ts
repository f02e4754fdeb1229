import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
/** Notes its arguments; fails those that FAILING names; writes REPORT as the report of the tests. */
const NPM = `#!/usr/bin/env bash
echo "$*" >> "$CALLS"
if [[ $* == *test:unit* ]] && [ -n "$REPORT" ]; then echo "$REPORT" > "$TEST_REPORT"; fi
if [[ $* == *node-version* && $FAILING != all ]]; then echo v24.0.0; fi
[[ $FAILING == all || ( -n $FAILING && $* == *$FAILING* ) ]] && exit 3
exit 0
`;

const report = (passed: number, failed: number, skipped: number): string =>
  JSON.stringify({ numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped, testResults: [] });

describe(".ci/run", () => {
  let folder = "";

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "homeostat-ci-"));
    for (const file of [".ci/run", "scripts/count-tests.ts"]) cpSync(join(ROOT, file), join(folder, file));
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "bin/npm"), NPM);
    chmodSync(join(folder, "bin/npm"), 0o755);
    // The few programs that the script itself needs, and none of those that it looks for.
    for (const program of ["bash", "dirname", "mktemp", "rm", "env"]) {
      const [path = ""] = spawnSync("which", [program], { encoding: "utf8" }).stdout.split("\n");
      symlinkSync(path, join(folder, "bin", program));
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function run(env: Readonly<Record<string, string>>) {
    const calls = join(folder, "calls");
    writeFileSync(calls, "");
    const path = [join(folder, "bin"), dirname(process.execPath)].join(delimiter);
    const { status, stdout } = spawnSync(join(folder, ".ci/run"), [], {
      encoding: "utf8",
      env: { PATH: path, CALLS: calls, REPORT: "", FAILING: "", ...env },
    });
    const lines = stdout.trimEnd().split("\n");
    return { status, lines, last: lines.at(-1), calls: readFileSync(calls, "utf8").trimEnd().split("\n") };
  }

  const STEPS = [
    "ci --no-audit --no-fund",
    "run -s node-version",
    "run -s typecheck",
    "run -s lint",
    "run -s format:check",
    "run -s test:unit",
    "run -s check:generated",
    "run -s check:package",
    "run -s knip",
  ];

  test("runs every step, and ends with the number of tests", () => {
    const { status, last, calls } = run({ REPORT: report(7, 0, 0) });
    expect(calls).toEqual(STEPS);
    expect([status, last]).toEqual([0, "7 passed, 0 failed"]);
  });

  test("runs every step also when each of them fails, and counts each of them", () => {
    const { status, last, lines, calls } = run({ REPORT: report(7, 2, 0), FAILING: "all" });
    expect(calls).toEqual(STEPS);
    // Two tests, and the eight other steps.
    expect([status, last]).toEqual([1, "7 passed, 10 failed"]);
    expect(lines).toContain("failed steps: npm ci,node version,types,lint,format,tests,generated code,package,knip");
  });

  test.each([
    ["ran none", report(0, 0, 5), "0 passed, 1 failed"],
    ["left no report", "", "0 passed, 1 failed"],
  ])("fails when the tests %s", (_, text, expected) => {
    const { status, last } = run({ REPORT: text });
    expect([status, last]).toEqual([1, expected]);
  });

  test("says in its last lines what was left out, and for want of what", () => {
    const { lines } = run({ REPORT: report(7, 0, 3) });
    const leftOut = lines.slice(lines.indexOf("left out:") + 1, -3).map((line) => line.trim());
    expect(leftOut.map((line) => line.split(/[:,]/)[0])).toEqual([
      "no Python with grpcio",
      "no go",
      "no redis-server",
      "no nginx",
      "no perl",
      "3 tests were skipped",
    ]);
    expect(run({ REPORT: report(7, 0, 0), CI_GO: "0" }).lines.join("\n")).toContain("CI_GO=0: interop");
  });
});
