import { describe, expect, test } from "vitest";
import { ManualClock } from "../clock/index.ts";
import { createResource } from "../resource/index.ts";
import { EventType } from "../state/index.ts";
import { Bookmarks, createEpoch } from "./bookmark.ts";
import { resolveHistoryOptions } from "./history-options.ts";
import { History } from "./history.ts";
import { WatcherWakeups, type WaitingWatcher } from "./watcher-wakeups.ts";

const KIND = { namespace: "default", type: "T" };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

class Watcher implements WaitingWatcher {
  /** Positions of the wake-ups so far. */
  readonly woken: (number | undefined)[] = [];
  closed = 0;

  wake(position?: number): void {
    this.woken.push(position);
  }

  close(): void {
    this.closed++;
  }
}

function setUp(maxCapacity = 100) {
  const bookmarks = new Bookmarks(KIND, createEpoch());
  const history = new History(resolveHistoryOptions({ maxCapacity }), bookmarks);
  const wakeups = new WatcherWakeups(history, new ManualClock());
  const publish = (id = "one"): void => {
    const resource = createResource({ ...KIND, id }, {});
    history.publish(EventType.created, resource, undefined);
    wakeups.published(id);
  };
  return { wakeups, publish };
}

const opened = (wakeups: WatcherWakeups, count: number): readonly Watcher[] =>
  Array.from({ length: count }, () => {
    const watcher = new Watcher();
    wakeups.opened(watcher);
    return watcher;
  });

const total = (watchers: readonly Watcher[]): number => watchers.reduce((sum, { woken }) => sum + woken.length, 0);

describe("watchers that have ended", () => {
  test("of a kind are let go: of a thousand, next to none is left to wake", async () => {
    const { wakeups, publish } = setUp();
    const watchers = opened(wakeups, 1000);
    for (const watcher of watchers) wakeups.wait(watcher);
    for (const watcher of watchers) {
      wakeups.closed(watcher);
      wakeups.forget(watcher);
    }
    publish();
    await turn();
    expect(total(watchers)).toBeLessThanOrEqual(1);
  });

  test("of a kind take none with them that still wait", async () => {
    const { wakeups, publish } = setUp();
    const watchers = opened(wakeups, 100);
    for (const watcher of watchers) wakeups.wait(watcher);
    for (const watcher of watchers.slice(10)) {
      wakeups.closed(watcher);
      wakeups.forget(watcher);
    }
    publish();
    await turn();
    expect(total(watchers.slice(0, 10))).toBe(10);
    expect(total(watchers.slice(10))).toBeLessThanOrEqual(10);
  });

  test("of one resource are let go, one by one", async () => {
    const { wakeups, publish } = setUp();
    const [first, second] = opened(wakeups, 2);
    if (first === undefined || second === undefined) throw new Error("two were opened");
    wakeups.wait(first, "one");
    wakeups.wait(second, "one");
    wakeups.forget(first, "one");
    publish("one");
    await turn();
    expect([first.woken, second.woken]).toEqual([[], [0]]);
    wakeups.wait(second, "one");
    wakeups.forget(second, "one");
    publish("one");
    await turn();
    expect(second.woken).toEqual([0]);
  });
});

describe("a turn of the event loop", () => {
  test("wakes in a microtask, then once more at its end for all that came after", async () => {
    const { wakeups, publish } = setUp();
    const [watcher = new Watcher()] = opened(wakeups, 1);
    wakeups.wait(watcher);
    publish();
    expect(watcher.woken).toHaveLength(0);
    await Promise.resolve();
    expect(watcher.woken).toHaveLength(1);
    wakeups.wait(watcher);
    publish();
    publish();
    await Promise.resolve();
    expect(watcher.woken).toHaveLength(1);
    await turn();
    expect(watcher.woken).toHaveLength(2);
  });

  test("that writes more than half the history wakes meanwhile, so that a waiting reader loses nothing", async () => {
    const { wakeups, publish } = setUp(10);
    const [watcher = new Watcher()] = opened(wakeups, 1);
    const wakesAfter: number[] = [];
    wakeups.wait(watcher);
    for (let written = 1; written <= 16; written++) {
      const before = watcher.woken.length;
      publish();
      await Promise.resolve();
      if (watcher.woken.length === before) continue;
      wakesAfter.push(written);
      wakeups.wait(watcher);
    }
    expect(wakesAfter).toEqual([1, 6, 11, 16]);
  });

  test("wakes watchers of one resource with the place of its first change, and no others", async () => {
    const { wakeups, publish } = setUp();
    const [one = new Watcher(), two = new Watcher()] = opened(wakeups, 2);
    wakeups.wait(one, "one");
    wakeups.wait(two, "two");
    publish("other");
    publish("two");
    publish("two");
    await turn();
    expect([one.woken, two.woken]).toEqual([[], [1]]);
  });

  test("that has given a reader what was pending gathers until its end", async () => {
    const { wakeups, publish } = setUp();
    const [watcher = new Watcher()] = opened(wakeups, 1);
    publish();
    expect(wakeups.gathering).toBe(false);
    wakeups.served();
    wakeups.served();
    expect(wakeups.gathering).toBe(true);
    wakeups.wait(watcher);
    publish();
    await Promise.resolve();
    expect(watcher.woken).toHaveLength(0);
    await turn();
    expect([watcher.woken.length, wakeups.gathering]).toEqual([1, false]);
  });

  test("wakes at its end on request, without anything new", async () => {
    const { wakeups } = setUp();
    const [watcher = new Watcher()] = opened(wakeups, 1);
    wakeups.served();
    wakeups.wait(watcher);
    await turn();
    expect(watcher.woken).toHaveLength(0);
    wakeups.served();
    wakeups.wakeAtEndOfTurn();
    await turn();
    expect(watcher.woken).toHaveLength(1);
  });
});

test("listeners are called within every write until they unlisten", () => {
  const { wakeups, publish } = setUp();
  let calls = 0;
  const listener = (): void => void calls++;
  wakeups.listen(listener);
  publish();
  publish();
  wakeups.unlisten(listener);
  publish();
  expect(calls).toBe(2);
});

test("closing ends all watches that are open, and no others", () => {
  const { wakeups } = setUp();
  const [left = new Watcher(), open = new Watcher()] = opened(wakeups, 2);
  wakeups.closed(left);
  wakeups.closeAll();
  expect([left.closed, open.closed]).toEqual([0, 1]);
});
