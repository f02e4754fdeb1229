import { formatPointer, type Kind, type Pointer } from "../../../resource/index.ts";
import {
  checkWatchKindOptions,
  checkWatchOptions,
  type OverrunPolicy,
  type Query,
  type WatchKindOptions,
  type WatchOptions,
} from "../../../state/index.ts";
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
  const { startFromBookmark, bootstrapBookmark } = options;
  return {
    kind: { namespace, type },
    id,
    query: {},
    start: { tailEvents: checkWatchOptions(pointer, options), startFromBookmark, bootstrapBookmark },
    aggregated: false,
    overrun: options.overrun ?? "resync",
    showsNoop: bootstrapBookmark === true,
  };
}

/** @throws {StateError} `invalid` for contradictory options. */
export function kindTargetOf(kind: Kind, options: WatchKindOptions, aggregated: boolean): WatchTarget {
  const { namespace, type } = kind;
  const { startFromBookmark, bootstrap = false, bootstrapBookmark = false, labels, ids } = options;
  const tailEvents = checkWatchKindOptions(kind, options);
  const replays = startFromBookmark !== undefined || tailEvents > 0;
  return {
    kind: { namespace, type },
    id: undefined,
    query: { labels, ids },
    // Without a position the watch could not go on after a break before the first change.
    start: {
      tailEvents,
      startFromBookmark,
      bootstrap,
      bootstrapBookmark: bootstrapBookmark || !(bootstrap || replays),
    },
    aggregated,
    overrun: options.overrun ?? "resync",
    showsNoop: bootstrapBookmark,
  };
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
