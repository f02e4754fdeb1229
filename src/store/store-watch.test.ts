import { expect, test, vi } from "vitest";
import { ManualClock } from "../clock/index.ts";
import { createResource } from "../resource/index.ts";
import { createEpoch } from "./bookmark.ts";
import { Collection } from "./collection.ts";
import { resolveHistoryOptions } from "./history-options.ts";
import { openResourceCursor } from "./open-cursor.ts";
import { EventWatch } from "./store-watch.ts";
import { TimestampSource } from "./timestamp-source.ts";
import { createSlices } from "./work-slices.ts";

const KIND = { namespace: "default", type: "T" };

function setUp() {
  const clock = new ManualClock();
  const collection = new Collection(KIND, {
    history: resolveHistoryOptions({}),
    clock,
    timestamps: new TimestampSource(clock),
    slices: createSlices(clock),
    epoch: createEpoch(),
  });
  const create = (id: string) =>
    collection.commitCreate(collection.prepareCreate(createResource({ ...KIND, id }, {}), ""));
  const waits = vi.spyOn(collection.wakeups, "wait");
  const open = (id: string) =>
    new EventWatch(openResourceCursor(collection, id, {}, "resync"), collection.wakeups, undefined);
  return { clock, create, open, waits };
}

test("a watch of one resource that has taken everything is not woken for others", async () => {
  const { create, open, waits } = setUp();
  await using watch = open("one");
  expect((await watch.next()).value?.type).toBe("Destroyed");
  const next = watch.next();
  expect(waits.mock.calls).toEqual([[watch, "one"]]);
  create("another");
  create("one");
  expect((await next).value?.resource?.metadata.id).toBe("one");
  expect(waits).toHaveBeenCalledTimes(1);
});

test("a wake-up that comes after the end of a watch does not make it wait again", async () => {
  const { open, waits } = setUp();
  const watch = open("one");
  await watch.next();
  const next = watch.next();
  await watch.return();
  expect(await next).toEqual({ done: true, value: undefined });
  waits.mockClear();
  watch.wake();
  expect(waits).not.toHaveBeenCalled();
  expect(await watch.next()).toEqual({ done: true, value: undefined });
});
