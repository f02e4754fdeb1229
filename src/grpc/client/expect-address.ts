import { formatPointer, StateError, type Kind, type Pointer, type Resource } from "../../resource/index.ts";
import type { Event } from "../../state/index.ts";
import type { UnknownEvent } from "../messages/event-decoder.ts";
import type { WatchTarget } from "./watch/watch-target.ts";

/**
 * A resource that the server gave for another than was asked for would be taken for that one by everything behind.
 *
 * @throws {StateError} `invalid` when it is about another.
 */
export function expectPointer<R extends Pick<Resource, "metadata">>(resource: R, asked: Pointer): R {
  const { metadata } = resource;
  if (isOf(metadata, asked) && metadata.id === asked.id) return resource;
  throw new StateError("invalid", `the server gave ${formatPointer(metadata)} instead of ${formatPointer(asked)}`);
}

/** {@link expectPointer} for any resource of a kind. */
export function expectKind<R extends Pick<Resource, "metadata">>(resource: R, asked: Kind): R {
  const { metadata } = resource;
  if (isOf(metadata, asked)) return resource;
  const kind = `${asked.type} in ${JSON.stringify(asked.namespace)}`;
  throw new StateError("invalid", `the server gave ${formatPointer(metadata)}, which is not one of ${kind}`);
}

/** Events that concern what is watched, and nothing else. @throws {StateError} `invalid` */
export function expectEvents<E extends Event | UnknownEvent>(events: readonly E[], target: WatchTarget): readonly E[] {
  for (const event of events) {
    // Markers have been given the kind that was asked for.
    if (event.type === "Unknown" || event.resource === undefined || isMarker(event)) continue;
    if (target.id === undefined) expectKind(event.resource, target.kind);
    else expectPointer(event.resource, { ...target.kind, id: target.id });
    if (event.old !== undefined) expectPointer(event.old, event.resource.metadata);
  }
  return events;
}

const isMarker = ({ type }: Event): boolean => type === "Bootstrapped" || type === "Noop" || type === "Resynced";

const isOf = (metadata: Kind, { namespace, type }: Kind): boolean =>
  metadata.type === type && metadata.namespace === namespace;
