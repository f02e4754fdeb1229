import { spawn, type ChildProcess } from "node:child_process";
import type { Duplex } from "node:stream";

import { markInEnvironment, type Mark } from "./mark.ts";

/** What a command is run with. */
export interface CommandContext {
  /** Absolute. */
  readonly cwd: string;
  /** Added to the supervisor's own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly mark: Mark;
}

export interface Launched {
  readonly child: ChildProcess;
  /** Also the id of the process group. */
  readonly pid: number;
  /** Resolves when the process has ended; what it started may live on. */
  readonly exited: Promise<{ readonly code: number | undefined; readonly signal: string | undefined }>;
  /** Resolves to true when the system refused the mark. */
  readonly unmarked: Promise<boolean>;
  /** Lets the command begin. Until then the process only waits; when the supervisor dies first, it ends. */
  release(this: void): void;
}

/**
 * Becomes the command in place, with the same pid, once a line with the mark has come. So whatever of the command there is
 * to find was written down before it began, at whichever moment the supervisor dies. Shells call the limit -w or -x.
 */
const WAIT_THEN_EXEC = `
read -r mark <&3 || exit 125
{ ulimit -S -w "$mark" || ulimit -S -x "$mark"; } 2>/dev/null || echo unmarked >&3
exec "$@" 3<&-`;

/** Starts a process that waits for {@link Launched.release}. @throws {Error} when the system refuses. */
export async function launch(command: readonly string[], { cwd, env, mark }: CommandContext): Promise<Launched> {
  const all = { ...inheritedEnvironment(), ...env, ...markInEnvironment(mark) };
  // Shells drop variables whose names they could not use.
  const odd = Object.entries(all).filter(([name]) => !/^[A-Za-z_]\w*$/.test(name));
  const restored = odd.length === 0 ? [] : ["/usr/bin/env", ...odd.map(([name, value]) => `${name}=${value}`)];
  const child = spawn("/bin/sh", ["-c", WAIT_THEN_EXEC, "sh", ...restored, ...command], {
    cwd,
    env: all,
    // A session of its own: Ctrl-C in the terminal reaches the supervisor alone, which then stops services in order.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const exited: Launched["exited"] = new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
  });
  await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  child.on("error", () => {}); // Nothing that is asked of it later fails without a result of its own.
  const control = child.stdio[3] as Duplex;
  const unmarked = new Promise<boolean>((resolve) => {
    control
      .on("error", () => {})
      .once("close", () => resolve(false))
      .once("data", () => resolve(true));
  });
  return { child, pid: child.pid ?? 0, exited, unmarked, release: () => control.end(`${mark.number}\n`) };
}

/** Without what npm adds for its own scripts. */
function inheritedEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD$)/i.test(name)));
}
