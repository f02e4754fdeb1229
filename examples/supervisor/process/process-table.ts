import type { ProcessSpec, ProcessStatusSpec } from "../resources/index.ts";
import { ManagedProcess, type ProcessContext } from "./managed-process.ts";

/** The processes that this supervisor started, which the process controller acts on: at most one for each service. */
export class ProcessTable implements AsyncDisposable {
  readonly #context: ProcessContext;
  readonly #processes = new Map<string, ManagedProcess>();
  readonly #changed = new Set<string>();
  #wake: (() => void) | undefined;

  constructor(context: ProcessContext) {
    this.#context = context;
  }

  /** True while any process of the service's group is there. */
  isAlive(service: string): boolean {
    const process = this.#processes.get(service);
    return process !== undefined && process.status.phase !== "exited";
  }

  /** The run of the present or last process; undefined when there was none. */
  runOf(service: string): number | undefined {
    return this.#processes.get(service)?.run;
  }

  /** The status of a service for which `run` is wanted. */
  describe(service: string, run: number): ProcessStatusSpec {
    const status = this.#processes.get(service)?.status;
    // A process of an earlier run that is gone says nothing about this one.
    const counts = status !== undefined && (status.run === run || status.phase !== "exited");
    return counts ? status : { run, phase: "idle", logPath: this.#context.logPath(service) };
  }

  /** Starts a process. @throws {Error} when one of the service is alive. */
  start(service: string, spec: ProcessSpec): void {
    if (this.isAlive(service)) throw new Error(`a process of ${service} is alive already`);
    this.#processes.set(service, new ManagedProcess(service, spec, this.#context, () => this.#note(service)));
  }

  /** Asks the process of a service to stop, if there is one; returns at once. */
  stop(service: string, signal: string, graceMs: number): void {
    this.#processes.get(service)?.stop(signal, graceMs);
  }

  /** Drops what is known of a service whose process has ended. */
  forget(service: string): void {
    if (!this.isAlive(service)) this.#processes.delete(service);
  }

  /** Names of services whose process changed, each once however often it did; ends with the signal. For one reader. */
  async *changes(signal: AbortSignal): AsyncGenerator<string, void> {
    const onAbort = () => this.#wake?.();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      while (!signal.aborted) {
        for (const service of this.#changed) {
          this.#changed.delete(service);
          yield service;
        }
        if (this.#changed.size > 0 || signal.aborted) continue;
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Kills every process group at once. */
  killAll(): void {
    for (const process of this.#processes.values()) process.kill();
  }

  /** Kills what is left, and waits for it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.killAll();
    await Promise.all(Array.from(this.#processes.values(), (process) => process.ended));
  }

  #note(service: string): void {
    this.#changed.add(service);
    this.#wake?.();
  }
}
