import { abortable } from "../../internal/abortable.ts";
import type { Pointer } from "../../resource/index.ts";
import type { CoreState, Watch } from "../core-state.ts";
import type { Event } from "../event.ts";

/**
 * Opens the watch of one resource. The wait ends with the signal, whether or not the State answers; a watch that comes
 * later is released.
 */
export async function openWatch(
  core: Pick<CoreState, "watch">,
  pointer: Pointer,
  signal: AbortSignal | undefined,
): Promise<Watch> {
  const opening = core.watch(pointer, { signal });
  if (signal === undefined) return opening;
  try {
    return await abortable(opening, signal);
  } catch (error) {
    // No one is left to hear how that goes.
    if (signal.aborted) opening.then((watch) => watch[Symbol.asyncDispose]()).catch(() => undefined);
    throw error;
  }
}

/**
 * The events of a watch, which is released when the loop is left. Rejects with the signal's reason when that aborts,
 * whether or not the watch answers.
 */
export async function* eventsOf(watch: Watch, signal: AbortSignal | undefined): AsyncGenerator<Event, void, void> {
  const ended = <T>(answer: PromiseLike<T>): PromiseLike<T> =>
    signal === undefined ? answer : abortable(answer, signal);
  try {
    for (let next = await ended(watch.next()); next.done !== true; next = await ended(watch.next())) yield next.value;
  } finally {
    await ended(watch[Symbol.asyncDispose]());
  }
}
