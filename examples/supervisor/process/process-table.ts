import type { ProcessSpec, ProcessStatusSpec } from "../resources/index.ts";
import { ManagedProcess, type ProcessSurroundings } from "./managed-process.ts";

/**
 * The processes that this supervisor started: the world that the process controller acts on. At most one for each
 * service, whatever it is asked for.
 */
export class ProcessTable implements AsyncDisposable {
  readonly #around: ProcessSurroundings;
  readonly #processes = new Map<string, ManagedProcess>();
  readonly #changed = new Set<string>();
  #wake: (() => void) | undefined;

  constructor(around: ProcessSurroundings) {
    this.#around = around;
  }

  /** True while any process of the service's group is there. */
  isAlive(service: string): boolean {
    const process = this.#processes.get(service);
    return process !== undefined && process.phase !== "exited";
  }

  /** The run of the present or last process; undefined when there was none. */
  runOf(service: string): number | undefined {
    return this.#processes.get(service)?.run;
  }

  /** What is to be told of a service, for which `run` is wanted. */
  describe(service: string, run: number): ProcessStatusSpec {
    const process = this.#processes.get(service);
    if (process === undefined) return { run, phase: "idle", logPath: this.#around.logPath(service) };
    const { phase, pid, startedAt, exit, log } = process;
    const known = { pid, startedAt, exit, logPath: log.path, logError: log.error, recordError: process.recordError };
    // A process of an earlier run that is gone says nothing about this one.
    if (process.run !== run && phase === "exited") return { run, phase: "idle", logPath: log.path };
    return { run: process.run, phase, ...known };
  }

  /** Starts a process. @throws {Error} when one of the service is alive. */
  start(service: string, spec: ProcessSpec): void {
    if (this.isAlive(service)) throw new Error(`a process of ${service} is alive already`);
    this.#processes.set(service, new ManagedProcess(service, spec, this.#around, () => this.#note(service)));
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
