/** Sends a signal to a process group. One that is gone is fine. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  signalProcess(-group, signal);
}

/** Sends a signal to a process. One that is gone is fine. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
