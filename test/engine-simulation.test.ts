import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ManualClock, type Clock } from "../src/clock/index.ts";
import {
  controller,
  exclusive,
  mappedDestroyReady,
  queueController,
  requeueAfter,
  RequeueError,
  skip,
  weak,
  type Controller,
  type ControllerReader,
  type QueueController,
  type QueueReconcileContext,
  type ReconcileResult,
} from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { defineResource, isNotFound, Phase, shape, type AnyResourceType } from "../src/resource/index.ts";
import { RegistrationError, type Runtime } from "../src/runtime/index.ts";
import { wrapState, type State } from "../src/state/index.ts";
import {
  InterceptedState,
  Int,
  intDoublerController,
  intToStrController,
  queueIntToStrController,
  seededRandom,
  Sentence,
  Str,
  strToSentenceController,
  sumController,
} from "../src/testing/index.ts";
import { startEngine, turns, type Engine } from "./engine-fixture.ts";

/** Simulations. Each is some hundred calls and minutes of simulated time, in milliseconds. */
const RUNS = 60;

const Copy = defineResource({ type: "Copies.test", spec: shape({ value: "string" }) });
const SlowCopy = defineResource({ type: "SlowCopies.test", spec: shape({ value: "string" }) });
const Count = defineResource({ type: "Counts.test", spec: shape({ value: "integer" }) });

/** Does to each sentence what chance says, until one attempt goes well: then its copy is as it should be. */
function fickleCopyController(random: () => number, calm: () => boolean): QueueController {
  return copyController("FickleCopyController", Copy, async ({ clock, signal }) => {
    if (calm()) return undefined;
    await clock.sleep(random() * 20, { signal });
    const chance = random();
    if (chance < 0.1) throw new Error("fickle");
    if (chance < 0.2) throw new RequeueError(random() * 100, new Error("fickle"));
    if (chance < 0.3) return requeueAfter(random() * 100);
    if (chance < 0.35) return Promise.reject("fickle" as unknown as Error);
    return undefined;
  });
}

/** Copies what it read seconds ago, unless the sentence is torn down meanwhile. */
function slowCopyController(random: () => number): QueueController {
  return copyController("SlowCopyController", SlowCopy, async ({ ref, state, clock, signal }) => {
    await using teardown = await state.signalWithTeardown(ref, { signal });
    await clock.sleep(random() * 3_000, { signal: teardown.signal });
    return undefined;
  });
}

type CopyContext = Pick<
  QueueReconcileContext<typeof Sentence, readonly [], readonly []>,
  "ref" | "clock" | "signal"
> & {
  readonly state: Pick<ControllerReader<typeof Sentence>, "signalWithTeardown">;
};

/** Keeps a copy of each sentence. Before it writes one it waits for `ponder`, whose result it returns if there is one. */
function copyController(
  name: string,
  target: typeof Copy | typeof SlowCopy,
  ponder: (context: CopyContext) => Promise<ReconcileResult>,
): QueueController {
  const source = Sentence.in("sentences");
  return queueController({
    name,
    primary: source,
    inputs: [mappedDestroyReady(target, ({ id }) => [source.ref(id)])],
    outputs: [exclusive(target)],
    concurrency: 3,
    async reconcile({ ref, state, clock, signal }) {
      const sentence = await state.getOrNull(ref);
      if (sentence === undefined) return;
      if (sentence.metadata.phase === Phase.running) {
        await state.addFinalizer(ref, name);
        const result = await ponder({ ref, state, clock, signal });
        if (result !== undefined) return result;
        await state.modify(target, ref.id, () => ({ value: sentence.spec.value }));
        return;
      }
      // Asked of the State, not of the cache: a write whose answer was lost may not be in the cache yet.
      const copy = await state.getUncached(target, ref.id).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      if (copy !== undefined) {
        if (!(await state.teardown(target.ref(ref.id)))) return skip("somebody holds the copy");
        await state.destroy(target.ref(ref.id));
      }
      await state.removeFinalizer(ref, name);
    },
  });
}

/** Counts copies; throws now and then, in between. */
function fickleCountController(random: () => number, calm: () => boolean): Controller {
  return controller({
    name: "FickleCountController",
    inputs: [weak(Copy)],
    outputs: [exclusive(Count)],
    async reconcile({ state }) {
      const { length } = await state.list(Copy);
      if (!calm() && random() < 0.3) throw new Error("fickle");
      await state.modify(Count, "copies", () => ({ value: length }));
    },
  });
}

/**
 * An id is used again only after this time. Versions start again at 1 then, so that an update which was made from the
 * old resource, and is still under way, would be taken for one that was made from the new. Unit: milliseconds.
 */
const REUSE_AFTER_MS = 1_000;

/** Writes Ints as chance says, and knows what they must be in the end. */
class User {
  readonly values = new Map<string, number>();
  readonly #leaving = new Set<string>();
  readonly #goneAtMs = new Map<string, number>();
  readonly #state: State;
  readonly #clock: Clock;
  readonly #random: () => number;

  constructor(state: State, clock: Clock, random: () => number) {
    this.#state = state;
    this.#clock = clock;
    this.#random = random;
  }

  async act(): Promise<void> {
    const id = `int ${Math.floor(this.#random() * 8)}`;
    const ref = Int.ref(id);
    const value = Math.floor(this.#random() * 1_000);
    if (this.#leaving.has(id)) {
      await this.#finish(id);
    } else if (!this.values.has(id)) {
      const goneForMs = this.#clock.monotonic() - (this.#goneAtMs.get(id) ?? -Infinity);
      if (goneForMs < REUSE_AFTER_MS) return;
      await this.#state.create(Int.create(id, { value }));
      this.values.set(id, value);
    } else if (this.#random() < 0.3) {
      this.values.delete(id);
      this.#leaving.add(id);
      await this.#state.teardown(ref);
    } else {
      await this.#state.updateWithConflicts(ref, () => ({ value }));
      this.values.set(id, value);
    }
  }

  /** Destroys what was torn down. True when nothing is left to destroy. */
  async finishAll(): Promise<boolean> {
    for (const id of this.#leaving) await this.#finish(id);
    return this.#leaving.size === 0;
  }

  async #finish(id: string): Promise<void> {
    const int = await this.#state.get(Int, id);
    if (int.metadata.finalizers.length > 0) return;
    await this.#state.destroy(Int.ref(id));
    this.#leaving.delete(id);
    this.#goneAtMs.set(id, this.#clock.monotonic());
  }
}

/** What there is of a type, by id; `torn down` is told as well. */
async function contents(state: State, type: AnyResourceType): Promise<Record<string, unknown>> {
  const list = await state.list(type as never as { namespace: string; type: string });
  return Object.fromEntries(
    list.map(({ metadata, spec }) => [
      metadata.id,
      metadata.phase === Phase.running ? (spec as { value: unknown }).value : "torn down",
    ]),
  );
}

interface Scenario {
  readonly seed: number;
  /** Watches are like those of another process: they lag behind by up to this time. Unit: milliseconds. */
  readonly lagMs: number;
  readonly cached: boolean;
  /** Writes are limited, to few enough that controllers wait. */
  readonly limited: boolean;
  /** Reconciles that may start in one turn of the event loop. */
  readonly yieldEvery: number;
  /** Events that the history keeps: with few, watches that lag behind have to start over. */
  readonly history: number;
  /** What the user does while each of some engines runs, one after the other. Unit: actions. */
  readonly lives: readonly number[];
}

/** Registers controllers in a running engine, one after the other. What a fault prevented is tried again. */
class LateRegistration {
  readonly errors: unknown[] = [];
  readonly #runtime: Runtime;
  readonly #left: (Controller | QueueController)[];
  #busy = false;

  constructor(runtime: Runtime, controllers: readonly (Controller | QueueController)[]) {
    this.#runtime = runtime;
    this.#left = [...controllers];
  }

  /** Begins to register the next one, unless that is under way. False when all are registered. */
  tryNext(): boolean {
    const [next] = this.#left;
    if (next === undefined) return false;
    if (!this.#busy) void this.#register(next);
    return true;
  }

  async #register(controller: Controller | QueueController): Promise<void> {
    this.#busy = true;
    try {
      await this.#runtime.register(controller);
      this.#left.shift();
    } catch (error) {
      const expected =
        error instanceof RegistrationError && (error.code === "watch_failed" || error.code === "stopped");
      if (!expected) this.errors.push(error);
    } finally {
      this.#busy = false;
    }
  }
}

/** One State, the user who writes to it, and engines that come and go. */
class Simulation {
  readonly clock = new ManualClock();
  readonly random: () => number;
  readonly memory: MemoryState;
  readonly user: User;
  readonly #scenario: Scenario;
  readonly #faulty: InterceptedState;
  #calm = true;

  constructor(scenario: Scenario) {
    const { seed, lagMs, history } = scenario;
    const { clock } = this;
    this.#scenario = scenario;
    this.random = seededRandom(seed);
    this.memory = new MemoryState({ clock, history: { maxCapacity: history } });
    this.#faulty = new InterceptedState(this.memory, {
      deliver: lagMs === 0 ? undefined : () => clock.sleep(this.random() * lagMs),
      before: () => this.#disturb(0.05),
      // The write is done, but its answer is lost.
      after: () => this.#disturb(0.03),
    });
    this.user = new User(this.memory, clock, this.random);
  }

  async run(): Promise<void> {
    for (const [life, actions] of this.#scenario.lives.entries()) {
      const controllers = this.#controllers();
      const engine = await this.#start(controllers.splice(0, Math.floor(this.random() * (controllers.length + 1))));
      const late = new LateRegistration(engine.runtime, controllers);
      try {
        for (let action = 0; action < actions; action++) {
          for (let burst = this.random() < 0.1 ? 20 : 1; burst > 0; burst--) await this.user.act();
          if (this.random() < 0.2) late.tryNext();
          await this.clock.advance(this.random() < 0.2 ? this.random() * 2_000 : this.random() * 20);
        }
        if (life === this.#scenario.lives.length - 1) await this.#settle(late);
      } finally {
        await this.#stop(engine);
      }
      expect(late.errors).toEqual([]);
    }
  }

  /** In any order: whoever comes first, the others follow. */
  #controllers(): (Controller | QueueController)[] {
    const { random } = this;
    const calm = () => this.#calm;
    const controllers = [
      intToStrController("default", "strs"),
      strToSentenceController("strs", "sentences"),
      fickleCopyController(random, calm),
      slowCopyController(random),
      fickleCountController(random, calm),
      intDoublerController("default", "doubled"),
      sumController("Sum", { sourceNamespace: "doubled", targetNamespace: "sums", targetId: "sum" }),
    ];
    return controllers
      .map((one) => ({ one, order: random() }))
      .sort((a, b) => a.order - b.order)
      .map(({ one }) => one);
  }

  async #start(controllers: readonly (Controller | QueueController)[]): Promise<Engine> {
    const { clock, random } = this;
    const { cached, limited, yieldEvery } = this.#scenario;
    // An engine that cannot open its watches gives up; that is not what this is about.
    this.#calm = true;
    const engine = await startEngine(wrapState(this.#faulty, { clock }), controllers, {
      clock,
      random,
      yieldEvery,
      // Not the doubles: their clean-up lists them, and must see one that was written although the answer was lost.
      cache: cached ? [Int, Str.in("strs"), Sentence.in("sentences"), Copy, Int.in("sums")] : [],
      changeRateLimit: limited ? { perSecond: 20, burst: 3 } : undefined,
    });
    await clock.settle();
    this.#calm = false;
    return engine;
  }

  /** Stops an engine in the middle of what it does: calls that are under way are waited for. */
  async #stop(engine: Engine): Promise<void> {
    let ended = false;
    engine.ended.then(
      () => (ended = true),
      () => (ended = true),
    );
    engine.abort();
    for (let second = 0; second < 9 && !ended; second++) await this.clock.advance(1_000);
    expect(ended).toBe(true);
    await engine.ended;
    expect(this.clock.pending).toBe(0);
    expect(this.#faulty.openWatches).toEqual([]);
  }

  /** No more faults, and longer than any backoff: whoever failed last tries again. */
  async #settle(late: LateRegistration): Promise<void> {
    this.#calm = true;
    while (late.tryNext()) await this.clock.advance(1_000);
    for (let round = 0; round < 10 && !(await this.user.finishAll()); round++) await this.#advance(100_000);
    await this.#advance(200_000);
  }

  /** Time goes on only when nothing is left to do: with short turns that takes many of them. */
  async #advance(ms: number): Promise<void> {
    const count = this.#scenario.yieldEvery === 1 ? 200 : 1;
    for (let step = 0; step < 4; step++) {
      await turns(count);
      await this.clock.advance(ms / 4);
    }
    await turns(count);
  }

  async #disturb(failures: number): Promise<void> {
    if (this.#calm) return;
    if (this.random() < 0.3) await this.clock.sleep(this.random() * 30);
    if (this.random() < failures) throw new Error("injected");
  }
}

async function simulate(scenario: Scenario): Promise<void> {
  const simulation = new Simulation(scenario);
  await simulation.run();

  const { memory, user } = simulation;
  const expected = (of: (value: number) => unknown) =>
    Object.fromEntries([...user.values].map(([id, value]) => [id, of(value)]));
  expect({
    ints: await contents(memory, Int),
    strs: await contents(memory, Str.in("strs")),
    sentences: await contents(memory, Sentence.in("sentences")),
    copies: await contents(memory, Copy),
    slowCopies: await contents(memory, SlowCopy),
    counts: await contents(memory, Count),
    doubled: await contents(memory, Int.in("doubled")),
    sums: await contents(memory, Int.in("sums")),
  }).toEqual({
    ints: expected((value) => value),
    strs: expected((value) => String(value)),
    sentences: expected((value) => `${value} sentence`),
    copies: expected((value) => `${value} sentence`),
    slowCopies: expected((value) => `${value} sentence`),
    counts: { copies: user.values.size },
    doubled: expected((value) => value * 2),
    sums: { sum: [...user.values.values()].reduce((sum, value) => sum + value * 2, 0) },
  });
}

describe("a control plane of many controllers, whatever fails", () => {
  const scenario = fc.record({
    seed: fc.integer(),
    lagMs: fc.constantFrom(0, 1, 50, 500),
    cached: fc.boolean(),
    limited: fc.boolean(),
    yieldEvery: fc.constantFrom(1, 500),
    history: fc.constantFrom(2, 5, 100),
    lives: fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 3 }),
  });

  test("comes to the state that a model says", { timeout: 60_000 }, async () => {
    await fc.assert(fc.asyncProperty(scenario, simulate), { numRuns: RUNS });
  });
});

describe("a State that fails every nth call", () => {
  // An attempt that changes nothing any more must be shorter than n calls, or no attempt ever ends.
  test.for([
    { sort: "classic", every: 17, make: () => intToStrController("default", "target") },
    { sort: "classic", every: 31, make: () => intToStrController("default", "target") },
    { sort: "queue", every: 7, make: () => queueIntToStrController("default", "target") },
    { sort: "queue", every: 11, make: () => queueIntToStrController("default", "target") },
  ])("a $sort controller gets there all the same, n = $every", async ({ every, make }) => {
    const clock = new ManualClock();
    const memory = new MemoryState({ clock });
    let calls = 0;
    let failing = false;
    const faulty = new InterceptedState(memory, {
      before() {
        if (failing && ++calls % every === 0) throw new Error(`call ${calls} fails`);
      },
    });
    await using engine = await startEngine(wrapState(faulty, { clock }), [make()], { clock });
    await clock.settle();
    failing = true;
    for (const [id, value] of Object.entries({ a: 1, b: 2, c: 3 })) await memory.create(Int.create(id, { value }));
    await clock.advance(600_000);
    expect(await contents(memory, Str.in("target"))).toEqual({ a: "1", b: "2", c: "3" });
    await memory.updateWithConflicts(Int.ref("b"), () => ({ value: 22 }));
    await memory.teardown(Int.ref("a"));
    await clock.advance(600_000);
    expect(await contents(memory, Str.in("target"))).toEqual({ b: "22", c: "3" });
    expect((await memory.get(Int, "a")).metadata.finalizers).toEqual([]);
    expect(calls).toBeGreaterThan(every);
    await engine.stop();
    expect(clock.pending).toBe(0);
  });
});
