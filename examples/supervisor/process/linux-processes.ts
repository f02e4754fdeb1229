import { readdir, readFile } from "node:fs/promises";

import type { ProcessInfo } from "./process-info.ts";

/** What `/proc` says of one process; undefined when it does not run any more. */
export async function inspectThroughProc(pid: number): Promise<ProcessInfo | undefined> {
  const stat = await readProc(pid, "stat");
  if (stat === undefined) return undefined;
  // The name, in brackets, may hold anything, brackets and blanks too.
  const [state = "", , group = "", ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = rest[16];
  if (ticks === undefined || state === "Z" || state === "X") return undefined;
  // Ticks count from the start of the machine, so they mean something only together with it.
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
  return { pid, group: Number(group), birth: `${ticks}@${boot.trim()}` };
}

export async function listThroughProc(): Promise<ProcessInfo[]> {
  const found = await Promise.all((await listPids()).map(inspectThroughProc));
  return found.filter((one) => one !== undefined);
}

/** The processes that were started with an environment variable, and its value. */
export async function listByEnvironment(variable: string): Promise<(ProcessInfo & { readonly value: string })[]> {
  const prefix = `${variable}=`;
  const found = await Promise.all(
    (await listPids()).map(async (pid) => {
      const environment = await readProc(pid, "environ");
      const entry = environment?.split("\0").find((one) => one.startsWith(prefix));
      const info = entry === undefined ? undefined : await inspectThroughProc(pid);
      return info && entry && { ...info, value: entry.slice(prefix.length) };
    }),
  );
  return found.filter((one) => one !== undefined && one !== "");
}

async function listPids(): Promise<number[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Undefined for a process that is gone, or whose file is nobody else's to read. */
async function readProc(pid: number, file: string): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
