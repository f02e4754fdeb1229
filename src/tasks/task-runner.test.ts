import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../clock/index.ts";
import { silentLogger, type Logger } from "../log/index.ts";
import { StopTimeoutError } from "../internal/stop-timeout-error.ts";
import type { TaskContext, TaskSpec } from "./task.ts";
import { equalByOwnRule, TaskRunner } from "./task-runner.ts";

/** Notes in `running` what runs, as `id=value`. */
class NotedSpec implements TaskSpec<string> {
  readonly id: string;
  readonly value: number;
  readonly #running: Set<string>;

  constructor(running: Set<string>, id: string, value = 0) {
    this.id = id;
    this.value = value;
    this.#running = running;
  }

  async run({ signal, input }: TaskContext<string>): Promise<void> {
    const name = `${this.id}=${this.value} ${input}`;
    this.#running.add(name);
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    this.#running.delete(name);
  }

  equals(other: NotedSpec): boolean {
    return this.value === other.value;
  }
}

function setUp(signal?: AbortSignal) {
  const running = new Set<string>();
  const runner = new TaskRunner<NotedSpec, string>({
    equal: equalByOwnRule,
    log: silentLogger,
    clock: new ManualClock(),
    signal,
  });
  const spec = (id: string, value?: number) => new NotedSpec(running, id, value);
  return { running, runner, spec };
}

describe("TaskRunner", () => {
  test("keeps running exactly what is wanted, through every kind of change [state 160] [engine T-39]", async () => {
    const { running, runner, spec } = setUp();
    await runner.reconcile([], "1st");
    expect([...running]).toEqual([]);

    await runner.reconcile([spec("task1"), spec("task2")], "2nd");
    expect([...running]).toEqual(["task1=0 2nd", "task2=0 2nd"]);

    // Task 2 has the input of its start: it was left alone.
    await runner.reconcile([spec("task2")], "3rd");
    expect([...running]).toEqual(["task2=0 2nd"]);

    await runner.reconcile([spec("task2", 1), spec("task4")], "4th");
    expect([...running]).toEqual(["task2=1 4th", "task4=0 4th"]);

    await runner.stop();
    expect([...running]).toEqual([]);
  });

  test("starts stopped tasks again when they are wanted again", async () => {
    const { running, runner, spec } = setUp();
    await runner.reconcile([spec("a")], "1st");
    await runner.stop();
    await runner.reconcile([spec("a")], "2nd");
    expect([...running]).toEqual(["a=0 2nd"]);
    await runner.stop();
  });

  test("the old task has ended before its replacement starts", async () => {
    const events: string[] = [];
    const runner = new TaskRunner<TaskSpec & { readonly generation: number }>({
      equal: (a, b) => a.generation === b.generation,
      log: silentLogger,
    });
    const spec = (generation: number) => ({
      id: "x",
      generation,
      run: async ({ signal }: TaskContext) => {
        events.push(`start ${generation}`);
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        await new Promise<void>((resolve) => setImmediate(resolve));
        events.push(`end ${generation}`);
      },
    });
    await runner.reconcile([spec(1)], undefined);
    await runner.reconcile([spec(2)], undefined);
    await runner.stop();
    expect(events).toEqual(["start 1", "end 1", "start 2", "end 2"]);
  });

  test("single tasks: an equal one stays, another one replaces, an unknown one cannot be stopped", async () => {
    const { running, runner, spec } = setUp();
    await runner.startTask(spec("a"), "1st");
    await runner.startTask(spec("b"), "1st");
    await runner.startTask(spec("a"), "2nd");
    expect([...running]).toEqual(["a=0 1st", "b=0 1st"]);
    await runner.startTask(spec("a", 1), "3rd");
    expect([...running]).toEqual(["b=0 1st", "a=1 3rd"]);
    await runner.stopTask("unknown");
    await runner.stopTask("b");
    expect([...running]).toEqual(["a=1 3rd"]);
    await runner.startTask(spec("b"), "4th");
    expect([...running]).toEqual(["a=1 3rd", "b=0 4th"]);
    await runner.stop();
  });

  test("a finished task is not run again for an equal spec, but for another", async () => {
    let runs = 0;
    const runner = new TaskRunner<TaskSpec & { readonly value: number }>({
      equal: (a, b) => a.value === b.value,
      log: silentLogger,
    });
    const spec = (value: number) => ({ id: "x", value, run: () => void runs++ });
    await runner.reconcile([spec(1)], undefined);
    await runner.reconcile([spec(1)], undefined);
    await runner.startTask(spec(1), undefined);
    expect(runs).toBe(1);
    expect([...runner.states()]).toEqual([["x", "finished"]]);
    await runner.reconcile([spec(2)], undefined);
    expect(runs).toBe(2);
    await runner.stop();
    expect(runner.states().size).toBe(0);
  });

  test("calls made at the same time take their turns", async () => {
    const { running, runner, spec } = setUp();
    await Promise.all([
      runner.reconcile([spec("a"), spec("b")], "1st"),
      runner.reconcile([spec("b", 1)], "2nd"),
      runner.stopTask("b"),
      runner.startTask(spec("c"), "3rd"),
    ]);
    expect([...running]).toEqual(["c=0 3rd"]);
    await runner.stop();
  });

  test("a call that fails changes nothing and does not spoil the next", async () => {
    const { running, runner, spec } = setUp();
    await runner.reconcile([spec("a")], "1st");
    await expect(runner.reconcile([spec("b"), spec("b")], "2nd")).rejects.toThrow('two tasks are called "b"');
    expect([...running]).toEqual(["a=0 1st"]);
    await runner.reconcile([spec("b")], "3rd");
    expect([...running]).toEqual(["b=0 3rd"]);
    await runner.stop();
  });

  test("the signal stops all tasks, and a disposed runner has none", async () => {
    const stopper = new AbortController();
    const { running, runner, spec } = setUp(stopper.signal);
    {
      await using owned = runner;
      await owned.reconcile([spec("a"), spec("b")], "1st");
      stopper.abort();
      await new Promise<void>((resolve) => setImmediate(resolve));
      expect([...running]).toEqual([]);
    }
    expect(runner.states().size).toBe(0);
  });

  test("forgets a task whose end fails as well, and says so", async () => {
    const full = () => {
      throw new Error("disk full");
    };
    const log: Logger = { child: () => log, debug: full, info: full, warn: full, error: full };
    const runner = new TaskRunner<TaskSpec>({ equal: () => true, log, clock: new ManualClock() });
    await runner.reconcile([{ id: "a", run: () => Promise.reject(new Error("x")) }], undefined);
    await expect(runner.stop()).rejects.toThrow("disk full");
    expect(runner.states().size).toBe(0);
    await runner.stop();
  });

  describe("a task that ignores its signal", () => {
    const setUpDeaf = () => {
      const clock = new ManualClock();
      const releases = new Map<string, () => void>();
      const starts: string[] = [];
      const runner = new TaskRunner<TaskSpec & { readonly value: number }>({
        equal: (a, b) => a.value === b.value,
        log: silentLogger,
        clock,
        stopGraceMs: 5_000,
      });
      const spec = (id: string, value = 0) => ({
        id,
        value,
        run: () => {
          starts.push(`${id}=${value}`);
          return new Promise<void>((resolve) => releases.set(id, resolve));
        },
      });
      const heeding = { id: "heeding", value: 0, run: ({ signal }: TaskContext) => clock.sleep(1e9, { signal }) };
      return { clock, releases, runner, spec, heeding, starts };
    };

    test("holds its runner for the grace only, and is named", async () => {
      const { clock, releases, runner, spec, heeding } = setUpDeaf();
      await runner.reconcile([spec("a"), spec("b"), heeding], undefined);
      let outcome: unknown;
      const stopping = runner.stop().catch((error: unknown) => (outcome = error));
      await clock.advance(4_999);
      expect(outcome).toBeUndefined();
      await clock.advance(1);
      await stopping;
      expect(outcome).toBeInstanceOf(StopTimeoutError);
      expect(String(outcome)).toContain('the task runner did not stop within 5000 ms: task "a"; task "b"');
      expect([...runner.states().keys()]).toEqual(["a", "b"]);
      for (const release of releases.values()) release();
      await runner[Symbol.asyncDispose]();
      expect(runner.states().size).toBe(0);
      expect(clock.pending).toBe(0);
    });

    test("holds up its own replacement and no other task", async () => {
      const { clock, releases, runner, spec, starts } = setUpDeaf();
      await runner.reconcile([spec("a")], undefined);
      const replaced = runner.reconcile([spec("a", 1), spec("b")], undefined).catch(String);
      await clock.advance(5_000);
      expect(await replaced).toContain('task "a"');
      expect(starts).toEqual(["a=0", "b=0"]);
      // What was stopped does not count as running, though its spec is wanted again.
      releases.get("a")?.();
      await runner.reconcile([spec("a"), spec("b")], undefined);
      expect(starts).toEqual(["a=0", "b=0", "a=0"]);
      for (const release of releases.values()) release();
      await runner.stop();
    });

    test("is given a time that is one", () => {
      for (const stopGraceMs of [-1, NaN, "x" as never]) {
        expect(() => new TaskRunner({ equal: () => true, log: silentLogger, stopGraceMs })).toThrow(RangeError);
      }
    });
  });

  test("needs to know how to compare specs", () => {
    const options = { log: silentLogger } as unknown as ConstructorParameters<typeof TaskRunner>[0];
    expect(() => new TaskRunner(options)).toThrow(
      new TypeError("TaskRunner needs a function `equal` that compares two specs, for example equalByOwnRule"),
    );
  });

  test("any calls, made without waiting in between, end as they would one after the other", async () => {
    const id = fc.constantFrom("a", "b", "c");
    const value = fc.integer({ min: 0, max: 2 });
    const wanted = fc.uniqueArray(fc.tuple(id, value), { selector: ([name]) => name });
    const call = fc.oneof(
      fc.record({ do: fc.constant("reconcile" as const), wanted }),
      fc.record({ do: fc.constant("startTask" as const), id, value }),
      fc.record({ do: fc.constant("stopTask" as const), id }),
      fc.record({ do: fc.constant("stop" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 20 }), async (calls) => {
        const { running, runner, spec } = setUp();
        const model = new Map<string, number>();
        const made: Promise<void>[] = [];
        for (const one of calls) {
          switch (one.do) {
            case "reconcile":
              made.push(
                runner.reconcile(
                  one.wanted.map(([name, number]) => spec(name, number)),
                  "",
                ),
              );
              model.clear();
              for (const [name, number] of one.wanted) model.set(name, number);
              break;
            case "startTask":
              made.push(runner.startTask(spec(one.id, one.value), ""));
              model.set(one.id, one.value);
              break;
            case "stopTask":
              made.push(runner.stopTask(one.id));
              model.delete(one.id);
              break;
            case "stop":
              made.push(runner.stop());
              model.clear();
          }
        }
        await Promise.all(made);
        expect([...running].sort()).toEqual([...model].map(([name, number]) => `${name}=${number} `).sort());
        expect([...runner.states().keys()].sort()).toEqual([...model.keys()].sort());
        await runner.stop();
        expect([...running]).toEqual([]);
      }),
    );
  });
});
