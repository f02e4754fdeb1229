import { tmpdir } from "node:os";
import { addAbortSignal } from "node:stream";
import { text } from "node:stream/consumers";
import { SystemClock } from "../clock/index.ts";
import { askVersion, openState } from "./connect/open-state.ts";
import { Interrupted } from "./host.ts";
import { streamOutput, type Output } from "./output.ts";
import { runCli } from "./run-cli.ts";

/** What is left after the work is done may take this long to end by itself. */
const LINGER_MS = 1_000;

/** Runs the command line of this process, and sets its exit code. */
export async function main(): Promise<void> {
  // What cannot be told is no reason to stop.
  const stderr = streamOutput(process.stderr);
  const onCrash = (error: unknown): void => void crash(stderr, error);
  process.on("uncaughtException", onCrash);
  process.on("unhandledRejection", onCrash);
  try {
    process.exitCode = await runProcess(stderr);
  } catch (error) {
    await crash(stderr, error);
  }
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

async function runProcess(stderr: Output): Promise<number> {
  const end = new AbortController();
  let holds = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (holds > 0 && signal === "SIGINT") return;
    const exitCode = signal === "SIGTERM" ? 143 : 130;
    // Asking twice means: do not wait.
    if (end.signal.aborted) process.exit(exitCode);
    end.abort(new Interrupted(exitCode, `ended by ${signal}`));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  try {
    return await runCli(process.argv.slice(2), {
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
      // There are none on Windows, and not every user has a name.
      userId: process.getuid?.() ?? -1,
      temporaryFolder: tmpdir(),
      clock: new SystemClock(),
      signal: end.signal,
      openState: (endpoint) => openState(endpoint, stderr),
      askVersion: (endpoint) => askVersion(endpoint, end.signal),
    });
  } finally {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

/** Ends the process for something that was thrown where nothing catches it, in a user's timer for example. */
async function crash(stderr: Output, error: unknown): Promise<void> {
  process.exitCode = 1;
  const [{ reportFailure }, { userFailure }, { isInOwnCode }] = await Promise.all([
    import("./failure.ts"),
    import("./user-failure.ts"),
    import("./own-code.ts"),
  ]);
  const isOurs = error instanceof Error && isInOwnCode(error);
  await reportFailure(stderr, isOurs ? error : userFailure("", error, "/"));
  process.exit(1);
}
