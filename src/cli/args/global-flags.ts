import type { Command } from "commander";
import { usageError } from "../cli-error.ts";
import { withEndpoint, withNamespace } from "./flags.ts";

/**
 * Lets the flags that nearly all commands have stand before the command as well: `homeostat -n lab get svc`. A flag that
 * stands in both places counts where it stands last.
 */
export function addGlobalFlags(program: Command): void {
  withEndpoint(withNamespace(program));
  program.hook("preAction", (_, command) => moveFlags(program, command));
}

/** @throws {CliError} usage, for a flag that the command has no use for. */
function moveFlags(program: Command, command: Command): void {
  for (const option of program.options) {
    const name = option.attributeName();
    if (program.getOptionValueSource(name) !== "cli") continue;
    if (!command.options.some((one) => one.attributeName() === name)) {
      throw usageError(`${command.name()} takes no ${option.long ?? option.flags}`);
    }
    if (command.getOptionValueSource(name) === "cli") continue;
    command.setOptionValueWithSource(name, program.getOptionValue(name), "cli");
  }
}
