// What each part of a control plane does to its stop when it hangs: the stop ends within its time and names it.
import { beforeAll, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import { controller, queueController, weak } from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { defineControlPlane } from "../src/plane/index.ts";
import { preloadLibraries } from "../src/resource/index.ts";
import { WrappedState } from "../src/state/index.ts";
import { equalByOwnRule, TaskRunner } from "../src/tasks/index.ts";
import { turns } from "./engine-fixture.ts";
import { Int, JsonBackingStore, RecordingLogger } from "../src/testing/index.ts";

const STOP_MS = 6_000;

/** Parts that can hang, and how the report calls each. */
const PARTS = {
  state: "before its State is open",
  describe: "its State",
  onStart: "onStart",
  onReady: "onReady",
  reconcile: 'controller "Classic" (its reconcile)',
  queue: 'controller "Queue"',
  runHook: 'controller "Hook"',
  taskOfRunner: 'controller "Hook"',
  task: 'task "poller"',
  onStop: "onStop",
  cleanup: "a cleanup",
  dispose: "its State",
} as const;
type Part = keyof typeof PARTS;

/** Those after which nothing more is started: a stop that comes then drains nothing. */
const BEFORE_RUNNING: ReadonlySet<Part> = new Set(["state", "describe", "onStart"]);

class Stubborn {
  readonly id = "stubborn";
  readonly #end: Promise<void>;

  constructor(end: Promise<void>) {
    this.#end = end;
  }

  equals(): boolean {
    return true;
  }

  run(): Promise<void> {
    return this.#end;
  }
}

class SlowToEnd extends WrappedState {
  readonly #end: Promise<void> | undefined;

  constructor(memory: MemoryState, end: Promise<void> | undefined) {
    super(memory);
    this.#end = end;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#end;
    await super[Symbol.asyncDispose]();
  }
}

/** A control plane of every kind of part, of which some hang until they are released. */
function setUp(hanging: ReadonlySet<Part>) {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const at = (part: Part): Promise<void> | undefined => (hanging.has(part) ? released : undefined);
  const store = new JsonBackingStore();
  store.before = ({ operation, pointer }) =>
    operation === "put" && pointer?.type === "Namespaces.meta.cosi.dev" ? at("describe") : undefined;
  const memory = new MemoryState({ clock, backingStore: () => store });
  const plane = defineControlPlane({
    state: async () => {
      await at("state");
      return new SlowToEnd(memory, at("dispose"));
    },
    resources: [Int],
    runtime: { clock },
    controllers: [
      controller({ name: "Classic", inputs: [weak(Int)], reconcile: () => at("reconcile") }),
      queueController({ name: "Queue", primary: Int, reconcile: () => at("queue") }),
      queueController({
        name: "Hook",
        primary: Int,
        reconcile: () => undefined,
        async runHook({ log, signal }) {
          const stopGraceMs = Infinity;
          await using tasks = new TaskRunner<Stubborn>({ log, signal, clock, stopGraceMs, equal: equalByOwnRule });
          await tasks.reconcile([new Stubborn(at("taskOfRunner") ?? Promise.resolve())], undefined);
          await clock.sleep(3_600_000, { signal }).catch(() => undefined);
          await at("runHook");
        },
      }),
    ],
    async onStart({ state, defer }) {
      defer(() => at("cleanup"));
      await at("onStart");
      await state.create(Int.create("one", { value: 1 }));
    },
    tasks: [
      { name: "poller", run: ({ signal }) => at("task") ?? clock.sleep(1e9, { signal }).catch(() => undefined) },
      {
        name: "fails",
        run: ({ signal }) => clock.sleep(1e9, { signal: AbortSignal.any([signal, failing.signal]) }),
      },
    ],
    onStop: () => at("onStop"),
  });
  const failing = new AbortController();
  const stop = new AbortController();
  let outcome: { readonly error: unknown } | undefined;
  const onReady = (): Promise<void> | undefined => at("onReady");
  const ended = plane
    .run({ signal: stop.signal, logger, listen: [], onReady, stopTimeoutMs: STOP_MS })
    .then(
      () => undefined,
      (error: unknown) => error,
    )
    .then((error) => (outcome = { error }));
  /** Everything that was said: the error, and the lines of the log. */
  const told = (): string =>
    [outcome?.error, ...logger.lines.flatMap(({ message, fields }) => [message, ...Object.values(fields)])]
      .map(String)
      .join("\n");
  return { clock, stop, failing, release, ended, told, memory, outcome: () => outcome };
}

const parts = Object.keys(PARTS) as Part[];
const singles = parts.map((part) => [part]);
const pairs = parts.flatMap((one, index) => parts.slice(index + 1).map((other) => [one, other]));

beforeAll(preloadLibraries);

test.each(["asked to stop", "a task failed"] as const)(
  "a stop ends within its time and names the first part that hangs: each part, and each two of them (%s)",
  async (why) => {
    for (const hanging of [[], ...singles, ...pairs]) {
      const where = `${why}: ${hanging.join(" and ") || "nothing"} hangs`;
      const subject = setUp(new Set(hanging));
      await subject.clock.advance(1_000);
      // What fails only when it runs cannot end a start that hangs; being asked can.
      if (why === "a task failed") subject.failing.abort(new Error("on purpose"));
      const isStarting = hanging.some((part) => BEFORE_RUNNING.has(part));
      if (why === "asked to stop" || isStarting) subject.stop.abort();
      // A stop takes turns of the event loop, which the clock would otherwise jump over.
      await turns(50);
      await subject.clock.advance(STOP_MS);
      await turns(50);
      expect({ where, ended: subject.outcome() !== undefined }).toEqual({ where, ended: true });
      const told = subject.told();
      // onStop is not called when a part has failed, nor before anything runs.
      const reached = hanging.filter((part) => !(part === "onStop" && (why === "a task failed" || isStarting)));
      const named = reached.some((part) => told.includes(PARTS[part]));
      expect({ where, named: named || told }).toEqual({ where, named: reached.length > 0 || told });
      const error = String(subject.outcome()?.error);
      let isExpected = true;
      if (why === "a task failed" && !isStarting) isExpected = error.includes("on purpose");
      else if (hanging.length === 0) isExpected = error === "undefined";
      expect({ where, error, isExpected }).toEqual({ where, error, isExpected: true });

      subject.release();
      await turns(50);
      await subject.clock.advance(2 * STOP_MS);
      await subject.ended;
      // What hung and came back has ended everything that stood behind it.
      const left = { timers: subject.clock.pending, alive: subject.clock.keptAlive };
      expect({ where, ...left }).toEqual({ where, timers: 0, alive: 0 });
      await expect(subject.memory.list(Int)).rejects.toMatchObject({ code: "unavailable" });
    }
  },
);
