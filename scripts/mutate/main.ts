// `npm run mutate -- [options] [path …]`: does a test fail when the code is wrong? StrykerJS changes one thing at a time
// in a copy of the tree, the tests that cover it run, and a change that none of them notices is printed.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { prepareCopy, ROOT } from "./copy.ts";
import { printReport, readReport } from "./report.ts";
import { strykerConfig } from "./stryker-config.ts";
import { MUTATED_PATHS, testsFor } from "./tests-for.ts";

const USAGE = `usage: npm run mutate -- [options] [path …]

Changes the code of the paths (files or folders; default: ${MUTATED_PATHS.join(" ")}), one change at a time,
and prints the changes that no test notices. Results of an earlier run are used again where neither code nor tests differ.
  --share N     fraction of all changes that is tried (default 1); a larger share includes the smaller one
  --seed N      which ones (default 1)
  --least N     exit with 1 below this score, in percent (default 0)
  --workers N   test runners at a time (default 1)
  --report      prints the last report again, runs nothing`;

interface Settings {
  readonly paths: readonly string[];
  readonly share: number;
  readonly seed: number;
  readonly least: number;
  readonly workers: number;
  readonly reportOnly: boolean;
}

function parseNumber(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= min && value <= max) return value;
  throw new RangeError(`--${option} must be a number from ${min} to ${max}, got ${JSON.stringify(text)}`);
}

/** Undefined when only the usage is wanted. */
function parseSettings(): Settings | undefined {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      share: { type: "string", default: "1" },
      seed: { type: "string", default: "1" },
      least: { type: "string", default: "0" },
      workers: { type: "string", default: "1" },
      report: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  return {
    paths: positionals.length > 0 ? positionals : MUTATED_PATHS,
    share: parseNumber("share", values.share, 0, 1),
    seed: parseNumber("seed", values.seed, 0, 2 ** 31),
    least: parseNumber("least", values.least, 0, 100),
    workers: parseNumber("workers", values.workers, 1, 64),
    reportOnly: values.report,
  };
}

/** Runs StrykerJS in the copy; resolves with its exit code. */
function runStryker(copy: string, settings: Settings): Promise<number> {
  writeFileSync(join(copy, "stryker.config.json"), JSON.stringify(strykerConfig(copy, settings), null, 2));
  const child = spawn(process.execPath, [join(ROOT, "node_modules/@stryker-mutator/core/bin/stryker.js"), "run"], {
    cwd: copy,
    stdio: "inherit",
    env: {
      ...process.env,
      MUTATE_SHARE: String(settings.share),
      MUTATE_SEED: String(settings.seed),
      MUTATE_TESTS: JSON.stringify(testsFor(settings.paths)),
    },
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

async function main(): Promise<void> {
  const settings = parseSettings();
  if (settings === undefined) {
    console.log(USAGE);
    return;
  }
  const copy = prepareCopy(settings.reportOnly);
  if (!settings.reportOnly) {
    const code = await runStryker(copy, settings);
    if (code !== 0) {
      process.exitCode = code;
      return;
    }
  }
  const score = printReport(readReport(copy), settings.paths);
  if (score < settings.least) {
    console.log(`below the ${settings.least} % that were asked for`);
    process.exitCode = 1;
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof RangeError || (error instanceof TypeError && "code" in error))) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
