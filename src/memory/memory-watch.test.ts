import { expect, test } from "vitest";
import { describeEvent, PathResource } from "../testing/index.ts";
import { MemoryState } from "./index.ts";

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
