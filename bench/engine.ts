import { EventType, Runtime, silentLogger } from "homeostat";
import { Int, queueIntToStrController, Str } from "homeostat/testing";

import { latency, rate, type Report } from "./report.ts";
import { countCreated, newState } from "./state.ts";

const In = Int.in("in");
const Out = Str.in("out");
const WAKEUPS = 2000;

/** The engine: n inputs, each reconciled twice (it gets a finalizer) into one output; then single changes on an idle one. */
export async function benchEngine(report: Report, n: number): Promise<void> {
  await throughput(report, "engine.qcontroller", n, false);
  await throughput(report, "engine.qcontroller.cached", n, true);
  await wakeups(report);
}

async function throughput(report: Report, name: string, n: number, cached: boolean): Promise<void> {
  await using state = newState();
  const runtime = new Runtime(state, {
    controllers: [queueIntToStrController(In.namespace, Out.namespace)],
    cache: cached ? [In, Out] : [],
    logger: silentLogger,
  });
  for (let i = 0; i < n; i++) await state.create(In.create(`res-${i}`, { value: i }));
  const outputs = await state.watchKindBatches({ namespace: Out.namespace, type: Out.type });
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  await rate(report, name, n, async () => {
    running = runtime.run({ signal: stop.signal });
    await countCreated(outputs, n);
  });
  stop.abort();
  await running;
}

/** From one creation to its output, one at a time. */
async function wakeups(report: Report): Promise<void> {
  await using state = newState();
  const runtime = new Runtime(state, {
    controllers: [queueIntToStrController(In.namespace, Out.namespace)],
    logger: silentLogger,
  });
  const stop = new AbortController();
  const running = runtime.run({ signal: stop.signal });
  // settles once the engine has reconciled something, so that it is up and idle
  await state.create(In.create("first", { value: 0 }));
  await state.watchFor(Out.ref("first"), { events: [EventType.created] });
  const outputs = await state.watchKind(Out);
  const durations = new Float64Array(WAKEUPS);
  for (let i = 0; i < WAKEUPS; i++) {
    const start = performance.now();
    await state.create(In.create(`res-${i}`, { value: i }));
    for (;;) {
      const { done, value } = await outputs.next();
      if (done === true) throw new Error("the watch ended");
      if (value.type === EventType.created) break;
    }
    durations[i] = performance.now() - start;
  }
  latency(report, "engine.wakeup", durations);
  stop.abort();
  await running;
}
