import type { Clock } from "../../../clock/index.ts";
import { wrapState, type CoreState, type State } from "../../../state/index.ts";
import { conflicts } from "./conflicts.ts";
import { createReadDestroy } from "./create-read-destroy.ts";
import { derived } from "./derived.ts";
import { lives } from "./lives.ts";
import { owners } from "./owners.ts";
import { queries } from "./queries.ts";
import { values } from "./values.ts";
import { watchFor } from "./watch-for.ts";
import { watchKindLabels } from "./watch-kind-labels.ts";
import { watchKind } from "./watch-kind.ts";
import { watchLifetime } from "./watch-lifetime.ts";
import { watchOne } from "./watch-one.ts";
import { ScenarioSkipped, World, type Scenario } from "./world.ts";
import type { TestApi } from "../test-api.ts";

/** What {@link stateConformance} needs to know of the State under test. */
export interface StateSuiteOptions {
  /**
   * Opens a State for one test; the suite disposes of it. It must be empty, or `namespaces` must give names that
   * were not used before.
   */
  readonly newState: () => CoreState | Promise<CoreState>;
  /**
   * Namespaces to work in, which the State must accept: one, or better two and more. A function is asked once for each
   * test. Default: `default` alone.
   */
  readonly namespaces?: readonly string[] | (() => readonly string[]) | undefined;
  /** Reasons by scenario name, for what the State cannot pass yet. @throws {TypeError} when there is no such scenario. */
  readonly skip?: Readonly<Record<string, string>> | undefined;
  /** How long a scenario waits for each event or result. Unit: milliseconds. Default: 4,000. */
  readonly waitMs?: number | undefined;
  /** What measures `waitMs`. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

const DEFAULT_WAIT_MS = 4_000;

const SCENARIOS: readonly Scenario[] = [
  ...createReadDestroy,
  ...owners,
  ...watchKind,
  ...watchKindLabels,
  ...watchOne,
  ...watchLifetime,
  ...watchFor,
  ...conflicts,
  ...lives,
  ...queries,
  ...derived,
  ...values,
];

/** Names of all scenarios of {@link stateConformance}, in order. */
export const STATE_SCENARIOS: readonly string[] = SCENARIOS.map(({ name }) => name);

/**
 * Registers one test for each promise that every State keeps. Each runs in a State of its own. What a State may leave
 * out (it answers `unsupported`) is reported as skipped, and so is what `options.skip` names.
 */
export function stateConformance(api: TestApi, options: StateSuiteOptions): void {
  const skip = new Map(Object.entries(options.skip ?? {}));
  for (const name of skip.keys()) {
    if (!STATE_SCENARIOS.includes(name))
      throw new TypeError(`skip names ${JSON.stringify(name)}, which is no scenario of the suite`);
  }
  for (const scenario of SCENARIOS) {
    const reason = skip.get(scenario.name);
    api.test(scenario.name, async (context) => {
      try {
        if (reason !== undefined) throw new ScenarioSkipped(reason);
        await runScenario(scenario, options);
      } catch (error) {
        if (!(error instanceof ScenarioSkipped)) throw error;
        context?.skip?.(error.message);
      }
    });
  }
}

async function runScenario(scenario: Scenario, options: StateSuiteOptions): Promise<void> {
  const { namespaces = ["default"], waitMs: timeoutMs = DEFAULT_WAIT_MS, clock } = options;
  await using state = asState(await options.newState());
  await using world = new World(state, typeof namespaces === "function" ? namespaces() : namespaces, {
    timeoutMs,
    clock,
  });
  await scenario.run(world);
}

/** The State itself, or the derived operations around a core. */
function asState(core: CoreState): State {
  return "updateWithConflicts" in core ? (core as State) : wrapState(core);
}
