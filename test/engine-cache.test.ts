import { describe, expect, test } from "vitest";
import { controller, exclusive, mapped, queueController, strong, weak } from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { isNotFound, type Resource, createTombstone } from "../src/resource/index.ts";
import { EventType, WrappedState, wrapState, type CoreState } from "../src/state/index.ts";
import { eventually, InterceptedState, Int, stateConformance, Str, type IntSpec } from "../src/testing/index.ts";
import { HandWatchedState, startEngine, turns, type Engine } from "./engine-fixture.ts";

/** The cached view of a running engine, which stops when the view is disposed. */
class CachedView extends WrappedState {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    super(engine.runtime.cachedState());
    this.#engine = engine;
  }

  override [Symbol.asyncDispose](): Promise<void> {
    return this.#engine.stop();
  }
}

const cachedInts = Int.in("cached");
const newView = async (core: CoreState = new MemoryState()): Promise<CachedView> =>
  new CachedView(await startEngine(wrapState(core), [], { cache: [cachedInts] }));

describe("the cached state on a namespace that is not cached [engine T-17]", () => {
  stateConformance(
    { test },
    { newState: () => newView(), namespaces: ["uncached", "uncached-2", "uncached-3", "uncached-4"] },
  );
});

describe("the cached state on a cached kind", () => {
  test("shows what is created and destroyed through it [engine T-17]", async () => {
    await using view = await newView();
    const known = { timeoutMs: 1_000, intervalMs: 1 };
    await expect(view.get(cachedInts, "one")).rejects.toSatisfy(isNotFound);
    expect(await view.list(cachedInts)).toHaveLength(0);
    await view.create(cachedInts.create("one", { value: 1 }));
    await eventually(() => view.get(cachedInts, "one"), known);
    expect(await view.list(cachedInts)).toHaveLength(1);
    await view.destroy(cachedInts.ref("one"));
    await eventually(() => expect(view.get(cachedInts, "one")).rejects.toSatisfy(isNotFound), known);
  });

  test("reads nothing from the State behind it", async () => {
    const core = new InterceptedState(new MemoryState());
    await using view = await newView(core);
    await view.create(cachedInts.create("one", { value: 1 }));
    await eventually(() => view.get(cachedInts, "one"));
    await view.list(cachedInts);
    expect(core.calls.map(({ operation }) => operation)).toEqual(["watchKindBatches", "create"]);
    await view.list(Int);
    expect(core.calls.at(-1)).toMatchObject({ operation: "list", target: { namespace: "default" } });
  });

  test("a conflict on it is resolved, although its reads lag behind", async () => {
    const remote = new InterceptedState(new MemoryState(), { remote: true });
    await using view = await newView(remote);
    await view.create(cachedInts.create("one", { value: 0 }));
    await eventually(() => view.get(cachedInts, "one"));
    for (let round = 0; round < 100; round++) {
      await view.updateWithConflicts(cachedInts.ref("one"), (spec) => ({ value: (spec as IntSpec).value + 1 }));
    }
    await eventually(async () => expect((await view.get(cachedInts, "one")).spec.value).toBe(100));
  });
});

describe("cached reads of controllers", () => {
  test("a write through what was read throws, and the next read is unaffected [engine X-11]", async () => {
    const state = new MemoryState();
    await state.create(Int.create("one", { value: 1 }, { labels: { a: "b" } }));
    const thrown: unknown[] = [];
    const seen: unknown[] = [];
    await using engine = await startEngine(
      state,
      [
        controller({
          name: "Vandal",
          inputs: [strong(Int)],
          async reconcile({ state: view }) {
            for (const read of [() => view.get(Int, "one"), async () => (await view.list(Int))[0]]) {
              const int = (await read()) as unknown as {
                spec: IntSpec;
                metadata: { labels: Record<string, string>; finalizers: string[] };
              };
              for (const vandalise of [
                () => (int.spec.value = 2),
                () => (int.spec = { value: 2 }),
                () => (int.metadata.labels["a"] = "c"),
                () => int.metadata.finalizers.push("mine"),
                () => (int.metadata = { labels: {}, finalizers: [] }),
              ]) {
                try {
                  vandalise();
                } catch (error) {
                  thrown.push(error);
                }
              }
            }
            const list = await view.list(Int);
            expect(() => (list as unknown as Resource[]).push(Int.create("two", { value: 2 }))).toThrow(TypeError);
            seen.push(await view.get(Int, "one"), (await view.list(Int))[0]);
          },
        }),
      ],
      { cache: [Int] },
    );
    const stored = await state.get(Int, "one");
    await eventually(() => expect(seen).toHaveLength(2));
    expect(thrown).toHaveLength(10);
    expect(thrown.every((error) => error instanceof TypeError)).toBe(true);
    expect(stored).toMatchObject({ spec: { value: 1 }, metadata: { labels: { a: "b" }, finalizers: [] } });
    expect(seen).toEqual([stored, stored]);
    await engine.stop();
  });

  test.each([false, true])(
    "who was woken by a change finds it in the cache (in another process: %s) [engine X-12]",
    async (remote) => {
      const rounds = 10_000;
      const memory = new MemoryState();
      const stale: string[] = [];
      let last = 0;
      await using engine = await startEngine(
        wrapState(new InterceptedState(memory, { remote })),
        [
          queueController({
            name: "Q",
            primary: Int,
            inputs: [mapped(Str)],
            async reconcile() {},
            async mapInput({ input, state: view }) {
              // The labels come with the change that woke the controller; the rest is read from the cache.
              const woken = Number(input.labels["round"]);
              const read = Number((await view.get(Str, input.id)).spec.value);
              if (read < woken) stale.push(`woken by ${woken}, read ${read}`);
              last = read;
              return [];
            },
          }),
        ],
        { cache: [Str] },
      );
      await memory.create(Str.create("x", { value: "0" }, { labels: { round: "0" } }));
      for (let round = 1; round <= rounds; round++) {
        await memory.updateWithConflicts(Str.ref("x"), (_, metadata) => {
          metadata.labels["round"] = String(round);
          return { value: String(round) };
        });
        // Now and then the controller gets its turn, at another point of the pipeline each time.
        if (round % 3 === 0) await turns(round % 2);
      }
      await eventually(() => expect(last).toBe(rounds));
      expect(stale).toEqual([]);
      expect(engine.metric("qcontroller_mapped_in", "Q")).toBeGreaterThan(1_000);
      await engine.stop();
    },
  );

  test("the first read waits until the cache knows all that was there at the start", async () => {
    const hand = new HandWatchedState(new MemoryState(), Int);
    const lists: string[][] = [];
    await using engine = await startEngine(
      wrapState(hand),
      [
        controller({
          name: "A",
          inputs: [strong(Int)],
          async reconcile({ state: view }) {
            lists.push((await view.list(Int)).map(({ metadata }) => metadata.id));
          },
        }),
      ],
      { cache: [Int] },
    );
    await turns();
    const watch = hand.watchOf(Int);
    for (const id of ["b", "a"]) {
      watch.push([{ type: EventType.created, resource: Int.create(id, { value: 1 }) }]);
      await turns();
      expect(lists).toEqual([]);
    }
    watch.push([{ type: EventType.bootstrapped, resource: createTombstone({ ...Int.ref("") }) }]);
    await turns();
    expect(lists).toEqual([["a", "b"]]);
    await engine.stop();
  });

  test("an uncached read of a cached kind is one read of the State", async () => {
    const core = new InterceptedState(new MemoryState());
    let reads: string[] = [];
    await using engine = await startEngine(
      wrapState(core),
      [
        controller({
          name: "A",
          inputs: [strong(Int)],
          async reconcile({ state: view }) {
            await view.list(Int);
            const before = core.calls.length;
            await view.listUncached(Int);
            await expect(view.getUncached(Int, "none")).rejects.toSatisfy(isNotFound);
            reads = core.calls.slice(before).map(({ operation }) => operation);
          },
        }),
      ],
      { cache: [Int] },
    );
    await eventually(() => expect(reads).toEqual(["list", "get"]));
    expect(engine.metric("controller_reads", "A")).toBe(2);
    await engine.stop();
  });

  test("a teardown signal of a cached kind comes from the cache: after own writes, without a watch, ended by its parent", async () => {
    // The cache lags behind, so that own writes have to be waited for.
    const core = new InterceptedState(new MemoryState(), { deliver: () => turns(3) });
    const seen: Record<string, AbortSignal> = {};
    const parent = new AbortController();
    let watches = -1;
    await using engine = await startEngine(
      wrapState(core),
      [
        controller({
          name: "A",
          inputs: [weak(Int)],
          outputs: [exclusive(Int)],
          async run({ state: view }) {
            const before = core.calls.length;
            for (const id of ["torn down", "destroyed", "kept", "with a parent"]) {
              await view.create(Int.create(id, { value: 1 }));
              const options = id === "with a parent" ? { signal: parent.signal } : undefined;
              seen[id] = (await view.signalWithTeardown(Int.ref(id), options)).signal;
            }
            seen["missing"] = (await view.signalWithTeardown(Int.ref("missing"))).signal;
            const released = await view.signalWithTeardown(Int.ref("torn down"));
            await released[Symbol.asyncDispose]();
            seen["let go"] = released.signal;
            watches = core.calls.slice(before).filter(({ operation }) => operation.startsWith("watch")).length;
          },
        }),
      ],
      { cache: [Int] },
    );
    const aborted = () => Object.keys(seen).filter((id) => seen[id]?.aborted === true);
    await eventually(() => expect(watches).toBe(0));
    expect(aborted()).toEqual(["missing"]);
    const state = wrapState(core);
    await state.teardown(Int.ref("torn down"), { owner: "A" });
    await eventually(() => expect(aborted()).toEqual(["torn down", "missing"]));
    await state.destroy(Int.ref("destroyed"), { owner: "A" });
    await eventually(() => expect(aborted()).toEqual(["torn down", "destroyed", "missing"]));
    parent.abort("enough");
    expect(seen["with a parent"]?.reason).toBe("enough");
    expect(String(seen["destroyed"]?.reason)).toContain("test/int(default/destroyed) is torn down or gone");
    expect(seen["kept"]?.aborted).toBe(false);
    await engine.stop();
  });
});
