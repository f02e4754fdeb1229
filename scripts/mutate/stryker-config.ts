import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const RESULTS = "reports/results.json";

interface StrykerSettings {
  readonly paths: readonly string[];
  readonly share: number;
  readonly workers: number;
}

/** The configuration of a run in the folder `copy`. */
export function strykerConfig(copy: string, { paths, share, workers }: StrykerSettings): object {
  forgetSkipped(copy);
  return {
    // The copy is ours: no second one is needed.
    inPlace: true,
    mutate: [
      ...paths.map((path) => sourcesOf(copy, path)),
      "!src/**/*.test.ts",
      "!src/**/*.test-d.ts",
      "!src/**/gen/**",
    ],
    testRunner: "vitest",
    vitest: { configFile: "scripts/mutate/vitest.config.ts", related: true },
    plugins: ["@stryker-mutator/vitest-runner", "./scripts/mutate/sample.ts"],
    checkers: share < 1 ? ["sample"] : [],
    coverageAnalysis: "perTest",
    // A change of what runs when a module loads needs a run of all tests in a fresh process.
    ignoreStatic: true,
    testRunnerNodeArgs: ["--conditions=source"],
    concurrency: workers,
    // Unit: milliseconds, added to twice the time that the covering tests take without a change.
    timeoutMS: 10_000,
    timeoutFactor: 2,
    // TypeScript 7 has no compiler API, and Node strips the types anyway: nothing of a tsconfig is needed.
    tsconfigFile: "none",
    disableTypeChecks: false,
    incremental: true,
    incrementalFile: RESULTS,
    reporters: ["json", "progress-append-only"],
    jsonReporter: { fileName: "reports/mutation.json" },
    allowConsoleColors: false,
  };
}

function sourcesOf(copy: string, path: string): string {
  const source = join(copy, path);
  if (!existsSync(source)) throw new RangeError(`there is no ${path}`);
  return statSync(source).isDirectory() ? `${path.replace(/\/$/, "")}/**/*.ts` : path;
}

const Results = z.looseObject({
  files: z.record(z.string(), z.looseObject({ mutants: z.array(z.looseObject({ status: z.string() })) })),
});

/** What an earlier, smaller share left out has no result that could be used again. */
function forgetSkipped(copy: string): void {
  const path = join(copy, RESULTS);
  if (!existsSync(path)) return;
  const results = Results.parse(JSON.parse(readFileSync(path, "utf8")));
  for (const file of Object.values(results.files)) {
    file.mutants = file.mutants.filter(({ status }) => status !== "CompileError");
  }
  writeFileSync(path, JSON.stringify(results));
}
