import { setTimeout as sleep } from "node:timers/promises";

/** Asks again every 20 ms until the answer is true; false when `deadlineMs` pass first. For what the system tells only when asked. */
export async function waitUntil(holds: () => Promise<boolean>, deadlineMs: number): Promise<boolean> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    if (await holds()) return true;
    const leftMs = end - performance.now();
    if (leftMs <= 0) return false;
    await sleep(Math.min(20, leftMs));
  }
}
