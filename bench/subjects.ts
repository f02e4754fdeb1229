import { benchEngine } from "./engine.ts";
import { benchParts } from "./parts.ts";
import type { Report } from "./report.ts";
import { benchState } from "./state.ts";
import { benchWire } from "./wire.ts";

/** What can be measured, by the name that the command line takes. */
export const SUBJECTS: ReadonlyMap<string, (report: Report, n: number) => Promise<void>> = new Map([
  ["state", benchState],
  ["engine", benchEngine],
  ["parts", benchParts],
  ["wire", benchWire],
]);

/** These warm up what they measure themselves, in other processes. */
const WARM_THEMSELVES: ReadonlySet<string> = new Set(["wire"]);

/**
 * Measures the subjects one after the other; each is warmed up first, with the same work on States that are thrown
 * away: the Go program comes compiled.
 */
export async function runSubjects(names: readonly string[], n: number, report: Report): Promise<void> {
  for (const name of names) {
    const subject = SUBJECTS.get(name);
    if (subject === undefined)
      throw new RangeError(`there is no subject ${name}; choose from ${[...SUBJECTS.keys()].join(", ")}`);
    if (!WARM_THEMSELVES.has(name)) await subject(() => {}, n);
    await subject(report, n);
  }
}
