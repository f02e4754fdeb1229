// What stops on a State that is deaf: `npm run deaf` tries 300 rounds, `npm test` 20. DEAF_SEED repeats one.
import { expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import { controller, exclusive, mapped, queueController, shared, strong, weak } from "../src/controller/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { defineControlPlane } from "../src/plane/index.ts";
import { Runtime } from "../src/runtime/index.ts";
import { wrapState } from "../src/state/index.ts";
import { equalByOwnRule, TaskRunner, type TaskContext } from "../src/tasks/index.ts";
import {
  CALL_FAULTS,
  DEAF_OPERATIONS,
  DeafState,
  InterceptedState,
  Int,
  RecordingLogger,
  seededRandom,
  Sentence,
  Str,
  WATCH_FAULTS,
  type Deafness,
} from "../src/testing/index.ts";
import { turns } from "./engine-fixture.ts";

const ROUNDS = Number(process.env["DEAF_ROUNDS"] ?? 20);
const SEED = Number(process.env["DEAF_SEED"] ?? Date.now() % 2 ** 31);
const GRACE_MS = 5_000;

const pick = <T>(random: () => number, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

function deafnessOf(random: () => number): Deafness {
  const operation = pick(random, DEAF_OPERATIONS);
  const faults = operation.startsWith("watch") ? [...CALL_FAULTS, ...WATCH_FAULTS] : CALL_FAULTS;
  return {
    operation,
    call: 1 + Math.floor(random() * (random() < 0.5 ? 3 : 12)),
    fault: pick(random, faults),
    lateMs: random() * 2 * GRACE_MS,
  };
}

class Watching {
  readonly id = "watching";
  readonly #state: { list(kind: typeof Sentence): Promise<unknown> };

  constructor(state: { list(kind: typeof Sentence): Promise<unknown> }) {
    this.#state = state;
  }

  equals(): boolean {
    return true;
  }

  async run({ signal, clock }: TaskContext): Promise<void> {
    for (;;) {
      await this.#state.list(Sentence);
      await clock.sleep(100, { signal });
    }
  }
}

/** A controller of each form, on cached and other kinds, with hooks, finalizers, own writes and tasks. */
const controllers = () => [
  controller({
    name: "Classic",
    inputs: [strong(Int), weak(Str)],
    outputs: [shared(Sentence)],
    async reconcile({ state, trackOutputs }) {
      trackOutputs(Sentence);
      for (const { metadata, spec } of await state.list(Int)) {
        await state.modify(Sentence, `classic-${metadata.id}`, () => ({ value: String(spec.value) }));
      }
    },
  }),
  queueController({
    name: "Queue",
    primary: Int,
    inputs: [mapped(Sentence, () => [])],
    outputs: [exclusive(Str)],
    concurrency: 2,
    async reconcile({ ref, state }) {
      const int = await state.getOrNull(ref);
      if (int === undefined) {
        await state.destroy(Str.ref(ref.id)).catch(() => undefined);
        return;
      }
      await state.addFinalizer(ref, "Queue");
      await state.modify(Str, ref.id, () => ({ value: String(int.spec.value) }));
      await state.getOrNull(Str, ref.id);
      await using _going = await state.signalWithTeardown(ref);
      if (int.spec.value % 3 === 0) await state.removeFinalizer(ref, "Queue");
    },
    async runHook({ state, signal, log, clock }) {
      await using tasks = new TaskRunner<Watching>({ log, signal, clock, equal: equalByOwnRule });
      await tasks.reconcile([new Watching(state as never)], undefined);
      await clock.sleep(3_600_000, { signal });
    },
    shutdownHook: () => turns(1),
  }),
];

/** Calls by name, as the reports spell them, without how the cache or a derived operation came to them. */
const kindsOf = (calls: readonly string[]): readonly string[] => calls.map((call) => call.replace(/\/.*\)$/, ""));

/** How a stop may end: well, or with an error that says why. */
const EXPECTED =
  /^$|^the (runtime|control plane) did not stop within \d+ ms: .|^controller runtime watch error: the watch of [^ ]+ in "default" ended$/;

/** What a round runs, until its signal. */
interface Subject {
  readonly name: string;
  run(state: DeafState, signal: AbortSignal, logger: RecordingLogger, clock: ManualClock): Promise<void>;
}

const subjects: readonly Subject[] = [
  {
    name: "runtime",
    async run(state, signal, logger, clock) {
      const runtime = new Runtime(state, {
        controllers: controllers(),
        cache: [Str, Sentence],
        logger,
        clock,
        shutdownGraceMs: GRACE_MS,
      });
      const running = runtime.run({ signal });
      const cached = wrapState(runtime.cachedState());
      const reads = [
        cached.get(Str, "0"),
        cached.list(Sentence, { atLeast: 3 }),
        cached.get(Sentence, "never", { atLeast: "7" }),
      ].map((read) => read.then(String, String));
      const late = runtime.register(controller({ name: "Late", inputs: [weak(Sentence)], reconcile() {} }));
      late.catch(() => undefined);
      try {
        await running;
      } finally {
        // Nothing that asked the runtime waits on.
        await Promise.all([...reads, late.catch(() => undefined)]);
      }
    },
  },
  {
    name: "control plane",
    run: (state, signal, logger, clock) =>
      defineControlPlane({
        state: () => wrapState(state),
        resources: [Int, Str, Sentence],
        controllers: controllers(),
        runtime: { cache: [Str], clock, shutdownGraceMs: GRACE_MS / 2 },
      }).run({ signal, logger, stopTimeoutMs: GRACE_MS, listen: [] }),
  },
];

test.each(Array.from({ length: ROUNDS }, (_, index) => SEED + index))(
  "a stop ends, and names what hung (seed %i)",
  async (seed) => {
    for (const subject of subjects) {
      const random = seededRandom(seed);
      const clock = new ManualClock();
      const logger = new RecordingLogger();
      const memory = new MemoryState({ clock });
      const below = new InterceptedState(memory);
      const deafness = [deafnessOf(random), ...(random() < 0.3 ? [deafnessOf(random)] : [])];
      const state = new DeafState(below, deafness, { clock, remote: random() < 0.5 });
      const stop = new AbortController();
      const where = `seed ${seed}, ${subject.name}, ${JSON.stringify(deafness)}`;
      for (let id = 0; id < 3; id++) await memory.create(Int.create(String(id), { value: id }));

      let outcome: { readonly error?: unknown } | undefined;
      void subject.run(state, stop.signal, logger, clock).then(
        () => (outcome = {}),
        (error: unknown) => (outcome = { error }),
      );
      for (let step = 0; step < 5; step++) {
        await clock.advance(random() * 400);
        const id = String(Math.floor(random() * 3));
        await memory.modify(Int, id, () => ({ value: Math.floor(random() * 10) })).catch(() => undefined);
        if (random() < 0.2) await memory.destroy(Str.ref(id), { owner: "Queue" }).catch(() => undefined);
      }
      stop.abort();
      await clock.advance(GRACE_MS);
      await turns(5);
      const hung = state.hung;
      if (outcome === undefined) throw new Error(`${where}: did not end; hung: ${hung.join(", ")}`);
      const { error } = outcome;
      const message = error instanceof Error ? error.message : "";
      const told = logger.lines.flatMap((line) => [line.fields["blockers"], line.fields["calls"]].flat());
      const texts = [message, ...told].join("\n");
      // What a control plane calls itself is named as a whole: its get and its update are one "update of".
      const whole = subject.name === "runtime" ? /^$/ : /^\w+ (?=of \w+\.meta)/;
      const unnamed = kindsOf(hung).filter((call) => !texts.includes(call.replace(whole, "")));
      expect({ where, unnamed, isExpected: EXPECTED.test(message) }).toEqual({ where, unnamed: [], isExpected: true });

      // What comes back afterwards leaves nothing behind.
      state.recover();
      await clock.advance(3 * GRACE_MS);
      await turns(5);
      const left = { hung: state.hung, watches: below.openWatches, timers: clock.pending };
      expect({ where, ...left }).toEqual({ where, hung: [], watches: [], timers: 0 });
      await memory[Symbol.asyncDispose]();
    }
  },
);
