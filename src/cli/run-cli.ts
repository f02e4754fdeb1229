import { CommanderError } from "commander";
import { isCancellation } from "../internal/cancellation.ts";
import { ExitCode } from "./exit-code.ts";
import { Interrupted, type Host } from "./host.ts";
import { BrokenPipe } from "./output.ts";
import { buildProgram } from "./program.ts";
import { Session } from "./connect/session.ts";
import { packageVersion } from "./package-version.ts";

/**
 * Runs one command line, without the name of the program.
 *
 * @returns the exit code; nothing is thrown for anything that a user can bring about.
 */
export async function runCli(args: readonly string[], host: Host): Promise<number> {
  try {
    return await runCommand(args, host);
  } catch (error) {
    if (error instanceof BrokenPipe) return ExitCode.ok;
    if (host.signal.aborted && isCancellation(error, host.signal)) return codeOfEnd(host.signal.reason);
    const { exitCodeOf, reportFailure } = await import("./failure.ts");
    try {
      await reportFailure(host.stderr, error);
    } catch (failure) {
      if (!(failure instanceof BrokenPipe)) throw failure;
    }
    return exitCodeOf(error);
  }
}

async function runCommand(args: readonly string[], host: Host): Promise<number> {
  let chosen: ((session: Session) => Promise<ExitCode>) | undefined;
  const program = buildProgram(await packageVersion(), (work) => (chosen = work));
  let [out, err] = ["", ""];
  for (const command of [program, ...program.commands]) {
    command.exitOverride();
    command.configureOutput({ writeOut: (text) => (out += text), writeErr: (text) => (err += text) });
  }
  let code: number = ExitCode.ok;
  try {
    if (args.length === 0) program.outputHelp({ error: true });
    else program.parse([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    code = error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
  }
  if (out !== "") await host.stdout.write(out);
  if (err !== "") await host.stderr.write(err);
  if (chosen !== undefined) return chosen(new Session(host));
  return args.length === 0 ? ExitCode.usage : code;
}

const codeOfEnd = (reason: unknown): number => (reason instanceof Interrupted ? reason.exitCode : ExitCode.ok);
