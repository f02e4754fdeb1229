import { waitUntil } from "./wait-until.ts";

/** Sends a signal to a process, or to a group when the number is negative. One that is gone is fine. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Sends a stop signal, and lets a halted process go on: it would see the signal only then. */
export function askToStop(pid: number, stopSignal: string): void {
  signalProcess(pid, stopSignal as NodeJS.Signals);
  signalProcess(pid, "SIGCONT");
}

export interface StopOptions {
  readonly stopSignal: string;
  readonly graceMs: number;
  /** Those that were asked already: to some, a second signal means "at once". */
  readonly asked?: readonly number[] | undefined;
  /** True when they are to be killed without any more waiting. */
  readonly isForced: () => boolean;
}

/**
 * Asks processes to stop, each once, and kills those that are left after the grace time. Resolves when none is left.
 *
 * @param find - The pids of those that are left; asked again and again.
 */
export async function stopProcesses(find: () => Promise<Iterable<number>>, options: StopOptions): Promise<void> {
  const { stopSignal, graceMs, isForced } = options;
  const asked = new Set(options.asked);
  const noneAfter = async (act: (pid: number) => void): Promise<boolean> => {
    const left = [...(await find())];
    for (const pid of left) act(pid);
    return left.length === 0;
  };
  const ask = (pid: number) => {
    if (!asked.has(pid)) askToStop(pid, stopSignal);
    asked.add(pid);
  };
  await waitUntil(async () => isForced() || (await noneAfter(ask)), graceMs);
  await waitUntil(() => noneAfter((pid) => signalProcess(pid, "SIGKILL")), Number.POSITIVE_INFINITY);
}
