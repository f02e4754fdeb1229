import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { ProcessInfo } from "./process-info.ts";

const run = promisify(execFile);

/** The processes that `ps` lists with these arguments. For systems without `/proc`; births are exact to a second. */
export async function listThroughPs(which: readonly string[]): Promise<ProcessInfo[]> {
  const args = [...which, "-o", "pid=,pgid=,stat=,lstart="];
  const { stdout } = await run("ps", args, { env: { ...process.env, LC_ALL: "C" } }).catch((error: PsError) => {
    // It ends with 1 when there is no such process.
    if (error.code === 1) return { stdout: error.stdout ?? "" };
    throw error;
  });
  return stdout.split("\n").flatMap((line) => {
    const [pid, group, state = "Z", ...birth] = line.trim().split(/\s+/);
    return state.startsWith("Z") ? [] : [{ pid: Number(pid), group: Number(group), birth: birth.join(" ") }];
  });
}

interface PsError extends Error {
  readonly code?: unknown;
  readonly stdout?: string;
}
