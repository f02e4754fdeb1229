import { formatReference, isTombstone, sameMetadata, sameResource } from "../../resource/index.ts";
import { EventType, type Event } from "../../state/index.ts";

/** One line for logs and failures, such as `Updated os/path(default/var/run@2), before @1`. */
export function describeEvent(event: Event): string {
  if (event.type === EventType.errored) return `Errored: ${event.error.message}`;
  const { metadata } = event.resource;
  const old = event.old === undefined ? "" : `, before @${event.old.metadata.version}`;
  const kind = isTombstone(event.resource) ? "tombstone of " : "";
  return `${event.type} ${kind}${formatReference(metadata)}${old}`;
}

/** Several of them, one a line. */
export function describeEvents(events: readonly Event[]): string {
  return events.length === 0 ? "  nothing" : events.map((event) => `  ${describeEvent(event)}`).join("\n");
}

/** The same type and equal resources (times aside); bookmarks and revisions do not count. */
export function sameEvent(a: Event, b: Event): boolean {
  if (a.type !== b.type) return false;
  if (a.type === EventType.errored || b.type === EventType.errored) return a.error?.message === b.error?.message;
  if (isTombstone(a.resource) || isTombstone(b.resource)) {
    return isTombstone(a.resource) && isTombstone(b.resource) && sameMetadata(a.resource.metadata, b.resource.metadata);
  }
  if (a.old !== undefined && b.old !== undefined && !sameResource(a.old, b.old)) return false;
  return (a.old === undefined) === (b.old === undefined) && sameResource(a.resource, b.resource);
}
