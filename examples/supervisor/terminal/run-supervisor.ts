import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { consoleLogger, type Logger } from "homeostat";
import { defaultEndpoint } from "homeostat/grpc";

import type { CommandLine, LogLevel } from "../command-line.ts";
import { HAS_PROC } from "../process/processes.ts";
import { openSupervisor } from "../supervisor.ts";
import type { Notice, TimedNotice } from "./notices.ts";
import { clockTime, type ScreenContent } from "./render-screen.ts";
import { Screen } from "./screen.ts";
import { StatusBoard } from "./status-board.ts";
import { StopSignals } from "./stop-signals.ts";

/** After the second Ctrl-C, this is how long killed processes may take to end. Unit: milliseconds. */
const FORCED_END_MS = 3_000;
/** A reader of the output that has stopped reading costs lines, not memory. Unit: bytes. */
const MAX_UNREAD_BYTES = 2 ** 20;

/**
 * Runs a supervisor until a signal asks it to stop. Resolves to the exit code: 0, or 1 when it had to be forced.
 *
 * @throws {Error} when the supervisor cannot be started, or its control plane fails.
 */
export async function runSupervisor(options: CommandLine): Promise<number> {
  const { folder, stateFolder = join(folder, ".homeostat"), logLevel, listen } = options;
  const terminal = options.table && process.stdout.isTTY && process.env["TERM"] !== "dumb" ? process.stdout : undefined;
  for (const stream of [process.stdout, process.stderr]) detach(stream);

  let screen: Screen | undefined;
  const board = new StatusBoard((notice) => screen === undefined && printLine(notice));
  const warn = (text: string) => board.note({ level: "warn", text });
  const info = (text: string) => board.note({ level: "info", text });
  using signals = new StopSignals();
  let kill = () => {};
  let stoppingSince = new Date(8.64e15); // The end of time.
  signals.stop.addEventListener("abort", () => {
    stoppingSince = new Date();
    info("stopping all services in order; Ctrl-C again kills them");
  });
  signals.force.addEventListener("abort", () => {
    warn("killing all services");
    kill();
    setTimeout(() => {
      screen?.[Symbol.dispose]();
      printLine({ level: "error", text: "not everything has ended; the next start stops what is left" });
      process.exit(1);
    }, FORCED_END_MS).unref();
  });
  const supervisor = await openSupervisor({
    folder,
    stateFolder,
    onFound: ({ service, pids }) =>
      warn(`${service}: stopping what a killed supervisor left running (pid ${pids.join(", ")})`),
    onUncertain: ({ service, pids }) =>
      warn(`${service}: pid ${pids.join(", ")} may be left of it, or not: left alone; see for yourself`),
    force: signals.force,
    tasks: [
      { name: "status board", run: ({ state, signal }) => board.follow(state, () => screen?.invalidate(), signal) },
    ],
  });
  kill = supervisor.kill;
  const content = (): ScreenContent => ({
    title: `homeostat supervisor · ${supervisor.folder}`,
    services: board.services,
    problems: board.problems,
    notices: board.notices,
    hint: signals.stop.aborted ? "stopping · Ctrl-C again kills" : `Ctrl-C stops everything · logs: ${supervisor.logs}`,
    nowMs: Date.now(),
  });
  const onListenError = (error: Error) => {
    if (listen !== undefined) throw error;
    warn(`the state is not served: ${error.message}; see --listen`);
  };
  try {
    screen = terminal && new Screen(terminal, content);
    await supervisor.plane.run({
      signal: signals.stop,
      logger:
        terminal === undefined
          ? consoleLogger({ level: logLevel, write: (line) => writeLine(process.stderr, line) })
          : fileLogger(stateFolder, logLevel),
      listen: listen === "" ? [] : listen === undefined ? await usualAddress(onListenError) : [listen],
      onListenError,
      onReady: ([address]) => {
        info(`keeping what ${supervisor.folder} declares; logs are in ${supervisor.logs}`);
        if (!HAS_PROC) warn("on this system, services that become daemons are not found: keep them in the foreground");
        const endpoint = listen === undefined ? "" : ` --endpoint ${address}`;
        if (address !== undefined) info(`in another terminal: npm run -s homeostat -- get svc -w${endpoint}`);
      },
      // Each service has its own grace time; a second Ctrl-C ends the waiting.
      stopTimeoutMs: Infinity,
    });
    info("all services have stopped");
    return signals.force.aborted ? 1 : 0;
  } finally {
    const shown = screen;
    screen = undefined;
    shown?.[Symbol.dispose]();
    // What happened since the stop was asked for would be gone with the second screen.
    if (shown !== undefined) for (const one of board.notices) if (one.at >= stoppingSince) printLine(one);
  }
}

/** Where the command `homeostat` looks. */
async function usualAddress(onError: (error: Error) => void): Promise<string[]> {
  try {
    return [await defaultEndpoint({ env: process.env, create: true })];
  } catch (error) {
    onError(error as Error);
    return [];
  }
}

/**
 * Writes to a stream never wait: a reader that has gone, or a terminal that is held, must not keep the supervisor from
 * its services, or from hearing Ctrl-C.
 */
function detach(stream: NodeJS.WriteStream): void {
  stream.on("error", () => {});
  // Node has no public way to say so for its own output.
  (stream as { _handle?: { setBlocking?(blocking: boolean): void } })._handle?.setBlocking?.(false);
}

function printLine({ level, text, at = new Date() }: Notice & Partial<TimedNotice>): void {
  const { stdout } = process;
  writeLine(stdout, stdout.isTTY ? `${clockTime(at)}  ${text}` : `${at.toISOString()} ${level.padEnd(5)} ${text}`);
}

function writeLine(stream: NodeJS.WriteStream, line: string): void {
  if (stream.writableLength <= MAX_UNREAD_BYTES) stream.write(`${line}\n`);
}

/** A table fills the terminal, so the runtime's own lines go to a file. */
function fileLogger(stateFolder: string, level: LogLevel): Logger {
  const path = join(stateFolder, "supervisor.log");
  mkdirSync(stateFolder, { recursive: true });
  return consoleLogger({ level, write: (line) => appendFileSync(path, `${line}\n`) });
}
