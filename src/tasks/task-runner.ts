import { SerialQueue } from "../internal/serial-queue.ts";
import { StopTimeoutError } from "../internal/stop-timeout-error.ts";
import { stopGraceOf, Task, type TaskOptions, type TaskSpec, type TaskState } from "./task.ts";

/** Options of a {@link TaskRunner}: those of its tasks, and when a running task may stay. */
export interface TaskRunnerOptions<Spec> extends TaskOptions {
  /** Whether two specs of one id ask for the same, so that a running task may stay. See {@link equalByOwnRule}. */
  readonly equal: (running: Spec, wanted: Spec) => boolean;
}

/** A spec that knows which others ask for the same. */
export interface Comparable {
  equals(other: this): boolean;
}

/** For {@link TaskRunnerOptions.equal}: asks the running spec itself. */
export const equalByOwnRule = <Spec extends Comparable>(running: Spec, wanted: Spec): boolean => running.equals(wanted);

/**
 * Keeps exactly those tasks running that are wanted. A task that finished counts as running: it is not started again
 * for an equal spec. Calls wait for each other; dispose the runner to stop all.
 */
export class TaskRunner<Spec extends TaskSpec<Input>, Input = undefined> implements AsyncDisposable {
  readonly #options: TaskRunnerOptions<Spec>;
  readonly #tasks = new Map<string, Task<Spec, Input>>();
  /** Ids of tasks that were stopped and did not end in time: they hold their place until they have. */
  readonly #overdue = new Set<string>();
  readonly #stopGraceMs: number;
  readonly #calls = new SerialQueue();

  constructor(options: TaskRunnerOptions<Spec>) {
    if (typeof options.equal !== "function") {
      throw new TypeError("TaskRunner needs a function `equal` that compares two specs, for example equalByOwnRule");
    }
    this.#stopGraceMs = stopGraceOf(options);
    this.#options = options;
  }

  /** What each known task does, by id. */
  states(): ReadonlyMap<string, TaskState> {
    return new Map(Array.from(this.#tasks, ([id, task]) => [id, task.state]));
  }

  /**
   * Stops tasks that are not wanted, starts those that are missing, and replaces those whose spec differs: the old one
   * has ended before the new one starts. One that does not end in time holds up none but its own replacement.
   *
   * @param input - Handed to the tasks that are started.
   * @throws {StopTimeoutError} when tasks have not ended `stopGraceMs` after they were stopped; it names them. They keep
   * their places, and the next call stops them again.
   * @throws {TypeError} for two specs of one id. Then, or when `equal` throws, nothing has changed.
   */
  reconcile(wanted: Iterable<Spec>, input: Input): Promise<void> {
    return this.#calls.run(async () => {
      const specs = byId(wanted);
      const leaving: string[] = [];
      for (const [id, task] of this.#tasks) {
        const spec = specs.get(id);
        if (spec === undefined || this.#isReplaced(task, spec)) leaving.push(id);
      }
      try {
        await this.#stop(leaving);
      } finally {
        for (const spec of specs.values()) this.#start(spec, input);
      }
    });
  }

  /** Starts a task, or replaces the one of the same id when its spec differs. @throws {StopTimeoutError} as {@link reconcile} */
  startTask(spec: Spec, input: Input): Promise<void> {
    return this.#calls.run(async () => {
      const present = this.#tasks.get(spec.id);
      if (present !== undefined && this.#isReplaced(present, spec)) await this.#stop([spec.id]);
      this.#start(spec, input);
    });
  }

  /** Stops and forgets one task. An unknown id is fine. @throws {StopTimeoutError} as {@link reconcile} */
  stopTask(id: string): Promise<void> {
    return this.#calls.run(() => this.#stop([id]));
  }

  /** Stops and forgets all tasks. The runner can be used again. @throws {StopTimeoutError} as {@link reconcile} */
  stop(): Promise<void> {
    return this.#calls.run(() => this.#stop([...this.#tasks.keys()]));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #start(spec: Spec, input: Input): void {
    if (!this.#tasks.has(spec.id)) this.#tasks.set(spec.id, Task.start<Spec, Input>(spec, input, this.#options));
  }

  /** Whether a task cannot stay for this spec: it asks for something else, or was stopped and lingers. */
  #isReplaced(task: Task<Spec, Input>, spec: Spec): boolean {
    return this.#overdue.has(spec.id) || !this.#options.equal(task.spec, spec);
  }

  async #stop(ids: readonly string[]): Promise<void> {
    const failures: unknown[] = [];
    const overdue: string[] = [];
    const stopOne = async (id: string): Promise<void> => {
      try {
        await this.#tasks.get(id)?.stop();
      } catch (error) {
        if (error instanceof StopTimeoutError) {
          this.#overdue.add(id);
          overdue.push(`task ${JSON.stringify(id)}`);
          return;
        }
        failures.push(error);
      }
      this.#tasks.delete(id);
      this.#overdue.delete(id);
    };
    await Promise.all(ids.map(stopOne));
    if (overdue.length > 0) throw new StopTimeoutError("the task runner", overdue, this.#stopGraceMs);
    if (failures.length > 0) throw failures[0];
  }
}

function byId<Spec extends { readonly id: string }>(specs: Iterable<Spec>): Map<string, Spec> {
  const result = new Map<string, Spec>();
  for (const spec of specs) {
    if (result.has(spec.id)) throw new TypeError(`two tasks are called ${JSON.stringify(spec.id)}; ids must be unique`);
    result.set(spec.id, spec);
  }
  return result;
}
