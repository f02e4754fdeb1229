import { setTimeout as sleep } from "node:timers/promises";

import { parseCommandLine } from "./command-line.ts";
import { runSupervisor } from "./terminal/run-supervisor.ts";

const commandLine = parseCommandLine(process.argv.slice(2), process.env["INIT_CWD"] ?? process.cwd());
switch (commandLine.kind) {
  case "help":
    console.log(commandLine.text);
    break;
  case "mistake":
    console.error(`${commandLine.message}\nTry --help.`);
    process.exitCode = 2;
    break;
  case "run":
    try {
      process.exitCode = await runSupervisor(commandLine);
    } catch (error) {
      console.error(`The supervisor cannot go on: ${(error as Error).message}`);
      process.exitCode = 1;
    }
    // A reader gets the rest of the output, but does not keep the process alive.
    await Promise.race([new Promise((resolve) => process.stdout.write("", resolve)), sleep(1_000)]);
    process.exit();
}
