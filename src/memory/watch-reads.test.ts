import { describe, expect, test } from "vitest";
import { equal } from "../resource/index.ts";
import { EventType, type Event } from "../state/index.ts";
import { describeEvent, PathResource } from "../testing/index.ts";
import { MemoryState } from "./memory-state.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const front = { labels: { tier: "front" } };

describe("a watch of batches with a query", () => {
  test("delivers no empty batch for what does not match it", async () => {
    await using state = new MemoryState();
    const watch = await state.watchKindBatches(PathResource, { labels: [equal("tier", "front")] });
    const next = watch.next();
    await state.create(PathResource.create("back", {}));
    await turn();
    expect(watch.takePending?.()).toBeUndefined();
    await state.create(PathResource.create("front", {}, front));
    const { value } = await next;
    expect((value ?? []).map(describeEvent)).toEqual(["Created os/path(default/front@1)"]);

    await state.create(PathResource.create("other", {}));
    expect(watch.takePending?.()).toBeUndefined();
    await state.create(PathResource.create("next", {}, front));
    expect(watch.takePending?.()?.map(describeEvent)).toEqual(["Created os/path(default/next@1)"]);
  });
});

describe("several calls of next() at once", () => {
  test("each get an event of their own, in the order of the calls", async () => {
    await using state = new MemoryState();
    const watch = await state.watchKind(PathResource);
    const calls = [watch.next(), watch.next(), watch.next(), watch.next()];
    for (const id of ["a", "b", "c"]) await state.create(PathResource.create(id, {}));
    const results = await Promise.all(calls.slice(0, 3));
    expect(results.map(({ value }) => value?.resource?.metadata.id)).toEqual(["a", "b", "c"]);
    await state.create(PathResource.create("d", {}));
    expect((await calls[3])?.value?.resource?.metadata.id).toBe("d");
  });

  test.each(["the watch is left", "the watch is disposed", "the State is disposed", "the signal aborts"])(
    "all settle when %s",
    async (end) => {
      await using state = new MemoryState();
      const stop = new AbortController();
      for (const watch of [
        await state.watchKind(PathResource, { signal: stop.signal }),
        await state.watchKindBatches(PathResource, { signal: stop.signal }),
      ]) {
        const calls = [watch.next(), watch.next(), watch.next()];
        await turn();
        if (end === "the watch is left") await watch.return?.();
        else if (end === "the watch is disposed") await watch[Symbol.asyncDispose]();
        else if (end === "the State is disposed") await state[Symbol.asyncDispose]();
        else stop.abort();
        for (const { done } of await Promise.all(calls)) expect(done).toBe(true);
        if (end === "the State is disposed" || end === "the signal aborts") break;
      }
    },
  );

  test("settle after the terminal event, which only one of them gets", async () => {
    await using state = new MemoryState({ overrun: "error", history: { maxCapacity: 4 } });
    const watch = await state.watchKind(PathResource);
    for (let id = 0; id < 10; id++) await state.create(PathResource.create(String(id), {}));
    const results = await Promise.all([watch.next(), watch.next(), watch.next()]);
    expect(results.map(({ value, done }) => (done === true ? "end" : value.type))).toEqual([
      EventType.errored,
      "end",
      "end",
    ]);
  });
});

test("a waiting reader keeps up with a turn that writes twenty times what the history holds", async () => {
  await using state = new MemoryState({ overrun: "error", history: { maxCapacity: 10 } });
  const watch = await state.watchKindBatches(PathResource);
  const seen: Event[] = [];
  const reading = (async () => {
    for await (const batch of watch) seen.push(...batch);
  })();
  await turn();
  let turnIsOver = false;
  setImmediate(() => {
    turnIsOver = true;
  });
  for (let id = 0; id < 200; id++) await state.create(PathResource.create(String(id), {}));
  expect(turnIsOver).toBe(false);
  await turn();
  await watch[Symbol.asyncDispose]();
  await reading;
  expect(seen.map(({ type, resource }) => `${type} ${resource?.metadata.id}`)).toEqual(
    Array.from({ length: 200 }, (_, id) => `${EventType.created} ${id}`),
  );
});

test("a watch takes one listener; a second one is refused, and the first goes on", async () => {
  await using state = new MemoryState();
  const watch = await state.watchKind(PathResource);
  const calls: string[] = [];
  watch.onPending?.(() => calls.push("first"));
  expect(() => watch.onPending?.(() => calls.push("second"))).toThrow("a watch takes one listener");
  await state.create(PathResource.create("one", {}));
  expect(calls).toEqual(["first"]);
  await watch[Symbol.asyncDispose]();
  await state.create(PathResource.create("two", {}));
  expect(calls).toEqual(["first"]);
});
