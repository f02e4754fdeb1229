import { describe, expect, test } from "vitest";
import type { CallOptions, Watch } from "../state/index.ts";
import { describeEvent, JsonBackingStore, PathResource } from "../testing/index.ts";
import { MemoryState } from "./memory-state.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a watch of one resource that was opened amid a burst does not get what came before it", async () => {
  await using state = new MemoryState();
  const pointer = PathResource.ref("one");
  const first = await state.create(PathResource.create("one", {}));
  const early = await state.watch(pointer);
  const seen: string[] = [];
  const reading = (async () => {
    for await (const event of early) seen.push(`early: ${describeEvent(event)}`);
  })();
  await turn();
  // The first change wakes the early watch at once; the second one waits for the end of the turn.
  const second = await state.update(first);
  await Promise.resolve();
  const third = await state.update(second);
  const late = await state.watch(pointer);
  expect((await late.next()).value?.resource).toBe(third);
  const next = late.next();
  await turn();
  const fourth = await state.update(third);
  expect((await next).value?.resource).toBe(fourth);
  await turn();
  await early[Symbol.asyncDispose]();
  await reading;
  expect(seen).toEqual([
    "early: Created os/path(default/one@1)",
    "early: Updated os/path(default/one@2), before @1",
    "early: Updated os/path(default/one@3), before @2",
    "early: Updated os/path(default/one@4), before @3",
  ]);
});

describe("a watch that is being opened", () => {
  const open = (state: MemoryState, options: CallOptions): readonly Promise<Watch<unknown>>[] => [
    state.watch(PathResource.ref("one"), options),
    state.watchKind(PathResource, options),
    state.watchKindBatches(PathResource, { ...options, ids: "one" }),
  ];
  const microtasks = async (count: number) => {
    for (let passed = 0; passed < count; passed++) await Promise.resolve();
  };

  test("does not open, or ends, whenever the signal aborts or the State is disposed meanwhile", async () => {
    for (let delay = 0; delay < 20; delay++) {
      for (const end of ["abort", "dispose"] as const) {
        const state = new MemoryState({ backingStore: () => new JsonBackingStore() });
        const stop = new AbortController();
        const opening = open(state, { signal: stop.signal });
        await microtasks(delay);
        if (end === "abort") stop.abort();
        else await state[Symbol.asyncDispose]();
        for (const result of await Promise.allSettled(opening)) {
          if (result.status === "rejected") continue;
          const next = result.value.next();
          const first = await Promise.race([next, turn().then(() => "it still waits")]);
          expect([delay, end, first]).toEqual([delay, end, { done: true, value: undefined }]);
        }
        await state[Symbol.asyncDispose]();
      }
    }
  });
});
