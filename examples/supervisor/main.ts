import { setTimeout as sleep } from "node:timers/promises";

import { CommanderError } from "commander";

import { parseCommandLine } from "./command-line.ts";
import { runSupervisor } from "./terminal/run-supervisor.ts";

try {
  const commandLine = parseCommandLine(process.argv.slice(2), process.env["INIT_CWD"] ?? process.cwd());
  process.exitCode = await runSupervisor(commandLine);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    console.error(`The supervisor cannot go on: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
// A reader gets the rest of the output, but does not keep the process alive.
await Promise.race([new Promise((resolve) => process.stdout.write("", resolve)), sleep(1_000)]);
process.exit();
