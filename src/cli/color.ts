import { usageError } from "./cli-error.ts";
import type { Host } from "./host.ts";

/** Whether to colour: what `--color` says, else `NO_COLOR`, else only on a terminal. @throws {CliError} usage */
export function wantsColor(when: string | undefined, { env, stdout }: Pick<Host, "env" | "stdout">): boolean {
  switch (when ?? "auto") {
    case "always":
      return true;
    case "never":
      return false;
    case "auto":
      return !env["NO_COLOR"] && env["TERM"] !== "dumb" && stdout.isTerminal;
    default:
      throw usageError(`--color must be auto, always or never, got ${JSON.stringify(when)}`);
  }
}
