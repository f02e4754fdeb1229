import { formatPointer, StateError, type Kind, type Pointer } from "../resource/index.ts";
import type { WatchKindOptions, WatchOptions } from "./options.ts";

/**
 * Checks the options of a watch of one resource, and gives the number of events to replay; 0 for none.
 *
 * @throws {StateError} `invalid` for contradictory options; the message names the watch.
 */
export function checkWatchOptions(pointer: Pointer, options: WatchOptions): number {
  return checkReplay(formatPointer(pointer), options);
}

/** {@link checkWatchOptions} for the watch of a kind. */
export function checkWatchKindOptions(kind: Kind, options: WatchKindOptions): number {
  const what = `${kind.type} in ${JSON.stringify(kind.namespace)}`;
  const tailEvents = checkReplay(what, options);
  if (options.bootstrap === true && (tailEvents > 0 || options.startFromBookmark !== undefined)) {
    throw new StateError("invalid", `a watch of ${what} cannot both bootstrap and replay past events`);
  }
  return tailEvents;
}

function checkReplay(what: string, { tailEvents = 0, startFromBookmark, overrun }: WatchOptions): number {
  if (!Number.isSafeInteger(tailEvents)) {
    throw new StateError(
      "invalid",
      `tailEvents of a watch of ${what} must be a whole number, got ${String(tailEvents)}`,
    );
  }
  if (tailEvents > 0 && startFromBookmark !== undefined) {
    throw new StateError("invalid", `a watch of ${what} takes either tailEvents or startFromBookmark, not both`);
  }
  if (overrun !== undefined && overrun !== "resync" && overrun !== "error") {
    throw new StateError(
      "invalid",
      `overrun of a watch of ${what} must be "resync" or "error", got ${JSON.stringify(overrun)}`,
    );
  }
  return Math.max(0, tailEvents);
}
