import { type ViteUserConfig } from "vitest/config";
import base from "../../vitest.config.ts";

// Which tests may notice a change is in MUTATE_TESTS, a JSON array of patterns.
const include: readonly string[] = JSON.parse(process.env["MUTATE_TESTS"] ?? "[]") as string[];

/** A mutant is switched on in the process of the tests: programs that they start run the code as it is. */
const STARTS_PROGRAMS = ["test/*-process.test.ts", "test/*-suite-runners.test.ts"];

const { projects = [], ...rest } = base.test ?? {};

const config: ViteUserConfig = {
  ...base,
  test: {
    ...rest,
    reporters: [{}],
    projects: projects.map((project) => {
      if (typeof project !== "object" || !("test" in project)) return project;
      const { setupFiles = [], include: all = [], ...test } = project.test ?? {};
      return {
        ...project,
        test: {
          ...test,
          // StrykerJS has a limit of its own for each mutant; what is slow without one is not to stop the run.
          testTimeout: 60_000,
          include:
            include.length === 0 ? all : include.filter((one) => one.startsWith("src/") === (test.name === "unit")),
          exclude: ["**/node_modules/**", ...STARTS_PROGRAMS],
          setupFiles: ["scripts/mutate/setup.ts", ...[setupFiles].flat()],
        },
      };
    }),
  },
};

export default config;
