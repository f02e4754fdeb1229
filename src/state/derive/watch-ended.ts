import { formatPointer, StateError, type Pointer } from "../../resource/index.ts";

/** Why a wait on a watch failed that just ended: its signal's reason, or the end of the State that it belonged to. */
export function watchEnded(pointer: Pointer, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  return new StateError("unavailable", `the watch of ${formatPointer(pointer)} ended: its State was disposed`, {
    pointer,
  });
}
