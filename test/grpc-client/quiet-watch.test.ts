import { describe, expect, test } from "vitest";
import { EventType, type Event, type Watch } from "../../src/state/index.ts";
import { Int } from "../../src/testing/index.ts";
import { absent, created, int, noop, updated } from "./events.ts";
import { RemoteWorld } from "./remote-world.ts";
import { bookmarkAt, scriptedClient } from "./scripted-wire.ts";

const one = int("one", 1);
const ref = Int.ref("one");

async function nextOf(watch: Watch<Event>): Promise<Event> {
  const { value, done } = await watch.next();
  if (done === true) throw new Error("the watch ended");
  return value;
}

test("the watch of a quiet resource has a position over the wire, and goes on from it after a break", async () => {
  await using world = await RemoteWorld.open();
  const client = world.connect();
  const watch = await client.watch(ref, { bootstrapBookmark: true });
  const [nothing, marker] = [await nextOf(watch), await nextOf(watch)];
  expect([nothing.type, marker.type]).toEqual(["Destroyed", "Noop"]);
  expect(nothing.bookmark).toEqual(marker.bookmark);
  expect(nothing.bookmark).toBeInstanceOf(Uint8Array);

  await world.stop();
  const stored = await world.local.create(Int.create("one", { value: 1 }));
  await world.start();
  // Without a position it would have to begin anew, with Resynced.
  const event = await nextOf(watch);
  expect([event.type, event.resource?.metadata.created]).toEqual(["Created", stored.metadata.created]);
  const late = await client.watch(ref, { startFromBookmark: nothing.bookmark });
  expect((await nextOf(late)).type).toBe("Created");
});

test("a watch that asks for no marker sends no such wish", async () => {
  const { state, wire } = scriptedClient();
  await state.watch(ref);
  expect(wire.last.watch.options.bootstrapBookmark).toBe(false);
  await state.watch(ref, { bootstrapBookmark: true });
  expect(wire.last.watch.options.bootstrapBookmark).toBe(true);
});

describe("a server that passes over the wish for a marker", () => {
  const refusal = { type: EventType.errored, error: { code: "unsupported" } };

  test("is found out by a first event without a position", async () => {
    const { state, wire } = scriptedClient();
    const watch = await state.watch(ref, { bootstrapBookmark: true });
    wire.last.send(absent("one"));
    expect((await nextOf(watch)).type).toBe("Destroyed");
    const event = await nextOf(watch);
    expect(event).toMatchObject(refusal);
    expect(event.error?.message).toBe(
      "the watch of test/int(default/one) cannot have bootstrapBookmark: the server tells no position there",
    );
    expect(await watch.next()).toEqual({ done: true, value: undefined });
    expect(wire.last.cancelled).toBe(true);
  });

  test("is found out by the event that comes in the marker's place", async () => {
    const { state, wire } = scriptedClient();
    const watch = await state.watch(ref, { bootstrapBookmark: true });
    wire.last.send(created(one, 3)).send(updated(one, int("one", 2, 2), 4));
    expect([(await nextOf(watch)).type, (await nextOf(watch)).type]).toEqual(["Created", "Updated"]);
    expect(await nextOf(watch)).toMatchObject(refusal);
    const replay = await state.watch(ref, { bootstrapBookmark: true, startFromBookmark: bookmarkAt(3) });
    wire.last.send(updated(one, int("one", 2, 2), 4));
    expect((await nextOf(replay)).type).toBe("Updated");
    expect(await nextOf(replay)).toMatchObject(refusal);
  });

  test("is not blamed for the marker that comes, nor after the watch was opened again", async () => {
    const { state, wire, clock } = scriptedClient();
    const watch = await state.watch(ref, { bootstrapBookmark: true });
    wire.last.send(created(one, 3)).send(noop(3));
    expect([(await nextOf(watch)).type, (await nextOf(watch)).type]).toEqual(["Created", "Noop"]);
    const second = await state.watch(ref, { bootstrapBookmark: true });
    wire.last.send(created(one, 3));
    expect((await nextOf(second)).type).toBe("Created");
    const next = nextOf(second);
    wire.script.push((stream) => stream.begin().send(updated(one, int("one", 2, 2), 4)));
    wire.last.fail();
    await clock.advance(1000);
    expect((await next).type).toBe("Updated");
  });
});
