import { describe, expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import { queueController, SkipError } from "../../controller/index.ts";
import { silentLogger } from "../../log/index.ts";
import { MemoryState } from "../../memory/index.ts";
import { defineResource, isNotFound, shape } from "../../resource/index.ts";
import { MetricsRegistry, Runtime } from "../../runtime/index.ts";
import { wrapState, type State } from "../../state/index.ts";
import { EngineState } from "./engine-state.ts";
import {
  ENGINE_NAMESPACE,
  EngineController,
  EngineExplanation,
  explanationId,
  isEngineKind,
  parseExplanationId,
} from "./engine-types.ts";
import { MountedState } from "./mounted-state.ts";

const Job = defineResource({ type: "Jobs.engine.example.dev", spec: shape({ n: "integer" }) });

/** A runtime with one controller, the State it runs on, and that State with the engine in it. */
class World implements AsyncDisposable {
  readonly clock: ManualClock = new ManualClock();
  readonly local: MemoryState = new MemoryState({ types: [Job], clock: this.clock });
  readonly runtime: Runtime;
  readonly engine: EngineState;
  readonly state: State;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(reconcile: (id: string) => void) {
    const controllers = [queueController({ name: "Q", primary: Job, reconcile: ({ ref }) => reconcile(ref.id) })];
    this.runtime = new Runtime(this.local, { controllers, clock: this.clock, logger: silentLogger, random: () => 0.5 });
    this.engine = new EngineState(this.runtime, this.clock);
    this.state = wrapState(new MountedState(this.local, this.engine, isEngineKind));
    this.#running = this.runtime.run({ signal: this.#stop.signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.engine[Symbol.asyncDispose]();
    await this.local[Symbol.asyncDispose]();
  }
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
};

const fail = (): never => {
  throw new Error("no");
};

describe("the engine as resources", () => {
  test("controllers say what they do, each time they are read", async () => {
    await using world = new World((id) => id === "bad" && fail());
    await settle();
    expect((await world.state.get(EngineController, "Q")).spec).toMatchObject({
      form: "queue",
      state: "idle",
      runs: 0,
      failures: 0,
      inputs: [{ kind: "primary", namespace: "default", type: Job.type }],
      outputs: [],
    });
    await world.local.create(Job.create("bad", { n: 1 }));
    await settle();
    const [controller] = await world.state.list(EngineController);
    expect(controller?.spec).toMatchObject({
      state: "waiting",
      queueLength: 1,
      runs: 1,
      failures: 1,
      lastFailure: { message: "no", id: "bad" },
    });
    await world.runtime.unregister("Q");
    expect(await world.state.list(EngineController)).toHaveLength(0);
  });

  test("a watch sees what changes, every half second, and costs nothing when it is closed", async () => {
    await using world = new World(() => undefined);
    await settle();
    const watch = await world.state.watchKind(EngineController, { bootstrap: true });
    for (const type of ["Created", "Bootstrapped"]) expect((await watch.next()).value).toMatchObject({ type });
    await world.local.create(Job.create("a", { n: 1 }));
    await settle();
    const next = watch.next();
    await world.clock.advance(500);
    expect((await next).value).toMatchObject({ type: "Updated", resource: { spec: { runs: 1 } } });
    expect(world.clock.pending).toBeGreaterThan(0);
    await watch[Symbol.asyncDispose]();
    await world.clock.advance(500);
    await settle();
    expect(world.clock.pending).toBe(0);
  });

  test("an explanation is made when it is asked for by id, and follows while it is watched", async () => {
    let isReady = false;
    await using world = new World(() => {
      if (!isReady) throw new SkipError("the licence is missing");
    });
    await world.local.create(Job.create("a", { n: 1 }));
    await settle();
    const id = explanationId(Job.type, "default", "a");
    const { spec } = await world.state.get(EngineExplanation, id);
    expect(spec).toMatchObject({
      resource: { type: Job.type, namespace: "default", id: "a" },
      exists: true,
      phase: "running",
      steps: [{ what: "Q waits: the licence is missing", controller: "Q" }],
    });
    await using watch = await world.state.watch(EngineExplanation, id);
    await watch.next();
    isReady = true;
    await world.local.modify(Job, "a", () => ({ n: 2 }));
    await settle();
    const next = watch.next();
    await world.clock.advance(500);
    expect((await next).value).toMatchObject({ type: "Updated", resource: { spec: { steps: [] } } });
  });

  test("a State that does not answer holds up an explanation, and nothing else", async () => {
    const clock = new ManualClock();
    const silent = {
      controllers: () => [],
      explain: () => new Promise<never>(() => undefined),
      metrics: new MetricsRegistry(),
    };
    await using engine = new EngineState(silent, clock);
    const id = explanationId(Job.type, "default", "a");
    const stop = new AbortController();
    const asked = engine.get(EngineExplanation.ref(id), { signal: stop.signal });
    await using watch = await engine.watchKind(EngineController);
    await clock.advance(2_000);
    expect(await engine.list(EngineController)).toHaveLength(0);
    const others = Array.from({ length: 99 }, (_, n) =>
      engine.get(EngineExplanation.ref(explanationId(Job.type, "n", `${n}`)), stop),
    );
    for (const other of others) other.catch(() => undefined);
    await settle();
    const one = EngineExplanation.ref(explanationId(Job.type, "n", "one more"));
    await expect(engine.get(one)).rejects.toThrow("100 explanations wait for the State");
    stop.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
    await watch[Symbol.asyncDispose]();
  });

  test("no more than a hundred explanations are kept, and an id that is none explains nothing", async () => {
    await using world = new World(() => undefined);
    for (let n = 0; n < 150; n++) await world.state.get(EngineExplanation, explanationId(Job.type, "default", `j${n}`));
    expect((await world.state.list(EngineExplanation)).length).toBeLessThanOrEqual(100);
    for (const id of ["x", "a/b", "a/b/c/d", "//"]) {
      await expect(world.state.get(EngineExplanation, id)).rejects.toSatisfy(isNotFound);
    }
  });

  test("it can only be read, and what is the user's own in the namespace is the user's", async () => {
    await using world = new World(() => undefined);
    const controller = EngineController.ref("Q");
    await expect(world.state.destroy(controller)).rejects.toMatchObject({ code: "unsupported" });
    await expect(world.state.teardown(controller)).rejects.toMatchObject({ code: "unsupported" });
    await expect(world.state.teardownAndDestroy(controller)).rejects.toMatchObject({ code: "unsupported" });
    await expect(world.state.modify(EngineController, "Q", (spec) => void (spec.runs = 9))).rejects.toMatchObject({
      code: "unsupported",
    });
    const own = Job.in(ENGINE_NAMESPACE);
    await world.state.create(own.create("mine", { n: 1 }));
    expect((await world.local.get(own, "mine")).spec.n).toBe(1);
    await world.state.teardownAndDestroy(own.ref("mine"));
    expect(await world.local.list(own)).toHaveLength(0);
  });
});

test.each([
  ["Jobs.x", "default", "a"],
  ["Jobs.x", "", "a/b%2Fc"],
  ["a/b", "n/s", "%"],
])("the id of an explanation leads back: %j %j %j", (type, namespace, id) => {
  expect(parseExplanationId(explanationId(type, namespace, id))).toEqual({ type, namespace, id });
});
