import { describe, expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import {
  controller,
  exclusive,
  mapped,
  queueController,
  requeueAfter,
  RequeueError,
  skip,
  SkipError,
  type Controller,
  type QueueController,
} from "../../controller/index.ts";
import { silentLogger } from "../../log/index.ts";
import { MemoryState } from "../../memory/index.ts";
import { Int, RecordingLogger, Str } from "../../testing/index.ts";
import { Runtime } from "../runtime.ts";
import type { RuntimeOptions } from "../runtime-options.ts";

/** A runtime under a manual clock, with retry intervals in the middle of their range. */
async function start(controllers: readonly (Controller | QueueController)[], options: RuntimeOptions = {}) {
  const clock = new ManualClock();
  const state = new MemoryState({ clock });
  const runtime = new Runtime(state, { controllers, clock, random: () => 0.5, logger: silentLogger, ...options });
  const stop = new AbortController();
  const running = runtime.run({ signal: stop.signal });
  await clock.settle();
  return {
    clock,
    state,
    runtime,
    value: (metric: string, name = "Me") => runtime.metrics.value(metric, name),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      expect(clock.pending).toBe(0);
    },
  };
}

type Reconcile = QueueController["reconcile"];

const onInt = (reconcile: Reconcile, rest: Partial<QueueController> = {}): QueueController =>
  ({ name: "Me", primary: Int, outputs: [exclusive(Str)], reconcile, ...rest }) as QueueController;

describe("the retries of one key", () => {
  test("grow within bounds, start over after a success, and are no one else's [engine X-8]", async () => {
    const failing = new Set(["a"]);
    const runs: [string, number][] = [];
    const reconcile: Reconcile = ({ ref, clock }) => {
      runs.push([ref.id, clock.monotonic()]);
      if (failing.has(ref.id)) throw new Error("broken");
    };
    await using world = await start([onInt(reconcile)]);
    const { clock, state } = world;
    await state.create(Int.create("a", { value: 1 }));
    await clock.settle();
    await clock.advance(600_000);
    const times = runs.map(([, atMs]) => atMs);
    const gaps = times.slice(1).map((atMs, i) => atMs - (times[i] ?? 0));
    let baseMs = 500;
    for (const gapMs of gaps) {
      expect(gapMs).toBeCloseTo(baseMs, 6);
      baseMs = Math.min(baseMs * 1.5, 60_000);
    }
    expect(gaps.length).toBeGreaterThan(15);
    expect(gaps.at(-1)).toBe(60_000);

    // another key has a sequence of its own
    failing.add("b");
    runs.length = 0;
    await state.create(Int.create("b", { value: 1 }));
    await clock.advance(500);
    expect(runs.filter(([id]) => id === "b")).toHaveLength(2);

    // success starts over
    failing.clear();
    await state.updateWithConflicts(Int, "a", () => ({ value: 2 }));
    await clock.settle();
    failing.add("a");
    runs.length = 0;
    await state.updateWithConflicts(Int, "a", () => ({ value: 3 }));
    await clock.settle();
    await clock.advance(500);
    expect(runs.filter(([id]) => id === "a")).toHaveLength(2);
  });

  test.for([
    [0, 250],
    [1 - Number.EPSILON, 750],
  ])(
    "are spread by half: with the random number %d the first comes after %d ms",
    async ([random = 0, expectedMs = 0]) => {
      const runs: number[] = [];
      const reconcile: Reconcile = ({ clock }) => {
        runs.push(clock.monotonic());
        throw new Error("broken");
      };
      await using world = await start([onInt(reconcile)], { random: () => random });
      await world.state.create(Int.create("a", { value: 1 }));
      await world.clock.advance(800);
      expect((runs[1] ?? 0) - (runs[0] ?? 0)).toBeCloseTo(expectedMs, 6);
    },
  );

  test("an event makes a key due at once, and the sequence goes on with the next failure", async () => {
    const runs: number[] = [];
    const reconcile: Reconcile = ({ clock }) => {
      runs.push(clock.monotonic());
      throw new Error("broken");
    };
    await using world = await start([onInt(reconcile)]);
    await world.state.create(Int.create("a", { value: 1 }));
    await world.clock.advance(100);
    await world.state.updateWithConflicts(Int, "a", () => ({ value: 2 }));
    await world.clock.settle();
    expect(runs).toEqual([0, 100]);
    await world.clock.advance(749);
    expect(runs).toHaveLength(2);
    await world.clock.advance(1);
    expect(runs).toHaveLength(3);
  });
});

describe("the timer of a queue", () => {
  test("fires for the item that is due next, whatever was due before [engine T-33]", async () => {
    const after = new Map([
      ["hour", 3_600_000],
      ["soon", 1],
    ]);
    const runs: string[] = [];
    const reconcile: Reconcile = ({ ref }) => {
      runs.push(ref.id);
      const ms = after.get(ref.id);
      after.delete(ref.id);
      return ms === undefined ? undefined : requeueAfter(ms);
    };
    await using world = await start([onInt(reconcile)]);
    const { clock, state } = world;
    // nothing is set before the first item that waits
    expect(clock.pending).toBe(0);
    await state.create(Int.create("hour", { value: 1 }));
    await clock.settle();
    expect(clock.nextInMs).toBe(3_600_000);
    // 1 h → 1 ms: fires soon
    await state.create(Int.create("soon", { value: 1 }));
    await clock.settle();
    expect([clock.pending, clock.nextInMs]).toEqual([1, 1]);
    await clock.advance(2);
    expect(runs).toEqual(["hour", "soon", "soon"]);
    // it has fired, and is set again for the rest of the hour; due at once then takes its place, and fires once
    expect([clock.pending, clock.nextInMs]).toEqual([1, 3_600_000 - 2]);
    await state.updateWithConflicts(Int, "hour", () => ({ value: 2 }));
    await clock.settle();
    expect(runs).toEqual(["hour", "soon", "soon", "hour"]);
    await clock.advance(7_200_000);
    expect(runs).toHaveLength(4);
    expect(clock.pending).toBe(0);
  });
});

describe("outcomes", () => {
  test("a skip through two layers of errors is a skip, with no backoff [engine X-14]", async () => {
    let runs = 0;
    const reconcile: Reconcile = () => {
      runs++;
      throw new Error("outer", { cause: new Error("middle", { cause: new SkipError("not yet") }) });
    };
    await using world = await start([onInt(reconcile)]);
    await world.state.create(Int.create("a", { value: 1 }));
    await world.clock.advance(3_600_000);
    expect(runs).toBe(1);
    expect(world.value("qcontroller_skips")).toBe(1);
    expect(world.value("qcontroller_crashes")).toBe(0);
    expect(world.clock.pending).toBe(0);
  });

  test("of thenables are taken once, whatever these do", async () => {
    type Then = (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void;
    // eslint-disable-next-line unicorn/no-thenable -- this is about them
    const thenable = (then: Then): object => Object.fromEntries([["then", then]]);
    const returned: Record<string, unknown> = {
      throwing: thenable(() => {
        throw new Error("odd");
      }),
      twice: thenable((resolve, reject) => {
        resolve(undefined);
        reject(new Error("too late"));
      }),
    };
    await using world = await start([onInt(({ ref }) => returned[ref.id] as ReturnType<Reconcile>)]);
    for (const id of Object.keys(returned)) await world.state.create(Int.create(id, { value: 1 }));
    await world.clock.settle();
    expect(world.value("qcontroller_processed")).toBe(2);
    expect(world.value("qcontroller_crashes")).toBe(1);
  });

  test("each is counted, once", async () => {
    const plans: Record<string, () => ReturnType<Reconcile>> = {
      ok: () => undefined,
      again: () => requeueAfter(100_000),
      skipped: () => skip("not yet"),
      thrown: () => Promise.reject(new RequeueError(100_000, new Error("broken"))),
      failed: () => {
        throw new Error("broken");
      },
    };
    const map = () => [Int.ref("mapped"), Int.ref("mapped too")];
    const inputs = [mapped(Str, map)];
    await using world = await start([onInt(({ ref }) => plans[ref.id]?.(), { inputs, outputs: [] })]);
    for (const id of Object.keys(plans)) await world.state.create(Int.create(id, { value: 1 }));
    await world.state.create(Str.create("x", { value: "" }));
    await world.clock.settle();
    const counts = ["crashes", "requeues", "skips", "processed", "mapped_in", "mapped_out", "queue_length"];
    expect(Object.fromEntries(counts.map((name) => [name, world.value(`qcontroller_${name}`)]))).toEqual({
      crashes: 2,
      requeues: 1,
      skips: 1,
      processed: 7,
      mapped_in: 1,
      mapped_out: 2,
      // what waits for its time
      queue_length: 3,
    });
  });

  test("busy time is that of the runs", async () => {
    const reconcile: Reconcile = ({ clock }) => clock.sleep(1500);
    const inputs = [mapped(Str, (_, { signal }) => world.clock.sleep(250, { signal }).then(() => []))];
    await using world = await start([onInt(reconcile, { inputs, outputs: [] })]);
    await world.state.create(Int.create("a", { value: 1 }));
    await world.clock.advance(2000);
    await world.state.create(Str.create("a", { value: "" }));
    await world.clock.advance(2000);
    expect(world.value("qcontroller_reconcile_busy")).toBeCloseTo(1.5, 6);
    expect(world.value("qcontroller_map_busy")).toBeCloseTo(0.25, 6);
  });

  test("are logged with what is known of them", async () => {
    const log = new RecordingLogger();
    const reconcile: Reconcile = ({ ref, log: own }) => {
      own.info("at work");
      if (ref.id === "bad") throw new Error("broken");
      return ref.id === "skipped" ? skip("not yet") : undefined;
    };
    await using world = await start([onInt(reconcile)], { logger: log });
    for (const id of ["good", "skipped", "bad"]) await world.state.create(Int.create(id, { value: 1 }));
    await world.clock.settle();
    const at = (id: string) => ({ controller: "Me", namespace: "default", type: "test/int", id, job: "reconcile" });
    const lines = log.lines.filter(({ fields }) => fields["job"] !== undefined);
    expect(lines).toMatchObject([
      { level: "info", message: "at work", fields: at("good") },
      { level: "info", message: "reconcile succeeded", fields: at("good") },
      { level: "info", message: "at work", fields: at("skipped") },
      { level: "info", message: "reconcile skipped", fields: { ...at("skipped"), reason: "not yet" } },
      { level: "info", message: "at work", fields: at("bad") },
      {
        level: "error",
        message: "reconcile failed",
        fields: { ...at("bad"), error: new Error("broken"), intervalMs: 500 },
      },
    ]);
  });
});

describe("map jobs", () => {
  test("to something that is no primary fail, and are retried", async () => {
    let maps = 0;
    const map = () => {
      maps++;
      return [Str.ref("no primary") as never];
    };
    await using world = await start([onInt(() => undefined, { inputs: [mapped(Str, map)], outputs: [] })]);
    await world.state.create(Str.create("x", { value: "" }));
    await world.clock.advance(500);
    expect(maps).toBe(2);
    expect(world.value("qcontroller_crashes")).toBe(2);
  });

  test("queue nothing when they fail, and have a backoff of their own", async () => {
    let failures = 1;
    const reconciled: string[] = [];
    const mapInput: QueueController["mapInput"] = ({ input }) => {
      if (failures-- > 0) throw new Error("broken");
      return [Int.ref(`of ${input.id}`)];
    };
    const inputs = [mapped(Str)];
    await using world = await start([
      onInt(({ ref }) => void reconciled.push(ref.id), { inputs, mapInput, outputs: [] }),
    ]);
    await world.state.create(Str.create("x", { value: "" }));
    await world.clock.advance(499);
    expect(reconciled).toEqual([]);
    await world.clock.advance(1);
    expect(reconciled).toEqual(["of x"]);
    expect(world.value("qcontroller_mapped_in")).toBe(2);
  });
});

describe("hooks", () => {
  test("run beside the workers, are retried when they fail, and are done when they return", async () => {
    const calls: number[] = [];
    const runHook: QueueController["runHook"] = async ({ clock }) => {
      calls.push(clock.monotonic());
      if (calls.length < 3) throw new Error("broken");
    };
    await using world = await start([onInt(() => undefined, { runHook })]);
    await world.clock.advance(60_000);
    expect(calls).toEqual([0, 500, 1250]);
    expect(world.value("qcontroller_crashes")).toBe(0);
  });

  test("one that had worked for more than a minute starts its intervals over", async () => {
    const calls: number[] = [];
    const runHook: QueueController["runHook"] = async ({ clock, signal }) => {
      calls.push(clock.monotonic());
      if (calls.length === 2) await clock.sleep(60_001, { signal });
      throw new Error("broken");
    };
    await using world = await start([onInt(() => undefined, { runHook })]);
    await world.clock.advance(61_100);
    expect(calls).toEqual([0, 500, 61_001]);
  });

  test("the shutdown hook comes when all else has ended; what it throws is only logged", async () => {
    const log = new RecordingLogger();
    const order: string[] = [];
    const slow = Promise.withResolvers<void>();
    const reconcile: Reconcile = async () => {
      await slow.promise;
      order.push("worker");
    };
    const shutdownHook = (): void => {
      order.push("shutdown");
      throw new Error("no way down");
    };
    const world = await start([onInt(reconcile, { shutdownHook })], { logger: log });
    await world.state.create(Int.create("a", { value: 1 }));
    await world.clock.settle();
    const ended = world[Symbol.asyncDispose]();
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    slow.resolve();
    await ended;
    expect(order).toEqual(["worker", "shutdown"]);
    expect(log.lines).toContainEqual(expect.objectContaining({ level: "error", message: "shutdown hook failed" }));
  });
});

describe("the initial fill", () => {
  test("queues what is there; a list that fails is tried again", async () => {
    const state = new MemoryState();
    await state.create(Int.create("a", { value: 1 }));
    await state.create(Int.create("b", { value: 1 }));
    let failures = 2;
    const list: MemoryState["list"] = (...args: readonly unknown[]) =>
      failures-- > 0
        ? Promise.reject(new Error("no list"))
        : (MemoryState.prototype.list.apply(state, args as never) as never);
    Object.assign(state, { list });
    const clock = new ManualClock();
    const seen: string[] = [];
    const me = onInt(({ ref }) => void seen.push(ref.id));
    const runtime = new Runtime(state, { controllers: [me], clock, random: () => 0.5, logger: silentLogger });
    const stop = new AbortController();
    const running = runtime.run({ signal: stop.signal });
    await clock.advance(1249);
    expect(seen).toEqual([]);
    await clock.advance(1);
    expect(seen).toEqual(["a", "b"]);
    stop.abort();
    await running;
  });
});

describe("the change rate limit", () => {
  /** A controller that creates `count` outputs, and notes when each was created. */
  function writer(name: string, namespace: string, count: number, writtenAt: number[]): Controller {
    return controller({
      name,
      outputs: [exclusive(name === "Me" ? Int : Str)],
      async run({ state, clock, signal }) {
        const made = name === "Me" ? Int.in(namespace) : Str.in(namespace);
        for (let i = 0; i < count; i++) {
          await state.create(made.create(`x-${i}`, { value: name === "Me" ? i : "" } as never) as never, { signal });
          writtenAt.push(clock.monotonic());
        }
      },
    }) as unknown as Controller;
  }

  test("lets 40 writes take 2 s at 10 a second and a burst of 20, for each controller by itself [engine X-10]", async () => {
    const times: Record<string, number[]> = { Me: [], Other: [] };
    const both = [writer("Me", "a", 40, times["Me"] ?? []), writer("Other", "b", 40, times["Other"] ?? [])];
    await using world = await start(both, { changeRateLimit: { perSecond: 10, burst: 20 } });
    await world.clock.advance(1999);
    expect([times["Me"]?.length, times["Other"]?.length]).toEqual([39, 39]);
    await world.clock.advance(1);
    for (const written of Object.values(times)) {
      expect(written).toHaveLength(40);
      expect(written[19]).toBe(0);
      expect(written.at(-1)).toBeGreaterThanOrEqual(2000);
    }
  });

  test("holds up no stop: a write that waits ends at once [engine X-10]", async () => {
    const written: number[] = [];
    const world = await start([writer("Me", "a", 2, written)], { changeRateLimit: { perSecond: 0.001, burst: 1 } });
    expect(written).toHaveLength(1);
    expect(world.clock.pending).toBe(1);
    await world[Symbol.asyncDispose]();
    expect(written).toHaveLength(1);
    expect(world.value("controller_crashes")).toBe(0);
  });

  test("with a burst of 0 no write ever passes: it fails at once [engine X-10]", async () => {
    const written: number[] = [];
    await using world = await start([writer("Me", "a", 1, written)], { changeRateLimit: { perSecond: 10, burst: 0 } });
    expect(world.value("controller_crashes")).toBe(1);
    await world.clock.advance(100_000);
    expect(written).toEqual([]);
    expect(world.value("controller_writes")).toBe(0);
  });
});

describe("metrics", () => {
  test("that are off count nothing for controllers, cached resources all the same [engine X-16]", async () => {
    const classic = controller({
      name: "Classic",
      outputs: [exclusive(Str)],
      async reconcile({ state }) {
        await state.list(Str);
        throw new Error("broken");
      },
    }) as unknown as Controller;
    const queue = queueController({
      name: "Queue",
      primary: Int,
      reconcile: () => skip("not yet"),
    }) as unknown as QueueController;
    for (const metrics of [true, false]) {
      await using world = await start([classic, queue], { metrics, cache: [Int] });
      await world.state.create(Int.create("a", { value: 1 }));
      await world.clock.settle();
      const counted = Object.entries(world.runtime.metrics.snapshot()).filter(
        ([, labels]) => Object.keys(labels).length > 0,
      );
      expect(counted.map(([name]) => name)).toEqual(
        metrics
          ? [
              "cached_resources",
              "controller_crashes",
              "controller_reads",
              "controller_wakeups",
              "qcontroller_processed",
              "qcontroller_skips",
            ]
          : ["cached_resources"],
      );
      expect(world.runtime.metrics.value("cached_resources", "test/int")).toBe(1);
    }
  });
});
