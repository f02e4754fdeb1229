import { setTimeout as sleep } from "node:timers/promises";

/** First pause between two questions; it grows up to the second. Unit: milliseconds. */
const MIN_MS = 10;
const MAX_MS = 200;

/**
 * Asks again and again, ever more slowly, until the answer is true; false when `deadlineMs` pass first. For what the
 * system tells only when asked.
 */
export async function waitUntil(holds: () => Promise<boolean>, deadlineMs: number): Promise<boolean> {
  const end = performance.now() + deadlineMs;
  for (let pauseMs = MIN_MS; ; pauseMs = Math.min(pauseMs * 1.5, MAX_MS)) {
    if (await holds()) return true;
    const leftMs = end - performance.now();
    if (leftMs <= 0) return false;
    await sleep(Math.min(pauseMs, leftMs));
  }
}
