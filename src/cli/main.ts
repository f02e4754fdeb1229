import { tmpdir, userInfo } from "node:os";
import { addAbortSignal } from "node:stream";
import { text } from "node:stream/consumers";
import { Interrupted } from "./host.ts";
import { openState } from "./connect/open-state.ts";
import { streamOutput } from "./output.ts";
import { runCli } from "./run-cli.ts";

/** What is left after the work is done may take this long to end by itself. */
const LINGER_MS = 1_000;

/** Runs the command line of this process, and sets its exit code. */
export async function main(): Promise<void> {
  const end = new AbortController();
  let holds = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (holds > 0 && signal === "SIGINT") return;
    const exitCode = signal === "SIGTERM" ? 143 : 130;
    // Whoever asks twice does not want to wait.
    if (end.signal.aborted) process.exit(exitCode);
    end.abort(new Interrupted(exitCode, `ended by ${signal}`));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  // Errors that nobody reads are no reason to stop.
  const stderr = streamOutput(process.stderr);
  process.exitCode = await runCli(process.argv.slice(2), {
    stdout: streamOutput(process.stdout, (reason) => end.abort(reason)),
    stderr,
    readStdin: () => text(addAbortSignal(end.signal, process.stdin)),
    holdInterrupts: () => {
      holds++;
      return { [Symbol.dispose]: () => holds-- };
    },
    isInteractive: process.stdin.isTTY && process.stderr.isTTY,
    env: process.env,
    cwd: process.cwd(),
    userId: userInfo().uid,
    temporaryFolder: tmpdir(),
    signal: end.signal,
    openState: (endpoint) => openState(endpoint, stderr),
  });
  process.off("SIGINT", onSignal);
  process.off("SIGTERM", onSignal);
  setTimeout(() => process.exit(), LINGER_MS).unref();
}
