import type { Immutable } from "homeostat";

import type { ProcessSpec, ProcessStatusSpec } from "../resources/index.ts";
import { ManagedProcess, type ProcessContext } from "./managed-process.ts";

/** The processes that this supervisor started, which the process controller acts on: at most one for each service. */
export class ProcessTable implements AsyncDisposable {
  readonly #context: ProcessContext;
  readonly #processes = new Map<string, ManagedProcess>();
  readonly #changed = new Set<string>();
  #wake = () => {};

  constructor(context: ProcessContext) {
    this.#context = context;
  }

  /** The present or last process of a service; undefined when there was none. */
  get(service: string): ManagedProcess | undefined {
    return this.#processes.get(service);
  }

  /** The status of a service for which `run` is wanted. */
  describe(service: string, run: number): ProcessStatusSpec {
    const process = this.get(service);
    // A process of an earlier run that is gone says nothing about this one.
    if (process !== undefined && (process.run === run || process.isAlive)) return process.status;
    return { run, phase: "idle", logPath: this.#context.logPath(service) };
  }

  /** Starts a process. @throws {Error} when one of the service is alive. */
  start(service: string, spec: Immutable<ProcessSpec>): void {
    if (this.get(service)?.isAlive === true) throw new Error(`a process of ${service} is alive already`);
    const note = () => {
      this.#changed.add(service);
      this.#wake();
    };
    this.#processes.set(service, new ManagedProcess(service, spec, this.#context, note));
  }

  /** Drops what is known of a service whose process has ended. */
  forget(service: string): void {
    this.#processes.delete(service);
  }

  /** Names of services whose process changed, each once however often it did; ends with the signal. For one reader. */
  async *changes(signal: AbortSignal): AsyncGenerator<string, void> {
    signal.addEventListener("abort", () => this.#wake(), { once: true });
    while (!signal.aborted) {
      const [service] = this.#changed;
      if (service === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
      else if (this.#changed.delete(service)) yield service;
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
}
