import {
  checkWatchKindOptions,
  checkWatchOptions,
  EventType,
  type CompiledQuery,
  type Event,
  type OverrunPolicy,
  type WatchKindOptions,
  type WatchOptions,
} from "../state/index.ts";
import type { Collection } from "./collection.ts";
import { Cursor, presentEvent, type InitialBatch } from "./cursor.ts";
import { PendingContents } from "./pending-contents.ts";
import { historyEvent } from "./history-event.ts";

/**
 * A cursor for the watch of one resource. Position and present state are fixed now.
 *
 * @throws {StateError} `invalid` for contradictory options, `invalid_bookmark`.
 */
export function openResourceCursor(
  collection: Collection,
  id: string,
  options: WatchOptions,
  overrun: OverrunPolicy,
): Cursor {
  const { history } = collection;
  const tailEvents = checkWatchOptions({ ...collection.kind, id }, options);
  let position = history.written;
  const initial: InitialBatch[] = [];
  if (options.startFromBookmark !== undefined) position = history.after(options.startFromBookmark);
  else if (tailEvents > 0) position = history.tail(tailEvents, id);
  else {
    const present = [presentEvent(collection, id)];
    initial.push(() => present);
  }
  if (options.bootstrapBookmark === true) initial.push(() => [startMarker(collection, position)]);
  return new Cursor(collection, { position, initial, query: undefined, id, overrun: options.overrun ?? overrun });
}

/** A cursor for the watch of a kind, likewise. */
export function openKindCursor(
  collection: Collection,
  options: WatchKindOptions,
  query: CompiledQuery | undefined,
  overrun: OverrunPolicy,
): Cursor {
  const { history } = collection;
  const tailEvents = checkWatchKindOptions(collection.kind, options);
  let position = history.written;
  if (options.startFromBookmark !== undefined) position = history.after(options.startFromBookmark);
  else if (tailEvents > 0) position = history.tail(tailEvents, undefined);
  const initial: InitialBatch[] = [];
  if (options.bootstrap === true) {
    initial.push(new PendingContents(collection, query, position));
  }
  if (options.bootstrapBookmark === true) initial.push(() => [startMarker(collection, position)]);
  return new Cursor(collection, { position, initial, query, id: undefined, overrun: options.overrun ?? overrun });
}

/** The event that carries the position before `position`. */
const startMarker = ({ marker, bookmarks }: Collection, position: number): Event =>
  historyEvent(EventType.noop, marker, undefined, position - 1, bookmarks);
