import { Command } from "commander";
import { addAnnotate, addApply, addDelete, addEdit, addLabel, addPatch } from "./change-commands.ts";
import { addContext } from "./context-commands.ts";
import type { Choose } from "../args/flags.ts";
import { addExplain, addFinalizer, addGraph } from "./engine-commands.ts";
import { addGlobalFlags } from "../args/global-flags.ts";
import { addDescribe, addDiff, addFields, addGet, addWait, addWatch } from "./look-commands.ts";
import { addCompletion, addRun, addServe, addVersion } from "./run-commands.ts";

const EXIT_CODES = `
Exit codes:
  0  done                         3  no such resource or type
  1  failed                       4  conflict: changed meanwhile, owned by another, or held
  2  wrong use                    5  the endpoint cannot be reached
  6  waited in vain               130, 143  ended by Ctrl-C, by SIGTERM

Results go to standard output, everything else to standard error.`;

/** The command line. Each command loads what it needs when it is chosen, and nothing before. */
export function buildProgram(version: string, choose: Choose): Command {
  const program = new Command("homeostat")
    .description("Runs control planes, and looks into them.")
    .version(version, "-V, --version", "show the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .addHelpText("after", EXIT_CODES);

  addGlobalFlags(program);
  program.commandsGroup("Look:");
  addGet(program, choose);
  addWatch(program, choose);
  addDescribe(program, choose);
  addExplain(program, choose);
  addGraph(program, choose);
  addFields(program, choose);
  addWait(program, choose);
  program.commandsGroup("Change:");
  addApply(program, choose);
  addDiff(program, choose);
  addPatch(program, choose);
  addEdit(program, choose);
  addLabel(program, choose);
  addAnnotate(program, choose);
  addDelete(program, choose);
  addFinalizer(program, choose);
  program.commandsGroup("Run:");
  addRun(program, choose);
  addServe(program, choose);
  program.commandsGroup("Shell:");
  addContext(program, choose);
  addVersion(program, choose);
  addCompletion(program, choose);
  return program;
}
