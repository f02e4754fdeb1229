import { describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import { controller, exclusive, queueController, skip, weak } from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { Int, Sentence, Str } from "../src/testing/index.ts";
import { gate, startEngine, turns } from "./engine-fixture.ts";

/** An engine under a manual clock with one queue controller on Int, which does what `reconcile` says. */
async function start(reconcile: (id: string) => unknown) {
  const clock = new ManualClock();
  const state = new MemoryState({ clock });
  const me = queueController({
    name: "Me",
    primary: Int,
    outputs: [exclusive(Str)],
    reconcile: ({ ref }) => reconcile(ref.id) as Promise<void>,
  });
  const engine = await startEngine(state, [me as never], { clock, random: () => 0.5 });
  await turns();
  return { clock, state, engine };
}

describe("explain", () => {
  test("a resource that does not exist: who would write it", async () => {
    const { engine } = await start(() => undefined);
    expect(await engine.runtime.explain(Str.ref("x"))).toMatchObject({
      pointer: { namespace: "default", type: "test/str", id: "x" },
      metadata: undefined,
      writers: ["Me"],
      controllers: [{ controller: "Me", form: "queue", state: "idle", outcomes: [] }],
      reasons: ["the resource does not exist; its type is written by Me"],
    });
    expect((await engine.runtime.explain(Sentence.ref("x"))).reasons).toEqual([
      "the resource does not exist; no controller writes its type",
    ]);
    await engine.stop();
    expect((await engine.runtime.explain(Str.ref("x"))).reasons).toContain("the runtime has stopped");
  });

  test("one that is as it should be: no reasons, and how the last runs went", async () => {
    const { engine, state, clock } = await start(() => undefined);
    await state.create(Int.create("x", { value: 1 }));
    await turns();
    await clock.advance(1000);
    await state.updateWithConflicts(Int, "x", () => ({ value: 2 }));
    await turns();
    const explained = await engine.runtime.explain(Int.ref("x"));
    expect(explained.reasons).toEqual([]);
    expect(explained.metadata).toMatchObject({ version: "2" });
    expect(explained.controllers).toMatchObject([
      {
        state: "idle",
        outcomes: [
          { kind: "done", tookMs: 0 },
          { kind: "done", atMs: clock.now() },
        ],
      },
    ]);
    await engine.stop();
  });

  test("one that fails: the error, and when it is tried again", async () => {
    const { engine, state, clock } = await start(() => {
      throw new Error("no connection");
    });
    await state.create(Int.create("x", { value: 1 }));
    await turns();
    await clock.advance(100);
    const { controllers, reasons } = await engine.runtime.explain(Int.ref("x"));
    expect(reasons).toEqual(["Me failed: no connection; next attempt in 400 ms"]);
    expect(controllers).toMatchObject([
      {
        state: "backoff",
        dueInMs: 400,
        lastError: new Error("no connection"),
        outcomes: [{ kind: "failed", reason: "no connection", againAfterMs: 500 }],
      },
    ]);
    await engine.stop();
  });

  test("one that is skipped, one that is at work and changed meanwhile", async () => {
    const busy = gate();
    const { engine, state } = await start((id) => (id === "busy" ? busy.opened : skip("its parent is not ready")));
    await state.create(Int.create("x", { value: 1 }));
    await turns();
    expect((await engine.runtime.explain(Int.ref("x"))).reasons).toEqual(["Me skipped it: its parent is not ready"]);
    await state.create(Int.create("busy", { value: 1 }));
    await turns();
    await state.updateWithConflicts(Int, "busy", () => ({ value: 2 }));
    await turns();
    const { controllers, reasons } = await engine.runtime.explain(Int.ref("busy"));
    expect(controllers).toMatchObject([{ state: "running", changedMeanwhile: true }]);
    expect(reasons).toEqual(["Me is at work"]);
    busy.open();
    await engine.stop();
  });

  test("one that is torn down: what it waits for", async () => {
    const { engine, state } = await start(() => undefined);
    await state.create(Int.create("x", { value: 1 }, { finalizers: ["disk", "net"] }));
    await state.teardown(Int.ref("x"));
    await turns();
    expect((await engine.runtime.explain(Int.ref("x"))).reasons).toEqual([
      "it is tearing down and waits for its finalizers: disk, net",
    ]);
    await state.removeFinalizer(Int.ref("x"), "disk", "net");
    await turns();
    expect((await engine.runtime.explain(Int.ref("x"))).reasons).toEqual([
      "it is torn down and waits to be destroyed by the caller that tore it down",
    ]);
    await engine.stop();
  });

  test("classic controllers: idle, failing, over for good", async () => {
    const clock = new ManualClock();
    const state = new MemoryState({ clock });
    const controllers = [
      controller({ name: "Idle", inputs: [weak(Int)], reconcile() {} }),
      controller({
        name: "Failing",
        inputs: [weak(Int)],
        reconcile() {
          throw new Error("no connection");
        },
      }),
      controller({ name: "Over", inputs: [weak(Int)], async run() {} }),
    ];
    const engine = await startEngine(state, controllers as never, { clock, random: () => 0.5 });
    await turns();
    await state.create(Int.create("x", { value: 1 }));
    await turns();
    const explained = await engine.runtime.explain(Int.ref("x"));
    expect(explained.controllers).toMatchObject([
      { controller: "Idle", form: "classic", state: "idle", outcomes: [{ kind: "done" }, { kind: "done" }] },
      {
        controller: "Failing",
        state: "backoff",
        dueInMs: 500,
        outcomes: [{ kind: "failed", reason: "no connection" }],
      },
      { controller: "Over", state: "ended" },
    ]);
    expect(explained.reasons).toEqual([
      "Failing failed: no connection; next attempt in 500 ms",
      "Over has ended for good",
    ]);
    await engine.stop();
  });
});
