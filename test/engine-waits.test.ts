import { describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import { controller, queueController, shared, weak, type Controller } from "../src/controller/index.ts";
import { silentLogger } from "../src/log/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import type { Kind } from "../src/resource/index.ts";
import { Runtime } from "../src/runtime/index.ts";
import { NamespaceRouter, wrapState, type Event, type Watch, type WatchKindOptions } from "../src/state/index.ts";
import { InterceptedState, Int, RecordingLogger, Str, type IntSpec } from "../src/testing/index.ts";
import { gate, startEngine, turns } from "./engine-fixture.ts";

const idle = (name: string, ...inputs: Controller["inputs"] & object): Controller => ({ name, inputs, reconcile() {} });

/** A store whose watches of some namespaces never open; it does not even look at the signal, or only at that. */
class DeafStore extends InterceptedState {
  heedsSignal = true;
  readonly late = gate();

  override async watchKindBatches(kind: Kind, options: WatchKindOptions = {}): Promise<Watch<readonly Event[]>> {
    if (kind.namespace !== "far") return super.watchKindBatches(kind, options);
    const { signal } = options;
    if (!this.heedsSignal) {
      await this.late.opened;
      return super.watchKindBatches(kind, { ...options, signal: undefined });
    }
    return new Promise((_, reject) => {
      if (signal?.aborted === true) reject(signal.reason);
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }
}

const far = Int.in("far");

describe("a watch that does not open", () => {
  test.each([true, false])("is given up at the stop (the State heeds the signal: %s)", async (heedsSignal) => {
    const log = new RecordingLogger();
    const store = new DeafStore(new MemoryState());
    store.heedsSignal = heedsSignal;
    const engine = await startEngine(wrapState(store), [idle("A", weak(far))], { logger: log });
    await turns();
    await engine.stop();
    const warnings = log.lines.filter(({ level }) => level === "warn").map(({ message, fields }) => [message, fields]);
    const calls = ['the watch of test/int in "far" (opening)'];
    expect(warnings).toMatchObject(heedsSignal ? [] : [["the State does not answer", { calls }]]);
    store.late.open();
    await turns();
    expect(store.openWatches).toEqual([]);
  });

  test("holds up neither other registrations nor the inputs of other controllers", async () => {
    const good = new MemoryState();
    const store = new DeafStore(new NamespaceRouter(() => good));
    const seen: string[] = [];
    await using engine = await startEngine(wrapState(store), [
      controller({
        name: "Changing",
        dynamicInputs: [Str],
        async reconcile({ updateInputs }) {
          await updateInputs([weak(Str)]);
          seen.push("updated");
        },
      }),
    ]);
    const hanging = engine.runtime.register(idle("Far", weak(far)));
    hanging.catch(() => undefined);
    await engine.runtime.register(idle("Near", weak(Int)));
    await turns();
    expect(seen).toEqual(["updated"]);
    // It is registered; the name is taken until its watch opens or fails.
    await expect(engine.runtime.register(idle("Far", weak(Int)))).rejects.toMatchObject({ code: "name_taken" });
    await engine.stop();
    await expect(hanging).rejects.toMatchObject({ code: "stopped" });
    expect(engine.runtime.graph().edges.map(({ controller: name }) => name)).not.toContain("Far");
  });

  test("fails all that wait for it, and is opened anew by the next", async () => {
    let opening = gate();
    let failure: Error | undefined = new Error("refused");
    class Refusing extends InterceptedState {
      override async watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
        await opening.opened;
        if (failure !== undefined && kind.type === Int.type) throw failure;
        return super.watchKindBatches(kind, options);
      }
    }
    const store = new Refusing(new MemoryState());
    await using engine = await startEngine(wrapState(store), []);
    const failing = [idle("A", weak(Int), weak(Str)), idle("B", weak(Int))].map((one) => engine.runtime.register(one));
    const other = engine.runtime.register(idle("C", weak(Str)));
    opening.open();
    for (const one of await Promise.allSettled(failing)) {
      expect(one).toMatchObject({ status: "rejected", reason: { code: "watch_failed", cause: failure } });
    }
    await other;
    // What another one needs as well stays open.
    expect(store.openWatches.map(({ target }) => target.type)).toEqual([Str.type]);
    failure = undefined;
    opening = gate();
    opening.open();
    await engine.runtime.register(idle("A", weak(Int)));
    expect(store.openWatches).toHaveLength(2);
    await engine.stop();
    expect(store.openWatches).toEqual([]);
  });

  test("is logged after a while, and so is a cache that is not filled", async () => {
    const clock = new ManualClock();
    const log = new RecordingLogger();
    const store = new DeafStore(new MemoryState());
    await using engine = await startEngine(wrapState(store), [idle("A", weak(far))], {
      clock,
      logger: log,
      cache: [Str],
    });
    await clock.advance(10_000);
    expect(log.lines.filter(({ level }) => level === "warn")).toMatchObject([
      { message: "a watch is not open yet", fields: { namespace: "far", type: Int.type } },
    ]);
    await engine.stop();
    expect(clock.pending).toBe(0);
  });
});

describe("updateInputs", () => {
  test("of a later call wins over one whose watch opens later", async () => {
    const late = gate();
    class Slow extends InterceptedState {
      override async watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
        if (kind.namespace === "slow") await late.opened;
        return super.watchKindBatches(kind, options);
      }
    }
    const results: unknown[] = [];
    await using engine = await startEngine(wrapState(new Slow(new MemoryState())), [
      controller({
        name: "A",
        dynamicInputs: [Int],
        async reconcile({ updateInputs }) {
          const first = updateInputs([weak(Int.in("slow"))]);
          await updateInputs([weak(Int)]);
          late.open();
          results.push(await first.then(String, (error: Error) => error.message));
        },
      }),
    ]);
    await turns();
    expect(results).toEqual(['the inputs of controller "A" were replaced by a later updateInputs']);
    expect(engine.runtime.graph().edges.map(({ namespace }) => namespace)).toEqual(["default"]);
    await engine.stop();
  });
});

describe("a State that ends under a runtime", () => {
  test.each(["synchronous", "iterated"])("ends the runtime with its reason (%s watches)", async (form) => {
    const memory = new MemoryState();
    const state = new InterceptedState(memory, { remote: form === "iterated" });
    await using engine = await startEngine(wrapState(state), [idle("A", weak(Int))], { cache: [Str] });
    await turns();
    await memory[Symbol.asyncDispose]();
    await expect(engine.ended).rejects.toThrow(
      /^controller runtime watch error: the watch of test\/\w+ in "default" ended$/,
    );
    const cached = wrapState(engine.runtime.cachedState());
    await expect(cached.get(Str, "a")).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("the cached State of a runtime that has stopped", () => {
  test("is unavailable: it reads nothing old, and modifies nothing for ever", async () => {
    const state = new MemoryState();
    await state.create(Int.create("a", { value: 0 }));
    await using engine = await startEngine(state, [], { cache: [Int] });
    const cached = wrapState(engine.runtime.cachedState());
    expect((await cached.get(Int, "a")).spec.value).toBe(0);
    await engine.stop();
    await state.modify(Int, "a", () => ({ value: 5 }));
    let attempts = 0;
    const change = (): IntSpec => ({ value: ++attempts });
    await expect(cached.get(Int, "a")).rejects.toMatchObject({ code: "unavailable" });
    await expect(cached.list(Int)).rejects.toMatchObject({ code: "unavailable" });
    await expect(cached.modify(Int, "a", change)).rejects.toMatchObject({ code: "unavailable" });
    expect(attempts).toBe(0);
    // Kinds that are not cached are the State's own business.
    expect(await cached.list(Str)).toEqual(Object.assign([], { revision: 0 }));
  });

  test("ends the reads that wait, also of a runtime that never ran", async () => {
    await using engine = await startEngine(new MemoryState(), [], { cache: [Int] });
    await engine.stop();
    const runtime = new Runtime(new MemoryState(), { cache: [Int], logger: silentLogger });
    const waiting = wrapState(runtime.cachedState()).get(Int, "a");
    await runtime[Symbol.asyncDispose]();
    await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("a read of what the controller itself wrote", () => {
  test("does not wait for an event that a resync swallowed", async () => {
    const memory = new MemoryState({ history: { maxCapacity: 8 } });
    // Another one creates it anew at once, in a burst that the slow watch cannot follow.
    class Contested extends InterceptedState {
      override async destroy(...args: Parameters<MemoryState["destroy"]>): Promise<void> {
        // The watch has taken this, and is not back for what comes next.
        await memory.create(Str.create("busy", { value: "" }), { owner: "Q" });
        await turns(1);
        await super.destroy(...args);
        for (let i = 0; i < 50; i++) {
          await memory.create(Str.create(i === 0 ? "o" : `z${i}`, { value: "9" }), { owner: "Q" });
        }
      }
    }
    await memory.create(Str.create("o", { value: "1" }), { owner: "Q" });
    const read: unknown[] = [];
    await using engine = await startEngine(
      wrapState(new Contested(memory, { remote: true, deliver: () => turns(3) })),
      [
        queueController({
          name: "Q",
          primary: Int,
          outputs: [shared(Str)],
          async reconcile({ state }) {
            await state.destroy(Str.ref("o"));
            read.push((await state.getOrNull(Str, "o"))?.spec);
            read.push((await state.list(Str)).length);
          },
        }) as never,
      ],
      { cache: [Str] },
    );
    await turns();
    await memory.create(Int.create("a", { value: 0 }));
    await turns(100);
    expect(read).toEqual([{ value: "9" }, 51]);
    await engine.stop();
  });
});
