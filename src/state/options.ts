import type { LabelQuery, Phase } from "../resource/index.ts";

/** What every call takes. */
export interface CallOptions {
  /** Ends the call: it rejects with the signal's own reason. A write that was handed to a store may still happen. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a read: how fresh a cached answer must be. */
export interface GetOptions extends CallOptions {
  /** Waits, where reads are served from a cache, until it knows at least this version of the resource. */
  readonly atLeast?: string | undefined;
}

/** Which resources of a kind are meant. Both parts must hold; an absent part matches everything. */
export interface Query {
  /** One query, or several of which one must hold. */
  readonly labels?: LabelQuery | readonly LabelQuery[] | undefined;
  /** A pattern in RE2's dialect, found anywhere in the id. */
  readonly ids?: string | undefined;
}

/** Options of a list: a query, and how fresh a cached answer must be. */
export interface ListOptions extends CallOptions, Query {
  /** Waits, where reads are served from a cache, until it has seen this revision of an earlier list or event. */
  readonly atLeast?: number | undefined;
}

/** Options of a create. */
export interface CreateOptions extends CallOptions {
  /** Owner to stamp on the resource. Default: none. */
  readonly owner?: string | undefined;
}

/** The phase that a resource must be in to be written. */
export type ExpectedPhase = Phase | "any";

/** Options of an update: whose resource it is, and the phase it must be in. */
export interface UpdateOptions extends CallOptions {
  /** Must equal the stored owner. Default: none. */
  readonly owner?: string | undefined;
  /** Default: `running`. */
  readonly expectedPhase?: ExpectedPhase | undefined;
}

/** Options of a destroy. */
export interface DestroyOptions extends CallOptions {
  /** Must equal the stored owner. Default: none. */
  readonly owner?: string | undefined;
}

/**
 * What happens to a watcher that falls behind further than the history reaches: `resync` moves it to the present
 * contents ({@link Event}), `error` ends it with `watch_overrun`.
 */
export type OverrunPolicy = "resync" | "error";

/** Options of a watch of one resource: where it starts. */
export interface WatchOptions extends CallOptions {
  /** Past events of the resource to replay before live ones, at most. Unit: events. Default: 0. */
  readonly tailEvents?: number | undefined;
  /** Replays everything after this event. Excludes `tailEvents`. */
  readonly startFromBookmark?: Uint8Array | undefined;
  /** Delivers a `Noop` event that carries the start position: after the present contents, before replays. Default: false. */
  readonly bootstrapBookmark?: boolean | undefined;
  /** Default: the State's own, `resync`. */
  readonly overrun?: OverrunPolicy | undefined;
}

/** Options of a watch of a kind: where it starts, what it selects, what happens when its reader is slow. */
export interface WatchKindOptions extends WatchOptions, Query {
  /** Delivers the present contents as `Created` events, then `Bootstrapped`. Excludes the two replays. Default: false. */
  readonly bootstrap?: boolean | undefined;
}
