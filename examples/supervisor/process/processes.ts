import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { platform } from "node:os";
import { promisify } from "node:util";

/** A process of this machine that runs; a zombie does not run any more. */
export interface ProcessInfo {
  readonly pid: number;
  /** Its process group. */
  readonly group: number;
  /** Tells it from a later process with the same pid: pid and birth together never come twice. */
  readonly birth: string;
}

/** Elsewhere `ps` says what there is to know, which does not include marks. */
export const HAS_PROC = platform() === "linux";

/** Undefined when no such process runs. */
export async function inspectProcess(pid: number): Promise<ProcessInfo | undefined> {
  return HAS_PROC ? inspectThroughProc(pid) : (await listThroughPs(["-p", String(pid)])).find((one) => one.pid === pid);
}

/** All processes that run. */
export async function listProcesses(): Promise<ProcessInfo[]> {
  if (!HAS_PROC) return listThroughPs(["-A"]);
  const found = await Promise.all((await listPids()).map(inspectThroughProc));
  return found.filter((one) => one !== undefined);
}

/**
 * The processes of a group, which is called after its first process. When another one has that number now, the group is
 * no longer the one that was meant, and has no members.
 *
 * @param leaderBirth - Birth of the first process; undefined when it is not known.
 */
export async function groupMembers(group: number, leaderBirth: string | undefined): Promise<ProcessInfo[]> {
  try {
    process.kill(-group, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return [];
  }
  // The group exists, if only as a zombie that its parent has not asked for yet.
  return membersAmong(await listProcesses(), group, leaderBirth);
}

/** {@link groupMembers} among processes that are known already. */
export function membersAmong(all: readonly ProcessInfo[], group: number, leaderBirth?: string): ProcessInfo[] {
  const leader = all.find(({ pid }) => pid === group);
  if (leader !== undefined && leaderBirth !== undefined && leader.birth !== leaderBirth) return [];
  return all.filter((one) => one.group === group);
}

async function inspectThroughProc(pid: number): Promise<ProcessInfo | undefined> {
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

/** Linux only. */
export async function listPids(): Promise<number[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Undefined for a process that is gone, or whose file is not ours to read. Linux only. */
export async function readProc(pid: number, file: string): Promise<string | undefined> {
  return readFile(`/proc/${pid}/${file}`, "utf8").catch(() => undefined);
}

const run = promisify(execFile);

/** The processes that `ps` lists with these arguments. Births are exact to a second. */
export async function listThroughPs(which: readonly string[]): Promise<ProcessInfo[]> {
  const args = [...which, "-o", "pid=,pgid=,stat=,lstart="];
  const { stdout } = await run("ps", args, { env: { ...process.env, LC_ALL: "C" } }).catch(
    (error: Error & { readonly code?: unknown; readonly stdout?: string }) => {
      // It ends with 1 when there is no such process.
      if (error.code === 1) return { stdout: error.stdout ?? "" };
      throw error;
    },
  );
  return stdout.split("\n").flatMap((line) => {
    const [pid, group, state = "Z", ...birth] = line.trim().split(/\s+/);
    return state.startsWith("Z") ? [] : [{ pid: Number(pid), group: Number(group), birth: birth.join(" ") }];
  });
}
