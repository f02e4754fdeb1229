import { platform } from "node:os";

import { inspectThroughProc, listByEnvironment, listThroughProc } from "./linux-processes.ts";
import { listThroughPs } from "./ps-processes.ts";
import type { ProcessInfo } from "./process-info.ts";

const hasProc = (): boolean => platform() === "linux";

/** What the system says of one process; undefined when it does not run (a zombie does not run any more). */
export async function inspectProcess(pid: number): Promise<ProcessInfo | undefined> {
  if (hasProc()) return inspectThroughProc(pid);
  return (await listThroughPs(["-p", String(pid)])).find((one) => one.pid === pid);
}

/** All processes of a process group. */
export async function groupMembers(group: number): Promise<ProcessInfo[]> {
  try {
    process.kill(-group, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return [];
  }
  // The group exists, if only as a zombie that nobody has asked for yet.
  return (await listProcesses()).filter((one) => one.group === group);
}

/** All processes that run. */
export async function listProcesses(): Promise<ProcessInfo[]> {
  return hasProc() ? listThroughProc() : listThroughPs(["-A"]);
}

/** The processes that were started with an environment variable, and its value. Linux only: elsewhere none is found. */
export async function findByEnvironment(variable: string): Promise<(ProcessInfo & { readonly value: string })[]> {
  return hasProc() ? listByEnvironment(variable) : [];
}
