import { describe, expect, test } from "vitest";
import { createResource, resourceBytes } from "../resource/index.ts";
import { EventType, type Event } from "../state/index.ts";
import { Bookmarks, createEpoch } from "./bookmark.ts";
import { resolveHistoryOptions, type HistoryOptions } from "./history-options.ts";
import { History } from "./history.ts";

const KIND = { namespace: "default", type: "T" };
const resource = createResource({ ...KIND, id: "one" }, { text: "x".repeat(100) });
/** The estimate for an event of `resource`. */
const eventBytes = 64 + resourceBytes(resource);

function setUp(options: HistoryOptions) {
  const bookmarks = new Bookmarks(KIND, createEpoch());
  const history = new History(resolveHistoryOptions(options), bookmarks);
  const publish = (count: number): void => {
    for (let i = 0; i < count; i++) history.publish(EventType.created, resource, undefined);
  };
  return { history, bookmarks, publish };
}

const revisions = (events: readonly Event[]) => events.map(({ revision }) => revision);

describe("the bytes of a history", () => {
  test("that was overwritten many times are those of the events that are kept", () => {
    const { history, publish } = setUp({ maxCapacity: 10, gap: 0, maxBytes: 10 * eventBytes });
    publish(95);
    expect(history.oldestReadable).toBe(85);
    expect(revisions(history.since(85))).toEqual([86, 87, 88, 89, 90, 91, 92, 93, 94, 95]);
  });

  test("let just as many events go as do not fit, again and again, and are given back with them", () => {
    const { history, publish } = setUp({ maxCapacity: 10, gap: 0, maxBytes: 3 * eventBytes });
    for (let round = 1; round <= 5; round++) {
      publish(7);
      const { written } = history;
      expect(history.oldestReadable).toBe(written - 3);
      expect(history.oldestStart).toBe(written - 3);
      expect(revisions(history.since(written - 3))).toEqual([written - 2, written - 1, written]);
    }
  });

  test("never let the newest event go, however large it is", () => {
    const { history, publish } = setUp({ maxCapacity: 10, gap: 0, maxBytes: 1 });
    publish(5);
    expect(history.oldestReadable).toBe(4);
    expect(revisions(history.since(4))).toEqual([5]);
  });
});

test("a large event lets the oldest go of what the ring still holds, and nothing newer", () => {
  const { history, publish } = setUp({ maxCapacity: 10, gap: 0, maxBytes: 10 * eventBytes });
  publish(95);
  const large = createResource({ ...KIND, id: "large" }, { text: "x".repeat(100 + 4 * eventBytes) });
  history.publish(EventType.created, large, undefined);
  expect(history.oldestReadable).toBe(90);
  expect(revisions(history.since(90))).toEqual([91, 92, 93, 94, 95, 96]);
});

describe("a history", () => {
  test("doubles until it is as large as it may become, and loses nothing until then", () => {
    const { history, publish } = setUp({ initialCapacity: 4, maxCapacity: 10, gap: 2 });
    const capacities = Array.from({ length: 14 }, () => {
      publish(1);
      return history.capacity;
    });
    expect(capacities).toEqual([4, 4, 4, 4, 8, 8, 8, 8, 10, 10, 10, 10, 10, 10]);
    expect(history.oldestReadable).toBe(4);
    expect(history.oldestStart).toBe(6);
  });

  test("gathers what several watchers ask for once, until there is more", () => {
    const { history, publish } = setUp({ maxCapacity: 10 });
    publish(3);
    const events = history.since(1);
    expect(history.since(1)).toBe(events);
    expect(history.since(0)).not.toBe(events);
    publish(1);
    expect(revisions(history.since(1))).toEqual([2, 3, 4]);
    expect(Object.isFrozen(events)).toBe(true);
  });

  test("makes a single event once for all who ask for it, and lets it go with the next", () => {
    const { history, publish } = setUp({ maxCapacity: 10 });
    publish(3);
    const events = history.since(2);
    expect(history.since(2)).toBe(events);
    publish(1);
    expect(history.since(2)).not.toBe(events);
  });

  test("gives creations, updates and ends as what they are", () => {
    const { history } = setUp({ maxCapacity: 10 });
    const changed = createResource({ ...KIND, id: "one", version: "2" }, { text: "y" });
    history.publish(EventType.created, resource, undefined);
    history.publish(EventType.updated, changed, resource);
    history.publish(EventType.destroyed, changed, undefined);
    expect(history.since(0)).toMatchObject([
      { type: "Created", resource, old: undefined },
      { type: "Updated", resource: changed, old: resource },
      { type: "Destroyed", resource: changed, old: undefined },
    ]);
  });

  test("replays the latest events, of all or of one resource, as far as a new watcher may reach back", () => {
    const { history, publish } = setUp({ maxCapacity: 10, gap: 2 });
    publish(15);
    expect(history.tail(2, undefined)).toBe(13);
    expect(history.tail(0, undefined)).toBe(15);
    expect(history.tail(1000, undefined)).toBe(7);
    expect(history.tail(3, "another")).toBe(15);
    history.publish(EventType.created, createResource({ ...KIND, id: "another" }, {}), undefined);
    publish(2);
    expect(history.tail(1, "another")).toBe(15);
    expect(history.tail(2, "one")).toBe(16);
  });

  test("says of a bookmark whether it names nothing or has expired", () => {
    const { history, bookmarks, publish } = setUp({ maxCapacity: 10, gap: 2 });
    publish(15);
    const failure = (position: number): string => {
      try {
        return String(history.after(bookmarks.encode(position)));
      } catch (error) {
        return error instanceof Error ? error.message : "";
      }
    };
    expect(failure(14)).toBe("15");
    expect(failure(7)).toBe("8");
    expect(failure(6)).toMatch(/has expired: the history does not reach back that far$/);
    expect(failure(15)).toMatch(/names no event of this history$/);
    expect(failure(-2)).toMatch(/names no event of this history$/);
    expect(failure(-1)).toMatch(/has expired/);
  });
});
