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
