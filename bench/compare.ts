import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { openPeer, parseMeasurements } from "./peer.ts";
import type { Measurement } from "./report.ts";
import { splitWire } from "./wire.ts";

const run = promisify(execFile);

/** Measures ours and, where it can be built, the Go program, by turns and each in processes of its own; prints the medians. */
export async function compare(names: readonly string[], n: number, rounds: number): Promise<void> {
  const peer = await openPeer();
  const ours: Measurement[][] = [];
  const theirs: Measurement[][] = [];
  try {
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`round ${round} of ${rounds}\n`);
      const measured = splitWire(await measureOurs(names, n));
      ours.push(measured.ours);
      theirs.push(measured.theirs);
      // Of the wire, both sides are measured in one go.
      if ("measure" in peer && names.some((name) => name !== "wire")) theirs.push(await peer.measure(n));
    }
  } finally {
    if ("measure" in peer) await peer[Symbol.asyncDispose]();
  }
  if ("reason" in peer) console.log(`Homeostat alone: ${peer.reason}.`);
  printTable(median(ours), median(theirs));
}

async function measureOurs(names: readonly string[], n: number): Promise<Measurement[]> {
  const main = join(import.meta.dirname, "main.ts");
  const args = [...process.execArgv, main, "--json", "--n", String(n), ...names];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 20 });
  return parseMeasurements(stdout);
}

type Quantity = "per_second" | "bytes_each" | "p50_us" | "p99_us";

/** Each quantity, and whether more of it is better. */
const QUANTITIES: readonly { readonly name: Quantity; readonly moreIsBetter: boolean; readonly unit: string }[] = [
  { name: "per_second", moreIsBetter: true, unit: "/s" },
  { name: "bytes_each", moreIsBetter: false, unit: "bytes each" },
  { name: "p50_us", moreIsBetter: false, unit: "µs p50" },
  { name: "p99_us", moreIsBetter: false, unit: "µs p99" },
];

/** The median of each quantity over the rounds, by `name quantity`. */
function median(rounds: readonly Measurement[][]): Map<string, number> {
  const values = new Map<string, number[]>();
  for (const measurement of rounds.flat()) {
    for (const { name } of QUANTITIES) {
      const value = measurement[name];
      if (value === undefined) continue;
      const key = `${measurement.name} ${name}`;
      values.set(key, [...(values.get(key) ?? []), value]);
    }
  }
  return new Map([...values].map(([key, all]) => [key, all.sort((a, b) => a - b)[all.length >> 1] ?? Number.NaN]));
}

function printTable(ours: ReadonlyMap<string, number>, theirs: ReadonlyMap<string, number>): void {
  const rows = [["subject", "Homeostat", "Go", "times as good", ""]];
  for (const [key, mine] of ours) {
    const [subject = "", quantity] = key.split(" ");
    const { unit = "", moreIsBetter = true } = QUANTITIES.find(({ name }) => name === quantity) ?? {};
    const other = theirs.get(key);
    const ratio = other === undefined ? "" : `${(moreIsBetter ? mine / other : other / mine).toFixed(2)}×`;
    rows.push([subject, readable(mine), other === undefined ? "" : readable(other), ratio, unit]);
  }
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    console.log(
      row
        .map((cell, i) => (i === 0 || i === 4 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join("  "),
    );
  }
}

function readable(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} M`;
  if (value >= 1e3) return `${(value / 1e3).toFixed(1)} k`;
  return value.toFixed(1);
}
