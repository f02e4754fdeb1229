import { describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import { controller, queueController, weak, type Controller } from "../src/controller/index.ts";
import { silentLogger, type Logger } from "../src/log/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import type { Kind } from "../src/resource/index.ts";
import { Runtime } from "../src/runtime/index.ts";
import { wrapState, type Event, type Watch, type WatchKindOptions } from "../src/state/index.ts";
import { DeafState, InterceptedState, Int, RecordingLogger, Str } from "../src/testing/index.ts";
import { gate, HandWatchedState, startEngine, turns } from "./engine-fixture.ts";

const idle = (name: string, ...inputs: Controller["inputs"] & object): Controller => ({ name, inputs, reconcile() {} });

describe("starting", () => {
  test("construction and registration do not touch the State", async () => {
    const state = new InterceptedState(new MemoryState());
    const runtime = new Runtime(state, { controllers: [idle("A", weak(Int))], cache: [Str], logger: silentLogger });
    await runtime.register(idle("B", weak(Str)));
    runtime.graph();
    expect(state.calls).toEqual([]);
  });

  test("under a signal that has aborted starts nothing, and is a clean stop", async () => {
    const state = new InterceptedState(new MemoryState());
    const runtime = new Runtime(state, { controllers: [idle("A", weak(Int))], logger: silentLogger });
    await runtime.run({ signal: AbortSignal.abort() });
    expect(state.calls).toEqual([]);
    await expect(runtime.register(idle("B"))).rejects.toMatchObject({ code: "stopped" });
  });

  test("fails with the error of a watch that cannot be opened, and starts nothing", async () => {
    const failure = new Error("no such kind");
    const memory = new MemoryState();
    class Broken extends InterceptedState {
      override watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
        return kind.type === Str.type ? Promise.reject(failure) : super.watchKindBatches(kind, options);
      }
    }
    const state = new Broken(memory);
    let started = false;
    const me = controller({
      name: "Me",
      inputs: [weak(Int), weak(Str)],
      async run() {
        started = true;
      },
    });
    const runtime = new Runtime(wrapState(state), { controllers: [me as never], logger: silentLogger });
    await expect(runtime.run()).rejects.toBe(failure);
    expect(started).toBe(false);
    expect(state.openWatches).toEqual([]);
  });

  test("that is aborted while a watch is being opened ends cleanly, and closes the late watch", async () => {
    const opening = gate();
    class Slow extends InterceptedState {
      override async watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
        await opening.opened;
        // a State that does not look at the signal
        return super.watchKindBatches(kind, { ...options, signal: undefined });
      }
    }
    const state = new Slow(new MemoryState());
    const engine = await startEngine(wrapState(state), [idle("A", weak(Int))]);
    await turns();
    engine.abort();
    opening.open();
    await engine.ended;
    expect(state.openWatches).toEqual([]);
  });

  test.each([
    { shutdownGraceMs: -1 },
    { shutdownGraceMs: Number.NaN },
    { yieldEvery: 0 },
    { yieldEvery: 1.5 },
    { changeRateLimit: { perSecond: 0, burst: 1 } },
    { changeRateLimit: { perSecond: 1, burst: -1 } },
  ])("refuses %o", (options) => {
    expect(() => new Runtime(new MemoryState(), options)).toThrow(RangeError);
  });
});

describe("failing", () => {
  test("a watch that ends by itself ends the engine", async () => {
    const state = new HandWatchedState(new MemoryState(), Int);
    await using engine = await startEngine(wrapState(state), [idle("A", weak(Int))]);
    await turns();
    await state.watchOf(Int).return();
    await expect(engine.ended).rejects.toThrow(
      /^controller runtime watch error: the watch of test\/int in "default" ended/,
    );
  });

  test("a logger that throws ends the engine with its error, not the process", async () => {
    const broken: Logger = {
      ...silentLogger,
      child: () => broken,
      debug() {
        throw new Error("disk full");
      },
    };
    await using engine = await startEngine(new MemoryState(), [idle("A", weak(Int))], { logger: broken });
    await expect(engine.ended).rejects.toThrow("disk full");
  });
});

describe("a logger that throws, under a queue controller", () => {
  const broken = (level: "info" | "error"): Logger => {
    const logger: Logger = { ...silentLogger, child: () => logger };
    return Object.assign(logger, {
      [level]() {
        throw new Error("disk full");
      },
    });
  };
  const fail = () => {
    throw new Error("no");
  };
  const done = () => undefined;

  test.each([
    { when: "a run ends at once", level: "info", parts: { reconcile: done } },
    { when: "a run ends later", level: "info", parts: { reconcile: () => turns(1) } },
    { when: "a run fails", level: "error", parts: { reconcile: fail } },
    { when: "its hook fails", level: "error", parts: { reconcile: done, runHook: async () => fail() } },
    { when: "its first list fails", level: "error", parts: { reconcile: done }, list: fail },
  ] as const)("ends the engine with its error when $when, and waits for the workers", async (row) => {
    const memory = new MemoryState();
    await memory.create(Int.create("x", { value: 1 }));
    const state = new InterceptedState(memory, {
      before: ({ operation }) => (operation === "list" && "list" in row ? row.list() : undefined),
    });
    const me = queueController({ name: "Q", primary: Int, ...row.parts });
    await using engine = await startEngine(wrapState(state), [me as never], { logger: broken(row.level) });
    await expect(engine.ended).rejects.toThrow("disk full");
    expect(state.openWatches).toEqual([]);
  });
});

describe("stopping", () => {
  test("names also what the State owes those who have ended, when others have not", async () => {
    const log = new RecordingLogger();
    const clock = new ManualClock();
    const busy = gate();
    const stubborn = controller({ name: "Stubborn", inputs: [weak(Int)], reconcile: () => busy.opened });
    const obedient = queueController({
      name: "Obedient",
      primary: Int,
      async reconcile({ ref, state, signal }) {
        await using going = await state.signalWithTeardown(ref, { signal });
        going.signal.throwIfAborted();
      },
    });
    const memory = new MemoryState({ clock });
    await memory.create(Int.create("x", { value: 1 }));
    const deaf = new DeafState(memory, [{ operation: "watch", call: 1, fault: "never", lateMs: 0 }], { clock });
    const controllers = [stubborn, obedient as never];
    const engine = await startEngine(wrapState(deaf), controllers, { clock, logger: log, shutdownGraceMs: 1000 });
    await turns();
    engine.abort();
    await clock.advance(1000);
    await expect(engine.ended).rejects.toThrow('controller "Stubborn" (its reconcile)');
    expect(log.lines.find(({ message }) => message === "the runtime did not stop in time")?.fields).toMatchObject({
      calls: [expect.stringContaining("watch of test/int(default/x)")],
    });
    busy.open();
    deaf.recover();
    await turns();
  });

  test("names those who do not stop when the grace time is over, and ends", async () => {
    const log = new RecordingLogger();
    const clock = new ManualClock();
    const busy = gate();
    const stubborn = queueController({ name: "Stubborn", primary: Int, reconcile: () => busy.opened });
    const state = new MemoryState({ clock });
    await state.create(Int.create("x", { value: 1 }));
    const engine = await startEngine(state, [idle("Quick", weak(Int)), stubborn as never], {
      clock,
      logger: log,
      shutdownGraceMs: 5000,
    });
    await turns();
    engine.abort();
    await clock.advance(4999);
    const errors = () => log.lines.filter(({ level }) => level === "error");
    expect(errors()).toEqual([]);
    await clock.advance(1);
    const blockers = ['controller "Stubborn" (reconcile of test/int(default/x))'];
    expect(errors()).toMatchObject([{ message: "the runtime did not stop in time", fields: { blockers } }]);
    await expect(engine.ended).rejects.toMatchObject({ name: "StopTimeoutError", blockers });
    expect(clock.pending).toBe(0);
    busy.open();
    await turns();
  });

  test("a runtime that was never started can be disposed of", async () => {
    const runtime = new Runtime(new MemoryState(), { controllers: [idle("A", weak(Int))], logger: silentLogger });
    await runtime[Symbol.asyncDispose]();
    await expect(runtime.run()).rejects.toThrow(/was disposed/);
    await expect(runtime.register(idle("B"))).rejects.toMatchObject({ code: "stopped" });
  });

  test("disposal stops a running one, and leaves its failure to run()", async () => {
    const state = new HandWatchedState(new MemoryState(), Int);
    const runtime = new Runtime(wrapState(state), { controllers: [idle("A", weak(Int))], logger: silentLogger });
    const running = runtime.run();
    running.catch(() => undefined);
    await turns();
    state.watchOf(Int).push([{ type: "Errored", error: new Error("lost") }]);
    await turns();
    await runtime[Symbol.asyncDispose]();
    await runtime[Symbol.asyncDispose]();
    await expect(running).rejects.toThrow("controller runtime watch error: lost");
  });

  test("a registration that is under way when the runtime stops is refused, and leaves nothing", async () => {
    const opening = gate();
    class Slow extends InterceptedState {
      override async watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
        await opening.opened;
        return super.watchKindBatches(kind, { ...options, signal: undefined });
      }
    }
    const state = new Slow(new MemoryState());
    const engine = await startEngine(wrapState(state), []);
    await turns();
    const registering = engine.runtime.register(idle("Late", weak(Int)));
    registering.catch(() => undefined);
    await turns();
    await engine.stop();
    opening.open();
    await expect(registering).rejects.toMatchObject({ code: "stopped" });
    await turns();
    expect(engine.runtime.graph().edges).toEqual([]);
    expect(state.openWatches).toEqual([]);
  });

  test("what ends at the stop makes no room for the next key", async () => {
    const state = new MemoryState();
    const started: string[] = [];
    const slow = queueController({
      name: "Slow",
      primary: Int,
      reconcile: ({ ref, signal }) => {
        started.push(ref.id);
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      },
    });
    const engine = await startEngine(state, [slow]);
    for (const id of ["a", "b"]) await state.create(Int.create(id, { value: 1 }));
    await turns();
    await engine.stop();
    expect(started).toEqual(["a"]);
  });
});
