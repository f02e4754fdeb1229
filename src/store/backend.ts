import type { Kind, Resource } from "../resource/index.ts";
import type { Epoch } from "./bookmark.ts";

/** One change of a group, as it is to be stored. */
export interface StoredChange {
  readonly kind: Kind;
  readonly id: string;
  /** Number of the change within its kind: one more than that of the change before it. */
  readonly revision: number;
  /** What is there afterwards, as {@link Backend.encode} made it; undefined when it was destroyed. */
  readonly body: Uint8Array | undefined;
  /** The last time of creation that the kind has given out: what comes later must be later. */
  readonly created: string;
  /** Changes up to this number can be read by none any more: their log entries may go. */
  readonly floor: number;
}

/** An entry of the log of a kind. */
export interface StoredEvent {
  readonly type: "Created" | "Updated" | "Destroyed";
  /** As the change left it; as it was last seen, when it was destroyed. */
  readonly resource: Resource;
  /** What was there before an update. */
  readonly old: Resource | undefined;
}

/** What is stored of one kind. */
export interface StoredKind {
  readonly type: string;
  /** Number of the last change. */
  readonly revision: number;
  readonly created: string;
  readonly resources: readonly Resource[];
  /** The latest changes, the last of which has the number `revision`: no gap, oldest first. */
  readonly events: readonly StoredEvent[];
}

/**
 * What keeps a State beyond its process, where one process owns it and its contents are in memory as well: reads and
 * watches never ask it.
 */
export interface Backend {
  /** Names the life of what is stored in bookmarks: the same for all processes that come after each other. */
  readonly epoch: Epoch;
  /**
   * Everything of a namespace. Asked once for each.
   *
   * @param events - So many of the latest changes of each kind are used, at most.
   * @throws {StateError} `unavailable` when what is stored contradicts itself.
   */
  load(namespace: string, events: number): readonly StoredKind[];
  /** The form in which a resource is stored. @throws {StateError} `invalid` when it has none: the write is refused. */
  encode(resource: Resource): Uint8Array;
  /**
   * Stores changes in their order, each with its log entry: all or none. It is not called again before it has ended.
   *
   * @throws when nothing was stored. An error whose code is `unavailable` may leave that open.
   */
  commit(changes: readonly StoredChange[]): void | Promise<void>;
  /** Called once, when the last commit has ended. */
  close(): void | Promise<void>;
}
