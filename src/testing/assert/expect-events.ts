import { AssertionError } from "node:assert/strict";
import { formatReference, isTombstone, sameResource, type Resource } from "../../resource/index.ts";
import type { Event, EventType } from "../../state/index.ts";
import { describeEvent, describeEvents } from "./describe-event.ts";
import type { WatchReader } from "./watch-reader.ts";

/** What one event must be. Absent parts are not looked at. */
export interface ExpectedEvent {
  readonly type: EventType;
  readonly id?: string | undefined;
  readonly version?: string | undefined;
  /** The resource must equal this one, times aside. */
  readonly resource?: Resource | undefined;
  /** The content before must equal this one, times aside; null: there must be none. */
  readonly old?: Resource | null | undefined;
  /** Whether there must be a bookmark. */
  readonly bookmark?: boolean | undefined;
}

/**
 * Reads as many events as are expected and compares them one by one, in order.
 *
 * @throws {AssertionError} at the first event that differs; the message shows both and all that came before.
 */
export async function expectEvents(
  reader: WatchReader,
  ...expected: readonly ExpectedEvent[]
): Promise<readonly Event[]> {
  const events: Event[] = [];
  for (const one of expected) {
    const event = await reader.next();
    const difference = differenceOf(event, one);
    if (difference !== undefined) {
      throw new AssertionError({
        message: `event ${events.length + 1} of ${expected.length}: ${difference}\ngot: ${describeEvent(event)}\nafter:\n${describeEvents(events)}`,
        actual: event,
        expected: one,
        stackStartFn: expectEvents,
      });
    }
    events.push(event);
  }
  return events;
}

/** Says in what `event` differs from what was expected; undefined when in nothing. */
function differenceOf(event: Event, expected: ExpectedEvent): string | undefined {
  const { type, id, version, resource, bookmark } = expected;
  const got = event.resource?.metadata;
  const hasAddress = event.type === type && (id ?? got?.id) === got?.id;
  if (!hasAddress) return `expected ${type}${idOf(id ?? resource?.metadata.id)}`;
  if (version !== undefined && got?.version !== version) return `expected version ${version}`;
  const difference = contentDifferenceOf(event, expected);
  if (difference !== undefined) return difference;
  if (bookmark === undefined || bookmark === (event.bookmark !== undefined)) return undefined;
  return bookmark ? "expected a bookmark" : "expected no bookmark";
}

function contentDifferenceOf(event: Event, { type, resource, old }: ExpectedEvent): string | undefined {
  if (resource !== undefined && !isSame(event.resource, resource)) {
    return `expected ${type} with ${show(resource)}, got ${show(event.resource)}`;
  }
  if (old === null && event.old !== undefined) return `expected no content before, got ${show(event.old)}`;
  if (old && !isSame(event.old, old)) return `expected ${show(old)} as content before, got ${show(event.old)}`;
  return undefined;
}

const isSame = (got: Event["resource"], wanted: Resource): boolean =>
  got !== undefined && !isTombstone(got) && sameResource(got, wanted);

const idOf = (id: string | undefined): string => (id === undefined ? "" : ` of ${JSON.stringify(id)}`);

function show(resource: Event["resource"]): string {
  if (resource === undefined) return "nothing";
  const text = formatReference(resource.metadata);
  if (isTombstone(resource)) return `tombstone of ${text}`;
  const { owner, phase, finalizers, labels } = resource.metadata;
  const spec = JSON.stringify(resource.spec, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
  return `${text} ${JSON.stringify({ owner, phase, finalizers, labels })} ${spec}`;
}
