import type { CommandContext } from "./command-context.ts";

/** The time that a command was given is up. */
export class DeadlineExceeded extends Error {
  override readonly name: string = "TimeoutError";
}

/**
 * Works under a signal that aborts with the context's, or when the time is up.
 *
 * @param timeoutMs - Undefined for no limit.
 * @throws {DeadlineExceeded} when the work ended because the time was up; otherwise whatever the work throws.
 */
export async function withDeadline<T>(
  { clock, signal }: Pick<CommandContext, "clock" | "signal">,
  timeoutMs: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined) return work(signal);
  const deadline = new AbortController();
  const exceeded = new DeadlineExceeded(`not done within ${timeoutMs} ms`);
  const timer = clock.schedule(timeoutMs, () => deadline.abort(exceeded));
  try {
    return await work(AbortSignal.any([signal, deadline.signal]));
  } catch (error) {
    throw deadline.signal.aborted && !signal.aborted ? exceeded : error;
  } finally {
    timer.cancel();
  }
}

/** A time as people write it: `90s`, `500ms`. */
export const formatDuration = (ms: number): string => (ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`);
