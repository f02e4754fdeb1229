import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { EQUIVALENT } from "./equivalent.ts";

interface Position {
  readonly line: number;
  readonly column: number;
}

interface Mutant {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

/** What is used of StrykerJS' report, https://github.com/stryker-mutator/mutation-testing-elements. */
const Position: z.ZodType<Position> = z.object({ line: z.number(), column: z.number() });
const Mutant: z.ZodType<Mutant> = z.object({
  status: z.string(),
  mutatorName: z.string(),
  replacement: z.string().default(""),
  location: z.object({ start: Position, end: Position }),
});
const Report: z.ZodType<Report> = z.object({
  files: z.record(z.string(), z.object({ source: z.string(), mutants: z.array(Mutant) })),
});

/** Statuses of StrykerJS that count; a mutant that was left out, or that does not even load, says nothing of the tests. */
const FOUND: ReadonlySet<string> = new Set(["Killed", "Timeout"]);
const MISSED: ReadonlySet<string> = new Set(["Survived", "NoCoverage"]);

export function readReport(copy: string): Report {
  return Report.parse(JSON.parse(readFileSync(join(copy, "reports/mutation.json"), "utf8")));
}

interface Score {
  found: number;
  missed: number;
  equivalent: number;
}

/** Prints what no test noticed, then the score of each folder. Returns the score of all, in percent. */
export function printReport({ files }: Report, paths: readonly string[]): number {
  const total: Score = { found: 0, missed: 0, equivalent: 0 };
  const folders = new Map<string, Score>();
  for (const path of Object.keys(files).toSorted()) {
    const file = files[path];
    if (file === undefined || !paths.some((one) => path === one || path.startsWith(`${one.replace(/\/$/, "")}/`)))
      continue;
    const folder = folders.get(dirname(path)) ?? { found: 0, missed: 0, equivalent: 0 };
    folders.set(dirname(path), folder);
    const lines = file.source.split("\n");
    for (const mutant of file.mutants) {
      const outcome = classify(path, lines, mutant);
      if (outcome === undefined) continue;
      folder[outcome]++;
      total[outcome]++;
      if (outcome === "missed") console.log(`${describeMutant(path, lines, mutant)}\n`);
    }
  }
  for (const [folder, score] of folders) console.log(scoreLine(folder, score));
  console.log(scoreLine("all", total));
  return percent(total);
}

function classify(path: string, lines: readonly string[], mutant: Mutant): keyof Score | undefined {
  if (FOUND.has(mutant.status)) return "found";
  if (!MISSED.has(mutant.status)) return undefined;
  const original = (lines[mutant.location.start.line - 1] ?? "").trim();
  const isEquivalent = EQUIVALENT.some(
    (one) => one.file === path && one.line === original && one.replacement === mutant.replacement,
  );
  return isEquivalent ? "equivalent" : "missed";
}

/** The place, then the lines as they are and as they were changed. */
function describeMutant(path: string, lines: readonly string[], mutant: Mutant): string {
  const { start, end } = mutant.location;
  const before = lines.slice(start.line - 1, end.line);
  const head = (before[0] ?? "").slice(0, start.column - 1);
  const tail = (before.at(-1) ?? "").slice(end.column - 1);
  const after = `${head}${mutant.replacement}${tail}`.split("\n");
  const why = mutant.status === "NoCoverage" ? "no test reaches it" : "no test fails";
  return [
    `${path}:${start.line}:${start.column} ${mutant.mutatorName}: ${why}`,
    ...before.map((line) => `- ${line}`),
    ...after.map((line) => `+ ${line}`),
  ].join("\n");
}

const percent = ({ found, missed }: Score): number => (found + missed === 0 ? 100 : (100 * found) / (found + missed));

function scoreLine(name: string, score: Score): string {
  const { found, missed, equivalent } = score;
  const rest = equivalent === 0 ? "" : `, ${equivalent} equivalent`;
  return `${name}: ${percent(score).toFixed(1)} % (${found} of ${found + missed}${rest})`;
}
