import {
  controller,
  queueController,
  Runtime,
  silentLogger,
  weak,
  type Controller,
  type QueueController,
  type State,
} from "homeostat";
import { Int } from "homeostat/testing";

import { rate, type Report } from "./report.ts";
import { newState } from "./state.ts";

const ENTRIES = 10_000;
const CONTROLLERS = 1_000;

/** Parts of the engine whose cost must not grow with what surrounds them. Our own: the Go program has no such lines. */
export async function benchParts(report: Report): Promise<void> {
  await registration(report);
  for (const others of [0, CONTROLLERS]) await routing(report, others);
  await cache(report);
}

/** A controller that reads a kind of its own. */
const bystander = (i: number): Controller =>
  controller({ name: `Bystander${i}`, inputs: [weak(Int.in(`elsewhere-${i}`))], reconcile() {} });

/** [engine T-25] Building a runtime of many controllers. */
async function registration(report: Report): Promise<void> {
  await rate(report, "runtime.register", CONTROLLERS, async () => {
    await using runtime = new Runtime(newState(), { logger: silentLogger });
    for (let i = 0; i < CONTROLLERS; i++) await runtime.register(bystander(i));
  });
}

/** [engine T-25] Who depends on a change is looked up in the same time however many controllers there are. */
async function routing(report: Report, others: number): Promise<void> {
  await using state = newState();
  let seen = 0;
  const started = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const counting = queueController({
    name: "Counting",
    primary: Int,
    reconcile() {
      if (seen === 0) started.resolve();
      if (seen++ === ENTRIES) done.resolve();
    },
  });
  const bystanders = Array.from({ length: others }, (_, i) => bystander(i));
  await running(state, [counting, ...bystanders], false, async () => {
    await state.create(Int.create("first", { value: 0 }));
    await started.promise;
    await rate(report, `runtime.route.${others}others`, ENTRIES, async () => {
      for (let i = 0; i < ENTRIES; i++) await state.create(Int.create(`res-${i}`, { value: i }));
      await done.promise;
    });
  });
}

/** [engine T-36] Filling the cache, and putting and removing one resource after the other. */
async function cache(report: Report): Promise<void> {
  await using state = newState();
  for (let i = 0; i < ENTRIES; i++) await state.create(Int.create(`res-${i}`, { value: i }));
  let start: Promise<void> | undefined;
  await rate(report, "cache.append", ENTRIES, async () => {
    const runtime = new Runtime(state, { cache: [Int], logger: silentLogger });
    const stop = new AbortController();
    start = runtime.run({ signal: stop.signal });
    await runtime.cachedState().list(Int);
    stop.abort();
  });
  await start;
  await running(state, [], true, async () => {
    await rate(report, "cache.put", ENTRIES, async () => {
      for (let i = 0; i < ENTRIES; i++) await state.update(await state.get(Int.ref(`res-${i}`)));
    });
    await rate(report, "cache.remove", ENTRIES, async () => {
      for (let i = 0; i < ENTRIES; i++) await state.destroy(Int.ref(`res-${i}`));
    });
  });
}

async function running(
  state: State,
  controllers: readonly (Controller | QueueController)[],
  cached: boolean,
  work: () => Promise<void>,
): Promise<void> {
  const runtime = new Runtime(state, { controllers, cache: cached ? [Int] : [], logger: silentLogger });
  const stop = new AbortController();
  const run = runtime.run({ signal: stop.signal });
  await work();
  stop.abort();
  await run;
}
