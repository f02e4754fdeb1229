import { getEventListeners } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Item, SoakLoad } from "../bench/soak-load.ts";
import { connect, server } from "../src/grpc/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { wrapState } from "../src/state/index.ts";
import { eventually, InterceptedState } from "../src/testing/index.ts";

// `npm run soak` looks at memory for minutes; this counts what would keep it alive.
test("watchers that join and leave, in process and over a socket, leave nothing behind", async () => {
  const folder = await mkdtemp(join(tmpdir(), "homeostat-soak-"));
  const watchers = 40;
  const core = new InterceptedState(new MemoryState({ types: [Item], history: { maxCapacity: 64 } }));
  {
    await using state = wrapState(core);
    await using served = server(core, { types: [Item] });
    const { address } = await served.listen(`unix:${join(folder, "s")}`);
    await using remote = connect(address, { types: [Item] });
    const load = new SoakLoad({
      watched: [state, remote],
      written: state,
      watchers,
      writers: 2,
      resources: 50,
      textBytes: 100,
    });
    await load.fill();
    const stop = new AbortController();
    const running = load.run(stop.signal).catch((error: unknown) => {
      if (error !== stop.signal.reason) throw error;
    });
    for (const joined of [100, 300, 500]) {
      await eventually(() => expect(load.joined).toBeGreaterThan(joined), { timeoutMs: 20_000 });
      expect(load.joined - load.left).toBeLessThanOrEqual(watchers);
      // One that was left a moment ago may still be open on the other side.
      expect(core.openWatches.length).toBeLessThanOrEqual(2 * watchers);
      expect(served.watchCount).toBeLessThanOrEqual(watchers);
      expect(getEventListeners(stop.signal, "abort").length).toBeLessThanOrEqual(4 * watchers);
    }
    stop.abort();
    await running;
    expect(load.joined).toBe(load.left);
    await eventually(() => expect([served.watchCount, served.callCount, core.openWatches.length]).toEqual([0, 0, 0]));
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
    // However much was written, the history holds no more than it may.
    await using tail = await state.watchKindBatches(Item, { tailEvents: 1_000_000 });
    expect((await tail.next()).value?.length).toBeLessThanOrEqual(64);
  }
  await rm(folder, { recursive: true, force: true });
});
