import { CommanderError, type Command } from "commander";
import { isCancellation } from "../internal/cancellation.ts";
import { CliError } from "./cli-error.ts";
import { ExitCode } from "./exit-code.ts";
import { Interrupted, type Host } from "./host.ts";
import { BrokenPipe } from "./output.ts";
import { buildProgram } from "./program/program.ts";
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
    const isEnd = host.signal.aborted && isCancellation(error, host.signal);
    const failure: unknown = isEnd ? host.signal.reason : error;
    if (isEnd && !(failure instanceof CliError)) return codeOfEnd(failure);
    const { exitCodeOf, reportFailure } = await import("./failure.ts");
    try {
      await reportFailure(host.stderr, failure);
    } catch (reason) {
      if (!(reason instanceof BrokenPipe)) throw reason;
    }
    return exitCodeOf(failure);
  }
}

async function runCommand(args: readonly string[], host: Host): Promise<number> {
  let chosen: ((session: Session) => Promise<ExitCode>) | undefined;
  const program = buildProgram(await packageVersion(), (work) => (chosen = work));
  let [out, err] = ["", ""];
  for (const command of withSubcommands(program)) {
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

const withSubcommands = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];
