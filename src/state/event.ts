import type { Resource, Tombstone } from "../resource/index.ts";

/** What an event says. The texts are the wire protocol's, `Resynced` aside, which is ours. */
export const EventType = {
  created: "Created",
  updated: "Updated",
  destroyed: "Destroyed",
  bootstrapped: "Bootstrapped",
  errored: "Errored",
  noop: "Noop",
  resynced: "Resynced",
} as const;
export type EventType = (typeof EventType)[keyof typeof EventType];

interface EventBase {
  /**
   * Opaque position in the history, to start a later watch from. The events that describe the contents of a kind at the
   * start have none, as only `Bootstrapped`, their end, does; the present state of one resource has the position of the
   * start. Each read gives a copy.
   */
  readonly bookmark?: Uint8Array | undefined;
  /** Number of changes of the kind up to and including this one, where the State counts them. */
  readonly revision?: number | undefined;
}

/** A resource came into being, or was there when the watch began. */
export interface CreatedEvent<Spec = unknown> extends EventBase {
  readonly type: typeof EventType.created;
  readonly resource: Resource<Spec>;
  readonly old?: undefined;
  readonly error?: undefined;
}

/** A resource changed. */
export interface UpdatedEvent<Spec = unknown> extends EventBase {
  readonly type: typeof EventType.updated;
  readonly resource: Resource<Spec>;
  /** The content before. */
  readonly old: Resource<Spec>;
  readonly error?: undefined;
}

/** A resource is gone. */
export interface DestroyedEvent<Spec = unknown> extends EventBase {
  readonly type: typeof EventType.destroyed;
  /** The last content; a tombstone in the synthetic event that says "does not exist". */
  readonly resource: Resource<Spec> | Tombstone;
  readonly old?: undefined;
  readonly error?: undefined;
}

/** Carries no change: the end of the initial contents, the initial bookmark, or the start of a resync. */
export interface MarkerEvent extends EventBase {
  readonly type: typeof EventType.bootstrapped | typeof EventType.noop | typeof EventType.resynced;
  /** Namespace and type, with an empty id. */
  readonly resource: Tombstone;
  readonly old?: undefined;
  readonly error?: undefined;
}

/** The last event of a watch that failed. */
export interface ErroredEvent {
  readonly type: typeof EventType.errored;
  readonly error: Error;
  readonly resource?: undefined;
  readonly old?: undefined;
  readonly bookmark?: undefined;
  readonly revision?: undefined;
}

/**
 * One message of a watch.
 *
 * A watch that fell behind further than the history reaches gets `Resynced`, then `Created` for everything that is
 * there now, then `Bootstrapped`: forget what you knew at the first, take the rest as the new contents. (The watch of
 * one resource gets `Resynced`, then its present state as `Created` or `Destroyed`.)
 */
export type Event<Spec = unknown> =
  | CreatedEvent<Spec>
  | UpdatedEvent<Spec>
  | DestroyedEvent<Spec>
  | MarkerEvent
  | ErroredEvent;
