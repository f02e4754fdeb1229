import { parseArgs } from "node:util";

import { compare } from "./compare.ts";
import { runSubjects, SUBJECTS } from "./subjects.ts";

const USAGE = `usage: npm run bench -- [--json] [--n N] [--rounds N] [subject …]

Measures the subjects (${[...SUBJECTS.keys()].join(", ")}; default: all).
  --json      one JSON object a line, one round in this process
  --n         resources (default 100000)
  --rounds    rounds of the table, whose figures are their medians (default 3)
Without --json it prints a table, beside the Go implementation's figures where a Go toolchain is there.`;

function wholeNumber(option: string, text: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new RangeError(`--${option} must be a whole number of at least 1, got ${JSON.stringify(text)}`);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      n: { type: "string", default: "100000" },
      rounds: { type: "string", default: "3" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const names = positionals.length > 0 ? positionals : [...SUBJECTS.keys()];
  const unknown = names.find((name) => !SUBJECTS.has(name));
  if (unknown !== undefined) throw new RangeError(`there is no subject ${JSON.stringify(unknown)}`);
  const n = wholeNumber("n", values.n);
  if (values.json) await runSubjects(names, n, (measurement) => console.log(JSON.stringify(measurement)));
  else await compare(names, n, wholeNumber("rounds", values.rounds));
}

try {
  await main();
} catch (error) {
  if (!(error instanceof RangeError || (error instanceof TypeError && "code" in error))) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
