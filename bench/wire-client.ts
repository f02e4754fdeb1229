// Our client's part of the wire benchmark, in a process of its own: the work of the Go program's -socket mode.
//
//   node --conditions=source bench/wire-client.ts -socket PATH -n COUNT -prefix TEXT

import { withSpec, type Event, type State, type Watch } from "homeostat";
import { connect } from "homeostat/grpc";
import { Int } from "homeostat/testing";

import { rate, type Report } from "./report.ts";
import { countCreated } from "./state.ts";

const WATCHERS = 100;
const CALLERS = 64;
const LISTS = 10;

const id = (i: number): string => `res-${i}`;

async function main(args: readonly string[]): Promise<void> {
  const option = (name: string): string => args[args.indexOf(name) + 1] ?? "";
  const [socket, prefix, n] = [option("-socket"), option("-prefix"), Number(option("-n"))];
  const report: Report = (measurement) => console.log(JSON.stringify(measurement));
  const endpoint = `unix:${socket}`;
  // A process that has just started runs slower than it will; the Go program has nothing of the kind.
  await measure(() => {}, endpoint, Math.min(n, 3000), `${prefix}warm-up-`);
  await measure(report, endpoint, n, prefix);
}

async function measure(report: Report, endpoint: string, n: number, prefix: string): Promise<void> {
  const open = (): State => connect(endpoint, { types: [Int] });
  const Bench = Int.in(`${prefix}bench`);
  {
    await using state = open();
    await operations(report, state, n, Bench);
  }
  {
    await using state = open();
    await fanOut(report, state, Math.floor(n / 10), Bench);
  }
  await using state = open();
  await concurrent(report, state, Math.floor((2 * n) / CALLERS), Int.in(`${prefix}workers-${CALLERS}`));
}

async function operations(report: Report, state: State, n: number, Bench: typeof Int): Promise<void> {
  await rate(report, "state.create", n, async () => {
    for (let i = 0; i < n; i++) await state.create(Bench.create(id(i), { value: i }));
  });
  await rate(report, "state.get", n, async () => {
    for (let i = 0; i < n; i++) await state.get(Bench.ref(id(i)));
  });
  await rate(report, "state.list", LISTS * n, async () => {
    for (let i = 0; i < LISTS; i++) {
      const list = await state.list(Bench);
      if (list.length !== n) throw new Error(`short list: ${list.length} of ${n}`);
    }
  });
  await rate(report, "state.update", n, async () => {
    for (let i = 0; i < n; i++) {
      const int = await state.get(Bench, id(i));
      await state.update(withSpec(int, { value: i + 1 }));
    }
  });
  await rate(report, "state.destroy", n, async () => {
    for (let i = 0; i < n; i++) await state.destroy(Bench.ref(id(i)));
  });
}

async function fanOut(report: Report, state: State, creations: number, Bench: typeof Int): Promise<void> {
  const watches: Watch<readonly Event[]>[] = [];
  for (let i = 0; i < WATCHERS; i++) watches.push(await state.watchKindBatches(Bench, { bootstrap: true }));
  const finished = watches.map((watch) => countCreated(watch, creations));
  await rate(report, "watch.fanout", WATCHERS * creations, async () => {
    for (let i = 0; i < creations; i++) await state.create(Bench.create(id(i), { value: i }));
    await Promise.all(finished);
  });
}

async function concurrent(report: Report, state: State, each: number, Workers: typeof Int): Promise<void> {
  const all = (work: (caller: number) => Promise<void>): Promise<unknown> =>
    Promise.all(Array.from({ length: CALLERS }, (_, caller) => work(caller)));
  await rate(report, `state.create.${CALLERS}callers`, each * CALLERS, async () => {
    await all(async (caller) => {
      for (let i = 0; i < each; i++) await state.create(Workers.create(`${caller}-${i}`, { value: i }));
    });
  });
  await rate(report, `state.get.${CALLERS}callers`, each * CALLERS, async () => {
    await all(async (caller) => {
      for (let i = 0; i < each; i++) await state.get(Workers.ref(`${caller}-${i}`));
    });
  });
}

await main(process.argv.slice(2));
