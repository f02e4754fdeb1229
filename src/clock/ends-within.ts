import type { Clock } from "./clock.ts";

/** False when the time passes first. May be `Infinity`: then it waits. Unit: milliseconds. @throws what `ended` rejects with. */
export async function endsWithin(
  clock: Pick<Clock, "schedule">,
  ms: number,
  ended: Promise<unknown>,
): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  using _timer = ms === Infinity ? undefined : clock.schedule(ms, () => resolve(false));
  return await Promise.race([ended.then(() => true), late]);
}
