import { describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import {
  controller,
  exclusive,
  mapped,
  queueController,
  strong,
  type Controller,
  type QueueController,
} from "../src/controller/index.ts";
import { silentLogger } from "../src/log/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { Runtime } from "../src/runtime/index.ts";
import { Int, RecordingLogger, Str } from "../src/testing/index.ts";
import { gate, startEngine } from "./engine-fixture.ts";

const worker = (name: string, notes: string[], finalizer = name): QueueController =>
  queueController({
    name,
    primary: Int,
    inputs: [mapped(Str, () => [])],
    outputs: [exclusive(Str)],
    async reconcile({ ref, state }) {
      notes.push(`${name} ${ref.id}`);
      await state.addFinalizer(ref, finalizer);
      await state.modify(Str, ref.id, () => ({ value: name }));
    },
  }) as QueueController;

async function start(...controllers: readonly (Controller | QueueController)[]) {
  const clock = new ManualClock();
  const state = new MemoryState({ clock });
  const logger = new RecordingLogger();
  const engine = await startEngine(state, controllers, { clock, logger, shutdownGraceMs: 1_000 });
  await clock.settle();
  return { clock, state, engine, logger };
}

describe("a controller that is unregistered", () => {
  test("runs no more, frees its name, inputs and outputs, and leaves its finalizers to whoever takes over", async () => {
    const notes: string[] = [];
    const { clock, state, engine, logger } = await start(worker("Old", notes, "old finalizer"));
    await state.create(Int.create("a", { value: 1 }));
    await state.addFinalizer(Int.ref("a"), "somebody else");
    await state.create(Int.create("b", { value: 1 }));
    await clock.settle();
    const left = await engine.runtime.unregister("Old");
    expect(left).toEqual(
      ["a", "b"].map((id) => ({ finalizer: "old finalizer", pointer: { namespace: "default", type: "test/int", id } })),
    );
    expect(logger.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields)).toEqual([
      expect.objectContaining({ controller: "Old", count: 2 }),
    ]);
    expect(engine.runtime.graph().edges).toEqual([]);
    notes.length = 0;
    await state.modify(Int, "a", () => ({ value: 2 }));
    await clock.settle();
    expect(notes).toEqual([]);
    await engine.runtime.register(worker("New", notes));
    await clock.settle();
    expect(new Set(notes)).toEqual(new Set(["New a", "New b"]));
    await engine.stop();
  });

  test("can be given itself, and be registered again", async () => {
    const notes: string[] = [];
    const me = worker("Me", notes);
    const clock = new ManualClock();
    const state = new MemoryState({ clock });
    await state.create(Int.create("a", { value: 1 }));
    const engine = await startEngine(state, [], { clock });
    await engine.runtime.register(me);
    await clock.settle();
    expect(notes).toContain("Me a");
    await engine.runtime.unregister(me);
    notes.length = 0;
    await engine.runtime.register(me);
    await clock.settle();
    expect(notes).toContain("Me a");
    await engine.stop();
  });

  test("is waited for, and one that does not end in time stays registered and is named", async () => {
    const blocked = gate();
    const slow = controller({
      name: "Slow",
      inputs: [strong(Int)],
      reconcile: () => blocked.opened,
    }) as Controller;
    const { clock, engine } = await start(slow);
    const failed = engine.runtime.unregister("Slow").catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(await failed).toMatchObject({ name: "StopTimeoutError", blockers: ['controller "Slow" (its reconcile)'] });
    expect(engine.runtime.graph().edges).toHaveLength(1);
    await expect(engine.runtime.register(slow)).rejects.toMatchObject({ code: "name_taken" });
    blocked.open();
    await clock.settle();
    expect(await engine.runtime.unregister("Slow")).toEqual([]);
    expect(engine.runtime.graph().edges).toEqual([]);
    await engine.stop();
  });

  test("goes at once when the runtime has not been started", async () => {
    const runtime = new Runtime(new MemoryState(), { controllers: [worker("Me", [])], logger: silentLogger });
    expect(await runtime.unregister("Me")).toEqual([]);
    expect(runtime.graph().edges).toEqual([]);
    await runtime.register(worker("Me", []));
    await runtime[Symbol.asyncDispose]();
  });

  test("that nobody registered is refused by name", async () => {
    const { engine } = await start();
    await expect(engine.runtime.unregister("Ghost")).rejects.toMatchObject({
      code: "unknown_controller",
      controller: "Ghost",
    });
    await engine.stop();
  });
});

describe("a shutdown hook", () => {
  const closing = (hook: NonNullable<QueueController["shutdownHook"]>): QueueController =>
    queueController({
      name: "Me",
      primary: Int,
      outputs: [exclusive(Str)],
      reconcile() {},
      shutdownHook: hook,
    }) as QueueController;

  test.each(["stop", "unregister"] as const)("can still read and write (%s)", async (how) => {
    const { clock, state, engine } = await start(
      closing(async ({ state: view, signal }) => {
        const ints = await view.list(Int as never);
        await view.modify(Str as never, "last words", () => ({ value: `${ints.length} ${signal.aborted}` }) as never);
        for (const { metadata } of ints) await view.removeFinalizer(metadata as never, "Me");
      }),
    );
    await state.create(Int.create("a", { value: 1 }));
    await state.addFinalizer(Int.ref("a"), "Me");
    await clock.settle();
    if (how === "stop") await engine.stop();
    else await engine.runtime.unregister("Me");
    await engine.stop();
    expect((await state.get(Str, "last words")).spec).toEqual({ value: "1 false" });
    expect((await state.get(Int, "a")).metadata.finalizers).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("is asked to stop at the end of the grace time", async () => {
    const { clock, engine } = await start(
      closing(({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve()))),
    );
    engine.abort();
    await clock.advance(999);
    await clock.advance(1);
    await engine.ended.catch(() => undefined);
    expect(clock.pending).toBe(0);
  });

  test("can do nothing that was not declared", async () => {
    const refusals: unknown[] = [];
    const { engine } = await start(
      closing(async ({ state: view }) => {
        await view.modify(Int as never, "a", () => undefined).catch((error: unknown) => refusals.push(error));
      }),
    );
    await engine.stop();
    expect(refusals).toEqual([expect.objectContaining({ code: "undeclared_write" })]);
  });
});
