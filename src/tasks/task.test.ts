import { expect, test } from "vitest";
import { ManualClock } from "../clock/index.ts";
import type { Logger } from "../log/index.ts";
import { RecordingLogger } from "../testing/index.ts";
import { Task, type TaskContext, type TaskSpec } from "./task.ts";

/** Runs until it is told what to do next. */
class CommandedSpec implements TaskSpec {
  readonly id = "one";
  runs = 0;
  running = false;
  finish: () => void = () => {};
  fail: (thrown: unknown) => void = () => {};

  async run({ signal }: TaskContext): Promise<void> {
    this.runs++;
    this.running = true;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.finish = resolve;
    this.fail = reject;
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    try {
      await promise;
    } finally {
      this.running = false;
    }
  }
}

function start(spec: TaskSpec = new CommandedSpec(), random: () => number = () => 0.5) {
  const clock = new ManualClock();
  const log = new RecordingLogger();
  const stopper = new AbortController();
  const task = Task.start(spec, undefined, { log, clock, random, signal: stopper.signal });
  return { clock, log, stopper, task };
}

test("a task runs, runs again after a thrown panic and after an error, and is over when stopped [state 159] [engine T-38]", async () => {
  const spec = new CommandedSpec();
  const { clock, task } = start(spec);
  expect(spec.running).toBe(true);

  for (const thrown of ["panic", new Error("failure")]) {
    spec.fail(thrown);
    await clock.settle();
    expect(spec.running).toBe(false);
    expect(task.state).toBe("waiting");
    await clock.advance(3_000);
    expect(spec.running).toBe(true);
    expect(task.state).toBe("running");
  }
  expect(spec.runs).toBe(3);

  await task.stop();
  expect(spec.running).toBe(false);
  expect(task.state).toBe("stopped");
  await clock.advance(3_600_000);
  expect(spec.runs).toBe(3);
});

test("restarts wait longer each time, also after a long healthy run", async () => {
  const spec = new CommandedSpec();
  const { clock, task } = start(spec);
  for (const waitMs of [500, 750, 1_125]) {
    await clock.advance(3_600_000);
    const { runs } = spec;
    spec.fail(new Error("again"));
    await clock.settle();
    await clock.advance(waitMs - 1);
    expect(spec.runs).toBe(runs);
    await clock.advance(1);
    expect(spec.runs).toBe(runs + 1);
  }
  await task.stop();
});

test("a synchronous throw is a failure like any other", async () => {
  let runs = 0;
  const { clock, task, log } = start({
    id: "sync",
    run: () => {
      runs++;
      throw new TypeError("at once");
    },
  });
  await clock.advance(500);
  expect(runs).toBe(2);
  expect(log.lines.filter((line) => line.level === "error")).toMatchObject([
    { message: "task failed", fields: { task: "sync", error: new TypeError("at once") } },
    { message: "task failed", fields: { task: "sync" } },
  ]);
  await task.stop();
});

test("what is thrown need not be an error", async () => {
  const spec = new CommandedSpec();
  const { clock, task, log } = start(spec);
  spec.fail(undefined);
  await clock.settle();
  expect(task.state).toBe("waiting");
  expect(log.lines[0]).toMatchObject({ level: "error", fields: { error: { message: "task one threw undefined" } } });
  await task.stop();
});

test("a task that returns has finished for good", async () => {
  const spec = new CommandedSpec();
  const { clock, task } = start(spec);
  spec.finish();
  await clock.settle();
  expect(task.state).toBe("finished");
  await clock.advance(3_600_000);
  expect(spec.runs).toBe(1);
  await task.stop();
  expect(task.state).toBe("finished");
});

test("stop ends the wait before a restart, and leaves no timer", async () => {
  const spec = new CommandedSpec();
  const { clock, task } = start(spec);
  spec.fail(new Error("x"));
  await clock.settle();
  expect(clock.pending).toBe(1);
  await task.stop();
  expect(task.state).toBe("stopped");
  expect(clock.pending).toBe(0);
});

test("stop resolves only when the run has ended", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { clock, task } = start({ id: "slow", run: () => promise });
  let stopped = false;
  const stopping = task.stop().then(() => (stopped = true));
  await clock.settle();
  expect(stopped).toBe(false);
  resolve();
  await stopping;
  expect(task.state).toBe("stopped");
});

test("the outer signal stops it too, without a word in the log", async () => {
  const { clock, stopper, task, log } = start();
  stopper.abort();
  await clock.settle();
  expect(task.state).toBe("stopped");
  expect(log.lines).toEqual([]);
});

test("a failure while it stops is logged, and it does not run again", async () => {
  const spec: TaskSpec = {
    id: "unclean",
    run: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("clean-up failed")))),
  };
  const { task, log } = start(spec);
  await task.stop();
  expect(task.state).toBe("stopped");
  expect(log.lines).toMatchObject([{ level: "error", message: "task failed" }]);
});

test("a logger that throws ends the task; who stops it is told why", async () => {
  const disk = () => {
    throw new Error("disk full");
  };
  const log: Logger = { child: () => log, debug: disk, info: disk, warn: disk, error: disk };
  const fail = () => Promise.reject(new Error("x"));
  const task = Task.start({ id: "unheard", run: fail }, undefined, { log, clock: new ManualClock() });
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(task.state).toBe("stopped");
  await expect(task.stop()).rejects.toThrow("disk full");
});

test("under a signal that is aborted already it never runs", async () => {
  const spec = new CommandedSpec();
  const task = Task.start(spec, undefined, { log: new RecordingLogger(), signal: AbortSignal.abort() });
  await task.stop();
  expect(spec.runs).toBe(0);
  expect(task.state).toBe("stopped");
});
