import { expect, test } from "vitest";
import { MemoryState } from "../memory/index.ts";
import { Runtime } from "../runtime/index.ts";
import { silentLogger } from "../log/index.ts";
import { ManualClock } from "./manual-clock.ts";
import { SystemClock } from "./system-clock.ts";

test("the system's clock keeps the process alive until it is told to let go", () => {
  const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const alive = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length - before;
  const hold = new SystemClock().keepAlive();
  expect(alive()).toBe(1);
  hold[Symbol.dispose]();
  hold[Symbol.dispose]();
  expect(alive()).toBe(0);
});

test("a runtime keeps the process alive by its clock, for as long as it runs", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  await using state = new MemoryState({ clock });
  const runtime = new Runtime(state, { clock, logger: silentLogger });
  expect(clock.keptAlive).toBe(0);
  const running = runtime.run({ signal: stop.signal });
  expect(clock.keptAlive).toBe(1);
  stop.abort();
  await running;
  expect(clock.keptAlive).toBe(0);
  expect(clock.pending).toBe(0);
});
