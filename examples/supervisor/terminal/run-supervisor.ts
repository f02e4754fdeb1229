import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { consoleLogger, type Logger } from "homeostat";

import type { CommandLine, LogLevel } from "../command-line.ts";
import { openSupervisor, type Supervisor } from "../supervisor.ts";
import type { Happening } from "./describe-change.ts";
import { followStatuses } from "./follow-statuses.ts";
import { clockTime, type ScreenContent } from "./render-screen.ts";
import { Screen } from "./screen.ts";
import { serveSupervisor } from "./serve-supervisor.ts";
import { StatusBoard } from "./status-board.ts";
import { StopSignals } from "./stop-signals.ts";

/**
 * Runs a supervisor until a signal asks it to stop. Resolves to the exit code: 0, or 1 when it had to be forced.
 *
 * @throws {Error} when the supervisor cannot be started, or its runtime fails.
 */
export async function runSupervisor(options: Extract<CommandLine, { kind: "run" }>): Promise<number> {
  const { folder, stateFolder = join(folder, ".homeostat"), logLevel, listen } = options;
  const terminal = options.table && process.stdout.isTTY && process.env["TERM"] !== "dumb" ? process.stdout : undefined;
  // Whoever reads the output may go; the services stay.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

  const board = new StatusBoard();
  let screen: Screen | undefined;
  const say = (happening: Happening) => {
    board.note(happening);
    if (screen === undefined) printLine(happening);
  };
  using signals = new StopSignals();
  await using supervisor = await openSupervisor({
    folder,
    stateFolder,
    logger: terminal === undefined ? consoleLogger({ level: logLevel }) : fileLogger(stateFolder, logLevel),
    onLeftover: ({ service, pids }) => {
      const text = `${service}: stops what a killed supervisor left running (pid ${pids.join(", ")})`;
      say({ level: "warn", text });
    },
    force: signals.force,
  });
  const forced = stopWhenAsked(supervisor, signals, board, say);

  const content = (): ScreenContent => ({
    title: `homeostat supervisor · ${supervisor.folder}`,
    services: board.services,
    problems: board.problems,
    happenings: board.happenings,
    hint:
      signals.count === 0
        ? `Ctrl-C stops everything · logs: ${supervisor.stateFolder}/logs`
        : "stopping · Ctrl-C again kills",
    nowMs: Date.now(),
  });
  screen = terminal && new Screen(terminal, content);
  const end = new AbortController();
  try {
    say({
      level: "info",
      text: `keeps what ${supervisor.folder} declares; logs are in ${supervisor.stateFolder}/logs`,
    });
    await using _served = await serveSupervisor(supervisor, listen, say);
    const following = followStatuses(supervisor.state, board, say, () => screen?.invalidate(), end.signal);
    await Promise.race([supervisor.run(), following, forced]);
    await supervisor.run();
    const exitCode = (await forced) ? 1 : 0;
    end.abort();
    await following;
    return exitCode;
  } finally {
    end.abort();
    screen?.[Symbol.dispose]();
    // What happened since the stop was asked for would be gone with the second screen.
    if (screen !== undefined)
      for (const one of board.happenings.filter(({ at }) => at >= signals.since)) printLine(one);
  }
}

/** Resolves to whether the processes had to be killed, when everything has stopped. */
async function stopWhenAsked(
  supervisor: Supervisor,
  signals: StopSignals,
  board: StatusBoard,
  say: (happening: Happening) => void,
): Promise<boolean> {
  await signals.first;
  say({ level: "info", text: "stops all services in order; Ctrl-C again kills them" });
  const kill = () => {
    say({ level: "warn", text: "kills all services" });
    supervisor.kill();
  };
  if (signals.force.aborted) kill();
  else signals.force.addEventListener("abort", kill, { once: true });
  await supervisor.stop();
  // What has happened may still be on its way here.
  await board.whenEmpty();
  say({ level: "info", text: "all services have stopped" });
  return signals.force.aborted;
}

function printLine({ level, text, at = new Date() }: Happening & { readonly at?: Date }): void {
  console.log(process.stdout.isTTY ? `${clockTime(at)}  ${text}` : `${at.toISOString()} ${level.padEnd(5)} ${text}`);
}

/** A table fills the terminal, so the runtime's own lines go to a file. */
function fileLogger(stateFolder: string, level: LogLevel): Logger {
  const path = join(stateFolder, "supervisor.log");
  mkdirSync(stateFolder, { recursive: true });
  return consoleLogger({ level, write: (line) => appendFileSync(path, `${line}\n`) });
}
