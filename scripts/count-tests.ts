// Prints "PASSED FAILED SKIPPED" of the vitest JSON report whose path is the first argument. A file that fails without a failing
// test in it (it does not load, or something still ran after it) counts as one failure.

import { readFileSync } from "node:fs";
import { z } from "zod";

const Report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
});

const report = Report.parse(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")));
const brokenFiles = report.testResults.filter(
  (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
);
console.log(report.numPassedTests, report.numFailedTests + brokenFiles.length, report.numPendingTests);
