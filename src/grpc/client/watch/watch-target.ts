import { formatPointer, StateError, type Kind, type Pointer } from "../../../resource/index.ts";
import type { OverrunPolicy, Query, WatchKindOptions, WatchOptions } from "../../../state/index.ts";
import { encodeWatchRequest, type WatchRequestOptions } from "../../messages/watch-request.ts";

/** What somebody wants to watch. */
export interface WatchTarget {
  readonly kind: Kind;
  /** Undefined for all resources of the kind. */
  readonly id: string | undefined;
  readonly query: Query;
  readonly start: WatchRequestOptions;
  readonly aggregated: boolean;
  readonly overrun: OverrunPolicy;
  /** The reader has asked for `Noop` events. */
  readonly showsNoop: boolean;
}

/** @throws {StateError} `invalid` for contradictory options. */
export function targetOf(pointer: Pointer, options: WatchOptions): WatchTarget {
  const { namespace, type, id } = pointer;
  return {
    kind: { namespace, type },
    id,
    query: {},
    start: { ...replayOf(formatPointer(pointer), options), bootstrapBookmark: options.bootstrapBookmark },
    aggregated: false,
    overrun: options.overrun ?? "resync",
    showsNoop: options.bootstrapBookmark === true,
  };
}

/** @throws {StateError} `invalid` for contradictory options. */
export function kindTargetOf(kind: Kind, options: WatchKindOptions, aggregated: boolean): WatchTarget {
  const { namespace, type } = kind;
  const { bootstrap = false, bootstrapBookmark = false, labels, ids } = options;
  const what = `${type} in ${JSON.stringify(namespace)}`;
  const replay = replayOf(what, options);
  const replays = replay.startFromBookmark !== undefined || (replay.tailEvents ?? 0) > 0;
  if (bootstrap && replays) {
    throw new StateError("invalid", `a watch of ${what} cannot both bootstrap and replay past events`);
  }
  return {
    kind: { namespace, type },
    id: undefined,
    query: { labels, ids },
    // Without a position the watch could not go on after a break before the first change.
    start: { ...replay, bootstrap, bootstrapBookmark: bootstrapBookmark || !(bootstrap || replays) },
    aggregated,
    overrun: options.overrun ?? "resync",
    showsNoop: bootstrapBookmark,
  };
}

function replayOf(what: string, { tailEvents = 0, startFromBookmark, overrun }: WatchOptions): WatchRequestOptions {
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
  return { tailEvents, startFromBookmark };
}

/** The request that the watch begins with. @throws {StateError} `invalid` for a query of the wrong shape. */
export const openRequest = ({ kind, id, query, start, aggregated }: WatchTarget): Uint8Array =>
  encodeWatchRequest(kind, id, query, { ...start, aggregated });

/** The request that goes on behind an event. */
export const resumeRequest = ({ kind, id, query, aggregated }: WatchTarget, bookmark: Uint8Array): Uint8Array =>
  encodeWatchRequest(kind, id, query, { startFromBookmark: bookmark, aggregated });

/** The request that begins anew: with the contents of the kind, or the present state of the resource. */
export const resyncRequest = ({ kind, id, query, aggregated }: WatchTarget): Uint8Array =>
  encodeWatchRequest(kind, id, query, { bootstrap: id === undefined, aggregated });

/** Text for messages. */
export function describeTarget({ kind, id }: WatchTarget): string {
  return id === undefined
    ? `the watch of ${kind.type} in ${JSON.stringify(kind.namespace)}`
    : `the watch of ${formatPointer({ ...kind, id })}`;
}
