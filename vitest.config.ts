import { join } from "node:path";

import { defineConfig, type ViteUserConfig } from "vitest/config";

// The path of a JSON report to write beside the readable one; `.ci/run` counts from it.
const report = process.env["TEST_REPORT"];

// `import "homeostat"` means the sources, as in every npm script (`node --conditions=source`).
const conditions = ["source", "node", "import", "module", "default"];
const execArgv = ["--conditions=source"];

// Programs that tests start compile nothing that was compiled before: half of their time, on some a tenth of a second.
const NODE_COMPILE_CACHE = join(import.meta.dirname, "node_modules", ".cache", "node-compile");

const config: ViteUserConfig = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    reporters: report === undefined ? ["default"] : ["default", ["json", { outputFile: report }]],
    maxWorkers: 2,
    coverage: { include: ["src/**/*.ts"], exclude: ["src/**/*.test.ts", "src/**/*.test-d.ts"] },
    projects: [
      {
        // One unit each: no global state, so that files share two threads.
        extends: true,
        test: {
          name: "unit",
          include: ["src/**/*.test.ts"],
          setupFiles: ["test/setup-leaks.ts"],
          pool: "threads",
          isolate: false,
          execArgv,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // What starts processes, listens or has global state, in processes beside the runner's.
        extends: true,
        test: {
          name: "process",
          include: ["test/**/*.test.ts", "examples/**/*.test.ts", "interop/**/*.test.ts"],
          setupFiles: ["test/setup-leaks.ts"],
          pool: "forks",
          isolate: false,
          // One more than there are cores in CI: much of it waits for programs, pipes and grace times.
          maxWorkers: 3,
          execArgv,
          env: { NODE_COMPILE_CACHE },
          testTimeout: 30_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

export default config;
