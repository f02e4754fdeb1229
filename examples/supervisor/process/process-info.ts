import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { platform } from "node:os";
import { promisify } from "node:util";

/** A process of this machine. */
export interface ProcessInfo {
  readonly pid: number;
  /** Its process group. */
  readonly group: number;
  /** Tells it from a later process with the same pid: pid and birth together never come twice. */
  readonly birth: string;
}

const run = promisify(execFile);

/** What the system says of one process; undefined when it does not run (a zombie does not run any more). */
export async function inspectProcess(pid: number): Promise<ProcessInfo | undefined> {
  if (platform() === "linux") return inspectThroughProc(pid);
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
  if (platform() !== "linux") return listThroughPs(["-A"]);
  const found = await Promise.all((await listPids()).map(inspectThroughProc));
  return found.filter((one) => one !== undefined);
}

/** The value of an environment variable that each process was started with, for those that have it. Linux only. */
export async function findByEnvironment(variable: string): Promise<(ProcessInfo & { readonly value: string })[]> {
  if (platform() !== "linux") return [];
  const prefix = `${variable}=`;
  const found = await Promise.all(
    (await listPids()).map(async (pid) => {
      const entry = (await readProc(pid, "environ"))?.split("\0").find((one) => one.startsWith(prefix));
      const info = entry === undefined ? undefined : await inspectThroughProc(pid);
      return info && { ...info, value: (entry ?? "").slice(prefix.length) };
    }),
  );
  return found.filter((one) => one !== undefined);
}

async function listPids(): Promise<number[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Undefined for a process that is gone, or that belongs to somebody else. */
async function readProc(pid: number, file: string): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}

let bootId: Promise<string> | undefined;

async function inspectThroughProc(pid: number): Promise<ProcessInfo | undefined> {
  const stat = await readProc(pid, "stat");
  if (stat === undefined) return undefined;
  // The name, in brackets, may hold anything, brackets and blanks too.
  const [state = "", , group = "", ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = rest[16];
  if (ticks === undefined || state === "Z" || state === "X") return undefined;
  // Ticks count from the start of the machine, so they mean something only together with it.
  bootId ??= readFile("/proc/sys/kernel/random/boot_id", "utf8").then((text) => text.trim());
  return { pid, group: Number(group), birth: `${ticks}@${await bootId}` };
}

async function listThroughPs(which: readonly string[]): Promise<ProcessInfo[]> {
  const { stdout } = await run("ps", [...which, "-o", "pid=,pgid=,stat=,lstart="], {
    env: { ...process.env, LC_ALL: "C" },
  }).catch(
    // It exits with 1 when there is no such process.
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }),
  );
  return stdout.split("\n").flatMap((line) => {
    const [pid, group, state = "Z", ...birth] = line.trim().split(/\s+/);
    return state.startsWith("Z") ? [] : [{ pid: Number(pid), group: Number(group), birth: birth.join(" ") }];
  });
}
