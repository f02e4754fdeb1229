import { Backoff, endsWithin, SystemClock, type Clock } from "../clock/index.ts";
import type { Logger } from "../log/index.ts";
import { isCancellation } from "../internal/cancellation.ts";
import { StopTimeoutError } from "../internal/stop-timeout-error.ts";
import { toError } from "../internal/to-error.ts";

/** What a {@link TaskSpec} gets when it runs. */
export interface TaskContext<Input = undefined> {
  /** Aborts when the task shall stop. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly clock: Clock;
  readonly input: Input;
}

/** An activity that runs on its own for as long as it is wanted. */
export interface TaskSpec<Input = undefined> {
  /** Unique in one runner. */
  readonly id: string;
  /** Returns when it is done for good, or soon after the signal's abort. What it throws starts it again after a wait. */
  run(context: TaskContext<Input>): Promise<void> | void;
}

/** How long a task may take to end after its signal's abort. Unit: milliseconds. */
const STOP_GRACE_MS = 10_000;

/** Options of a {@link Task}. */
export interface TaskOptions {
  /** Gets the failures. Each line carries the task's id in the field `task`. */
  readonly log: Logger;
  /** Stops the task; {@link Task.stop} still tells when it has ended. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Time for a task to end after it was asked to stop; then the stop rejects with a {@link StopTimeoutError}. May be
   * `Infinity`. Unit: milliseconds. Default: 10 s.
   */
  readonly stopGraceMs?: number | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Spreads the waits between restarts; gives numbers from 0 up to 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/**
 * `running`: its function runs. `waiting`: it failed, and will run again. `finished`: its function returned.
 * `stopped`: it was stopped, and has ended.
 */
export type TaskState = "running" | "waiting" | "finished" | "stopped";

/**
 * A spec that runs in the background until it returns or is stopped. After a failure it runs again, as often as it
 * takes, with an exponential wait that a long healthy run does not reset.
 */
export class Task<Spec extends TaskSpec<Input>, Input = undefined> implements AsyncDisposable {
  readonly spec: Spec;
  readonly #context: TaskContext<Input>;
  readonly #stop = new AbortController();
  readonly #backoff: Backoff;
  readonly #stopGraceMs: number;
  #state: TaskState = "running";
  #ended: Promise<void> = Promise.resolve();

  private constructor(spec: Spec, input: Input, options: TaskOptions) {
    const { log, clock = new SystemClock(), random = Math.random } = options;
    this.spec = spec;
    this.#stopGraceMs = stopGraceOf(options);
    this.#context = { signal: this.#stop.signal, log: log.child({ task: spec.id }), clock, input };
    this.#backoff = new Backoff(random);
  }

  static start<Spec extends TaskSpec<Input>, Input>(spec: Spec, input: Input, options: TaskOptions): Task<Spec, Input> {
    const task = new Task<Spec, Input>(spec, input, options);
    task.#ended = task.#runUnder(options.signal);
    // It fails only when its logger throws. The caller of stop is notified; until then there is no one to notify.
    task.#ended.catch(() => undefined);
    return task;
  }

  get state(): TaskState {
    return this.#state;
  }

  /**
   * Aborts the task, also while it waits, and resolves when it has ended. A finished task stays finished.
   *
   * @throws {StopTimeoutError} when it has not ended `stopGraceMs` later: it ignores its signal. Another call waits again.
   */
  async stop(): Promise<void> {
    this.#stop.abort();
    if (await endsWithin(this.#context.clock, this.#stopGraceMs, this.#ended)) return;
    const name = `task ${JSON.stringify(this.spec.id)}`;
    throw new StopTimeoutError(name, ["its run goes on after its signal has aborted"], this.#stopGraceMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #runUnder(outer: AbortSignal | undefined): Promise<void> {
    const onAbort = () => this.#stop.abort(outer?.reason);
    if (outer?.aborted) onAbort();
    outer?.addEventListener("abort", onAbort, { once: true });
    try {
      this.#state = await this.#runUntilEnd();
    } catch (error) {
      this.#state = "stopped";
      throw error;
    } finally {
      outer?.removeEventListener("abort", onAbort);
    }
  }

  async #runUntilEnd(): Promise<"finished" | "stopped"> {
    const { signal, log, clock } = this.#context;
    while (!signal.aborted) {
      this.#state = "running";
      if (await this.#runOnce()) return signal.aborted ? "stopped" : "finished";
      if (signal.aborted) break;
      this.#state = "waiting";
      const restartInMs = this.#backoff.next();
      log.debug("task restarts", { restartInMs });
      await clock.sleep(restartInMs, { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
    return "stopped";
  }

  /** True when the spec's function returned, false when it failed. */
  async #runOnce(): Promise<boolean> {
    const { signal, log } = this.#context;
    try {
      await this.spec.run(this.#context);
      return true;
    } catch (thrown) {
      // That a task which was asked to stop says so is no failure.
      if (!(signal.aborted && isCancellation(thrown, signal))) {
        log.error("task failed", { error: toError(thrown, `task ${this.spec.id}`) });
      }
      return false;
    }
  }
}

/** @throws {RangeError} for what is no time. */
export function stopGraceOf({ stopGraceMs = STOP_GRACE_MS }: Pick<TaskOptions, "stopGraceMs">): number {
  if (stopGraceMs >= 0) return stopGraceMs;
  throw new RangeError(`stopGraceMs must be a number of milliseconds, at least 0, got ${stopGraceMs}`);
}
