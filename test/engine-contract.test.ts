import { describe, expect, test } from "vitest";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ManualClock } from "../src/clock/index.ts";
import {
  controller,
  exclusive,
  mapped,
  queueController,
  shared,
  strong,
  weak,
  type ReducedMetadata,
} from "../src/controller/index.ts";
import { silentLogger } from "../src/log/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { createMetadata, isOwnerConflict, type Resource } from "../src/resource/index.ts";
import { Runtime, type RuntimeOptions } from "../src/runtime/index.ts";
import { EventType, wrapState } from "../src/state/index.ts";
import { eventually, InterceptedState, Int, Sentence, Str } from "../src/testing/index.ts";
import { HandWatchedState, startEngine, turns } from "./engine-fixture.ts";

/** Collects garbage, whatever the flags of this process. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
}

describe("what the engine asks of the State", () => {
  test.each<[string, RuntimeOptions]>([
    ["no options", {}],
    ["one option", { cache: [Int] }],
    [
      "all options",
      {
        controllers: [controller({ name: "A", inputs: [weak(Int)], reconcile() {} })],
        cache: [Int],
        changeRateLimit: { perSecond: 200, burst: 50 },
        warnOnUncachedReads: true,
        logger: silentLogger,
        clock: new ManualClock(),
        random: () => 0.5,
      },
    ],
  ])("nothing, when it is built with %s", async (_, options) => {
    const core = new InterceptedState(new MemoryState());
    const runtime = new Runtime(wrapState(core), options);
    await turns();
    expect(runtime.graph()).toBeDefined();
    expect(core.calls).toEqual([]);
  });

  test("one watch for each kind, however many controllers use it", async () => {
    const core = new InterceptedState(new MemoryState());
    const reading = (name: string, ...types: readonly (typeof Int | typeof Str)[]) =>
      controller({ name, inputs: types.map((type) => strong(type)), reconcile() {} });
    await using engine = await startEngine(
      wrapState(core),
      [
        reading("A", Int),
        reading("B", Int, Str),
        reading("C", Str),
        queueController({ name: "D", primary: Int, async reconcile() {} }),
        controller({ name: "E", inputs: [weak(Int, "only-one")], reconcile() {} }),
      ],
      { cache: [Int, Sentence] },
    );
    await turns();
    const watches = core.calls.filter(({ operation }) => operation.startsWith("watch"));
    const opened = watches.map(({ operation, target, options: { bootstrap, bootstrapBookmark } }) => ({
      operation,
      type: target.type,
      bootstrap: bootstrap ?? false,
      bookmark: bootstrapBookmark ?? false,
    }));
    const operation = "watchKindBatches";
    expect(opened.sort((a, b) => (a.type < b.type ? -1 : 1))).toEqual([
      { operation, type: "test/int", bootstrap: true, bookmark: false },
      { operation, type: "test/sentence", bootstrap: true, bookmark: false },
      { operation, type: "test/str", bootstrap: false, bookmark: true },
    ]);
    await engine.stop();
    expect(core.openWatches).toEqual([]);
  });
});

describe("what passes through the pipeline", () => {
  test("a mapper gets the reduced metadata, and nothing else of the resource", async () => {
    const state = new MemoryState();
    const seen: ReducedMetadata[] = [];
    await using engine = await startEngine(state, [
      queueController({
        name: "Q",
        primary: Int,
        inputs: [
          mapped(Str, (input) => {
            seen.push(input);
            return [];
          }),
        ],
        async reconcile() {},
      }),
    ]);
    await turns();
    await state.create(Str.create("x", { value: "secret" }, { labels: { a: "b" }, annotations: { c: "d" } }));
    await turns();
    expect(seen).toEqual([
      { namespace: "default", type: "test/str", id: "x", phase: "running", labels: { a: "b" }, finalizersEmpty: true },
    ]);
    await engine.stop();
  });

  test("a change that nobody has taken yet does not keep its spec in memory", async () => {
    const hand = new HandWatchedState(new MemoryState(), Str);
    await using engine = await startEngine(wrapState(hand), [
      queueController({
        name: "Q",
        primary: Int,
        inputs: [mapped(Str, () => new Promise<never[]>((resolve) => setTimeout(() => resolve([]), 50)))],
        async reconcile() {},
      }),
    ]);
    await turns();
    const specs: WeakRef<object>[] = [];
    const push = (): void => {
      for (let index = 0; index < 100; index++) {
        const resource = Str.create(String(index), { value: "x".repeat(1_000) });
        specs.push(new WeakRef(resource.spec));
        hand.watchOf(Str).push([{ type: EventType.created, resource }]);
      }
    };
    push();
    await turns();
    await eventually(() => {
      collectGarbage();
      expect(specs.filter((spec) => spec.deref() !== undefined).length).toBeLessThan(5);
      expect(engine.metric("qcontroller_queue_length", "Q")).toBeGreaterThan(50);
    });
    await engine.stop();
  });

  test("the engine never looks at a spec", async () => {
    const hand = new HandWatchedState(new MemoryState(), Int, Str);
    let runs = 0;
    const reconciled: string[] = [];
    await using engine = await startEngine(
      wrapState(hand),
      [
        controller({ name: "A", inputs: [weak(Int), weak(Str)], reconcile: () => void runs++ }),
        queueController({
          name: "Q",
          primary: Int,
          inputs: [mapped(Str, ({ id }) => [Int.ref(id)])],
          reconcile: ({ ref }) => void reconciled.push(ref.id),
        }),
      ],
      { cache: [Int] },
    );
    await turns();
    const unreadable = (type: typeof Int | typeof Str, id: string): Resource => ({
      metadata: createMetadata({ ...type.ref(id), version: "1" }),
      get spec(): never {
        throw new Error(`somebody read the spec of ${id}`);
      },
    });
    const ints = hand.watchOf(Int);
    const started = runs;
    ints.push([{ type: EventType.bootstrapped, resource: undefined as never }]);
    ints.push([{ type: EventType.created, resource: unreadable(Int, "a") }]);
    hand.watchOf(Str).push([{ type: EventType.destroyed, resource: unreadable(Str, "b") }]);
    await turns();
    expect(runs).toBe(started + 1);
    expect(reconciled.sort()).toEqual(["a", "b"]);
    await engine.stop();
  });
});

describe("what a controller can reach", () => {
  test("its view of the State offers the operations of a controller and no way to the State itself", async () => {
    const state = new MemoryState();
    const reachable: string[] = [];
    const values: unknown[] = [];
    await using engine = await startEngine(state, [
      controller({
        name: "A",
        inputs: [strong(Int)],
        reconcile({ state: view }) {
          for (
            let level: object | null = view;
            level !== null && level !== Object.prototype;
            level = Object.getPrototypeOf(level)
          ) {
            for (const key of Reflect.ownKeys(level)) {
              if (key === "constructor") continue;
              reachable.push(String(key));
              const value: unknown = Object.getOwnPropertyDescriptor(level, key)?.value;
              if (typeof value !== "function") values.push(value);
            }
          }
        },
      }),
    ]);
    await turns();
    expect([...new Set(reachable)].sort()).toEqual([
      "addFinalizer",
      "create",
      "destroy",
      "get",
      "getOrNull",
      "getUncached",
      "list",
      "listUncached",
      "modify",
      "removeFinalizer",
      "signalWithTeardown",
      "teardown",
      "update",
      "updateWithConflicts",
    ]);
    expect(values).toEqual([]);
    await engine.stop();
  });

  test("of two controllers that share an output type, only the owner of a resource writes it", async () => {
    const state = new MemoryState();
    const errors: unknown[] = [];
    const writer = (name: string) =>
      controller({
        name,
        outputs: [shared(Str)],
        async reconcile({ state: view }) {
          await view.modify(Str, "x", () => ({ value: name })).catch((error: unknown) => errors.push(error));
        },
      });
    await using first = await startEngine(state, [writer("A")]);
    await turns();
    await using engine = await startEngine(state, [writer("A"), writer("B")]);
    await turns();
    expect(errors).toHaveLength(1);
    expect(isOwnerConflict(errors[0])).toBe(true);
    expect(await state.get(Str, "x")).toMatchObject({ metadata: { owner: "A" }, spec: { value: "A" } });
    await engine.stop();
    await first.stop();
  });

  test("two controllers cannot claim the same exclusive output: the second is refused before anything starts", async () => {
    const core = new InterceptedState(new MemoryState());
    const runtime = new Runtime(wrapState(core), { logger: silentLogger });
    const claim = (name: string) => controller({ name, outputs: [exclusive(Str)], reconcile() {} });
    await runtime.register(claim("A"));
    await expect(runtime.register(claim("B"))).rejects.toThrow(/test\/str.*"?A"?/);
    expect(core.calls).toEqual([]);
  });
});
