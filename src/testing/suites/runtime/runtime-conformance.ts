import type { RuntimeOptions } from "../../../runtime/index.ts";
import type { CoreState } from "../../../state/index.ts";
import { classicScenarios } from "./runtime-scenarios-classic.ts";
import { queueScenarios } from "./runtime-scenarios-queue.ts";
import { RuntimeWorld, type RuntimeScenario, type RuntimeVariant } from "./runtime-world.ts";
import type { TestApi } from "../test-api.ts";

/** What {@link runtimeConformance} needs to know of the engine and State under test. */
export interface RuntimeSuiteOptions {
  /** Opens an empty State, in which every namespace exists, for one test; the suite disposes of it. */
  readonly newState: () => CoreState | Promise<CoreState>;
  /**
   * Settings of the engine: none; 10 writes a second after a burst of 20; or the kinds that are read from the cache.
   * A State should pass with each. Default: `defaults`.
   */
  readonly variant?: RuntimeVariant | undefined;
  /** Further options of each engine, such as a logger. Those of the variant come before them. */
  readonly runtime?: RuntimeOptions | undefined;
  /** Reasons by scenario name, for what cannot pass yet. @throws {TypeError} when there is no such scenario. */
  readonly skip?: Readonly<Record<string, string>> | undefined;
}

const SCENARIOS: readonly RuntimeScenario[] = [...classicScenarios, ...queueScenarios];

/** Names of all scenarios of {@link runtimeConformance}, in order. */
export const RUNTIME_SCENARIOS: readonly string[] = SCENARIOS.map(({ name }) => name);

/**
 * Registers one test for each thing that the engine does on every State. Each has a State and an engine of its own, so
 * they may run at the same time; some take seconds of real time. After each the engine must stop, leave no watch open,
 * and leave the State in working order.
 */
export function runtimeConformance(api: TestApi, options: RuntimeSuiteOptions): void {
  const skip = new Map(Object.entries(options.skip ?? {}));
  for (const name of skip.keys()) {
    if (RUNTIME_SCENARIOS.includes(name)) continue;
    throw new TypeError(`skip names ${JSON.stringify(name)}, which is no scenario of the suite`);
  }
  for (const scenario of SCENARIOS) {
    const reason = skip.get(scenario.name);
    api.test(scenario.name, async (context) => {
      if (reason === undefined) await runScenario(scenario, options);
      else context?.skip?.(reason);
    });
  }
}

async function runScenario(scenario: RuntimeScenario, options: RuntimeSuiteOptions): Promise<void> {
  const core = await options.newState();
  try {
    const world = new RuntimeWorld(core, options.variant ?? "defaults", options.runtime);
    try {
      await scenario.run(world);
    } catch (error) {
      // A scenario that failed must not leave its engine running; what fails in the end is secondary.
      await world.stop().catch(() => undefined);
      throw error;
    }
    await world.tearDown();
  } finally {
    await core[Symbol.asyncDispose]?.();
  }
}
