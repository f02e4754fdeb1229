import {
  compareTimes,
  compareVersions,
  createTombstone,
  formatPointer,
  isSameLife,
  isTombstone,
  lifeOf,
  StateError,
  type Metadata,
  type Phase,
  type Pointer,
  type Resource,
  type Tombstone,
} from "../../resource/index.ts";
import { abortable } from "../../internal/abortable.ts";
import { describeForeign } from "../../internal/foreign-value.ts";
import type { Watch } from "../core-state.ts";
import { EventType, type CreatedEvent, type DestroyedEvent, type UpdatedEvent } from "../event.ts";
import { eventsOf } from "./follow-watch.ts";
import type { WatchCondition } from "../state.ts";
import { watchEnded } from "./watch-ended.ts";

type Change = CreatedEvent | UpdatedEvent | DestroyedEvent;

const CHANGES: readonly EventType[] = [EventType.created, EventType.updated, EventType.destroyed];

/** @throws {StateError} `invalid` for a condition that no event can meet. */
export function checkWatchCondition(condition: WatchCondition): void {
  if (typeof condition !== "object" || condition === null) {
    throw new StateError("invalid", `a condition must be an object, got ${describeForeign(condition)}`);
  }
  const { events, phases } = condition;
  if (events !== undefined && !(events.length > 0 && events.every((type) => CHANGES.includes(type)))) {
    throw new StateError("invalid", `events must be some of ${CHANGES.join(", ")}, got ${JSON.stringify(events)}`);
  }
  if (phases?.length === 0) throw new StateError("invalid", "phases must not be empty: no resource is in no phase");
}

/**
 * Takes events of one resource until one meets the condition, and releases the watch. When `pointer` names a life, the
 * wait ends with it.
 */
export async function watchFor(
  watch: Watch,
  pointer: Pointer,
  condition: WatchCondition,
  signal: AbortSignal | undefined,
): Promise<Resource | Tombstone> {
  let known: Change | undefined;
  let resynced = false;
  for await (const event of eventsOf(watch, signal)) {
    switch (event.type) {
      case EventType.errored:
        throw event.error;
      case EventType.resynced:
        resynced = true;
        break;
      case EventType.bootstrapped:
      case EventType.noop:
        break;
      case EventType.created:
      case EventType.updated:
      case EventType.destroyed:
        for (const change of resynced ? changesBetween(known, event) : [event]) {
          const seen = asSeenFrom(pointer, known, change);
          if (await isMet(condition, seen, signal)) return seen.resource;
          if (lifeOf(pointer) !== undefined && seen.type === EventType.destroyed) throw lifeEnded(pointer);
        }
        known = event;
        resynced = false;
        break;
    }
  }
  throw watchEnded(pointer, signal);
}

async function isMet(
  { events, where, finalizersEmpty, phases }: WatchCondition,
  event: Change,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { type, resource } = event;
  if (events !== undefined && !events.includes(type)) return false;
  if (where !== undefined) {
    const holds = where(resource);
    if (!(await (signal === undefined || typeof holds === "boolean" ? holds : abortable(holds, signal)))) return false;
  }
  if (finalizersEmpty === true && (type === EventType.destroyed || resource.metadata.finalizers.length > 0))
    return false;
  return phases === undefined || (phases as readonly Phase[]).includes(resource.metadata.phase);
}

/** What a change says of the life that `pointer` names, if it names one: another one at its address says that it ended. */
function asSeenFrom(pointer: Pointer, known: Change | undefined, change: Change): Change {
  if (change.type === EventType.destroyed || isSameLife(pointer, change.resource.metadata)) return change;
  return { type: EventType.destroyed, resource: known?.resource ?? createTombstone(pointer) };
}

function lifeEnded(pointer: Pointer): StateError {
  const message = `${formatPointer(pointer)} that was created at ${lifeOf(pointer) ?? ""} does not exist any more`;
  return new StateError("not_found", message, { pointer });
}

/** What must have happened between the last event before a resync and the present state after it. */
function changesBetween(before: Change | undefined, present: Change): readonly Change[] {
  if (before === undefined || before.type === EventType.destroyed || isTombstone(present.resource)) return [present];
  if (present.type === EventType.destroyed) return [present];
  const old = before.resource;
  const { metadata } = present.resource;
  if (!isContinued(old.metadata, metadata)) return [{ type: EventType.destroyed, resource: old }, present];
  if (old.metadata.version === metadata.version) return [];
  return [{ type: EventType.updated, resource: present.resource, old }];
}

/** False when `after` is certainly another resource, created at the same address after `before` was destroyed. */
function isContinued(before: Metadata, after: Metadata): boolean {
  return compareTimes(before.created, after.created) === 0 && compareVersions(before.version, after.version) <= 0;
}
