import { EventType, MemoryState, withSpec, type Event, type State, type Watch } from "homeostat";
import { Int } from "homeostat/testing";

import { collectGarbage, heapBytes, rate, type Report } from "./report.ts";

const Bench = Int.in("bench");
const WATCHERS = 100;

/** The Go program's settings: nothing overruns, so both sides deliver every event. */
export const newState = (): State => new MemoryState({ types: [Int], history: { maxCapacity: 1_000_000, gap: 1000 } });

const id = (i: number): string => `res-${i}`;

/** The State alone: the operations one after the other, watchers, several callers. */
export async function benchState(report: Report, n: number): Promise<void> {
  await operations(report, n);
  // what the operations left must not be collected in the midst of the next work, which is short
  collectGarbage();
  // and too short to be compiled after one warm-up
  for (let i = 0; i < 20; i++) await fanOut(() => {}, n);
  await fanOut(report, n);
  for (const callers of [1, 64]) await concurrent(report, n, callers);
}

async function operations(report: Report, n: number): Promise<void> {
  const before = heapBytes();
  await using state = newState();
  await rate(report, "state.create", n, async () => {
    for (let i = 0; i < n; i++) await state.create(Bench.create(id(i), { value: i }));
  });
  await rate(report, "state.get", n, async () => {
    for (let i = 0; i < n; i++) await state.get(Bench.ref(id(i)));
  });
  await rate(report, "state.list", 10 * n, async () => {
    for (let i = 0; i < 10; i++) {
      const list = await state.list(Bench);
      if (list.length !== n) throw new Error(`short list: ${list.length} of ${n}`);
    }
  });
  await rate(report, "state.update", n, async () => {
    for (let i = 0; i < n; i++) {
      const int = await state.get(Bench.ref(id(i)));
      await state.update(withSpec(int, { value: i + 1 }));
    }
  });
  report({ name: "state.memory", n, bytes_each: (heapBytes() - before) / n });
  await reads(report, state, n);
  await rate(report, "state.destroy", n, async () => {
    for (let i = 0; i < n; i++) await state.destroy(Bench.ref(id(i)));
  });
}

/** What the results of a million reads keep alive besides the array that holds them: nothing, since reads never copy. */
async function reads(report: Report, state: State, n: number): Promise<void> {
  const count = 1_000_000;
  const results: unknown[] = Array.from({ length: count }, () => undefined);
  const before = heapBytes();
  for (let i = 0; i < count; i++) results[i] = await state.get(Bench.ref(id(i % n)));
  report({ name: "state.get.retained", n: count, bytes_each: Math.max(0, heapBytes() - before) / results.length });
}

/** Every watcher sees every one of n/100 creations. */
async function fanOut(report: Report, n: number): Promise<void> {
  await using state = newState();
  const creations = Math.floor(n / 100);
  const watches: Watch<readonly Event[]>[] = [];
  const kind = { namespace: Bench.namespace, type: Bench.type };
  for (let i = 0; i < WATCHERS; i++) watches.push(await state.watchKindBatches(kind, { bootstrap: true }));
  const finished = watches.map((watch) => countCreated(watch, creations));
  await rate(report, "watch.fanout", WATCHERS * creations, async () => {
    for (let i = 0; i < creations; i++) await state.create(Bench.create(id(i), { value: i }));
    await Promise.all(finished);
  });
}

/** Reads until `creations` resources have been created. */
export async function countCreated(watch: Watch<readonly Event[]>, creations: number): Promise<void> {
  let seen = 0;
  for await (const batch of watch) {
    for (const event of batch) {
      if (event.type === EventType.created) seen++;
      else if (event.type === EventType.errored) throw event.error;
    }
    if (seen >= creations) return;
  }
  throw new Error(`the watch ended after ${seen} of ${creations} creations`);
}

async function concurrent(report: Report, n: number, callers: number): Promise<void> {
  await using state = newState();
  const Workers = Int.in(`workers-${callers}`);
  const each = Math.floor(n / 10 / callers);
  await rate(report, `state.create.${callers}callers`, each * callers, async () => {
    const caller = async (name: number) => {
      for (let i = 0; i < each; i++) await state.create(Workers.create(`${name}-${i}`, { value: i }));
    };
    await Promise.all(Array.from({ length: callers }, (_, name) => caller(name)));
  });
}
