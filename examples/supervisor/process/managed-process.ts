import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Clock, Immutable } from "homeostat";

import type { ExitSpec, ProcessSpec, ProcessStatusSpec } from "../resources/index.ts";
import { LastOutput } from "./last-output.ts";
import { launch, type Launched } from "./launch.ts";
import { LogFile } from "./log-file.ts";
import { newMark, type Mark, type MarkedSearch } from "./mark.ts";
import { groupMembers, inspectProcess } from "./processes.ts";
import type { ProcessRecords } from "./process-records.ts";
import { findStartProblem } from "./start-problem.ts";
import { askToStop, signalProcess, stopProcesses } from "./stop-processes.ts";

/** What all processes of one supervisor share. */
export interface ProcessContext {
  readonly records: ProcessRecords;
  readonly search: MarkedSearch;
  readonly clock: Clock;
  /** Path of the log of a service. */
  readonly logPath: (service: string) => string;
  /** What the folders of services are relative to. */
  readonly folder: string;
}

type Phase = Exclude<ProcessStatusSpec["phase"], "idle">;

/** How long output that is still under way is waited for, after the last process has gone. Unit: milliseconds. */
const OUTPUT_GRACE_MS = 500;

/**
 * One process of a service with all that it started: they share a process group of their own, and a mark by which those
 * are found that left the group.
 *
 * - `starting`: the process waits until it is written down for another supervisor that may have to find it.
 * - `running`: it has become the command.
 * - `stopping`: it was asked to stop, or has ended and left others behind, which are being stopped.
 * - `exited`: nothing is left of it, the record on disk included.
 */
export class ManagedProcess {
  readonly run: number;
  readonly log: LogFile;
  readonly startedAt: string;
  /** Resolves when `exited` is reached. */
  readonly ended: Promise<void>;
  readonly #service: string;
  readonly #spec: Immutable<ProcessSpec>;
  readonly #context: ProcessContext;
  readonly #onChange: () => void;
  readonly #mark: Mark;
  readonly #startedMs: number;
  readonly #output = new LastOutput();
  #phase: Phase = "starting";
  #launched: Launched | undefined;
  #birth: string | undefined;
  #leaderLives = false;
  #requested = false;
  #killed = false;
  #exit: ExitSpec | undefined;
  #leftBehind: readonly number[] | undefined;
  #warning: string | undefined;

  /** Starts the process. A command that cannot be started is a process that ended with an error. */
  constructor(service: string, spec: Immutable<ProcessSpec>, context: ProcessContext, onChange: () => void) {
    const { clock, records, logPath } = context;
    this.run = spec.run;
    this.#service = service;
    this.#spec = spec;
    this.#context = context;
    this.#onChange = onChange;
    this.#mark = newMark(records.folder, service);
    this.#startedMs = clock.monotonic();
    this.startedAt = new Date(clock.now()).toISOString();
    this.log = new LogFile(logPath(service), spec.log, { clock, onError: onChange });
    this.ended = this.#live();
  }

  /** True while anything of it is there. */
  get isAlive(): boolean {
    return this.#phase !== "exited";
  }

  /** How it is at this moment. */
  get status(): ProcessStatusSpec {
    return {
      run: this.run,
      phase: this.#phase,
      pid: this.#launched?.pid,
      startedAt: this.startedAt,
      exit: this.#phase === "exited" ? this.#exit : undefined,
      logPath: this.log.path,
      leftBehind: this.#phase === "stopping" && this.#leftBehind !== undefined ? [...this.#leftBehind] : undefined,
      warning: this.log.error === undefined ? this.#warning : `output is lost: ${this.log.error}`,
    };
  }

  /** Asks the group to end, and kills it after the grace time. The first call counts; it returns at once. */
  stop(signal: string, graceMs: number): void {
    if (this.#requested || this.#phase === "exited") return;
    this.#requested = true;
    this.#phase = "stopping";
    if (this.#leaderLives && this.#launched !== undefined) {
      askToStop(-this.#launched.pid, signal);
      void this.#killAfter(graceMs);
    }
    this.#onChange();
  }

  /** Kills the group at once. */
  kill(): void {
    this.#killed = true;
    this.#requested = true;
    // Later the number could be another one's; what is left of the group is found by asking.
    if (this.#leaderLives && this.#launched !== undefined) signalProcess(-this.#launched.pid, "SIGKILL");
  }

  async #killAfter(graceMs: number): Promise<void> {
    const timeout = new AbortController();
    void this.ended.finally(() => timeout.abort());
    try {
      await sleep(graceMs, undefined, { signal: timeout.signal });
    } catch {
      return; // It ended in time.
    }
    this.kill();
  }

  async #live(): Promise<void> {
    const started = await this.#start();
    const streams = typeof started === "string" ? [] : [started.child.stdout, started.child.stderr];
    const output = Promise.all(streams.map((stream) => this.#drain(stream)));
    const ending = typeof started === "string" ? { error: started } : await this.#attend(started);
    const { clock, records } = this.#context;
    const ranMs = Math.round(clock.monotonic() - this.#startedMs);
    const exit = { ...ending, at: new Date(clock.now()).toISOString(), ranMs, requested: this.#requested };
    this.#phase = "stopping";
    if (typeof started !== "string") {
      await this.#stopRest(started.pid);
      // What holds the pipes now has shed every mark: it is not ours any more.
      await Promise.race([output, sleep(OUTPUT_GRACE_MS, undefined, { ref: false })]);
      for (const stream of started.child.stdio) stream?.destroy();
      await output;
    }
    // A record that stays behind does no harm: its birth says that the process is gone.
    await records.remove(this.#service).catch(() => {});
    await this.log[Symbol.asyncDispose]();
    // Whatever it said last, that is not why somebody killed it.
    const lastLine = "signal" in exit && exit.signal !== undefined ? this.#output.errorLine : this.#output.line;
    this.#exit = { ...exit, lastLine };
    this.#phase = "exited";
    this.#onChange();
  }

  /** The process, which waits to be released, or why there is none. */
  async #start(): Promise<Launched | string> {
    const { command, cwd, env } = this.#spec;
    const folder = resolve(this.#context.folder, cwd);
    const problem = await findStartProblem(command, folder, env["PATH"] ?? process.env["PATH"]);
    if (problem !== undefined) return problem;
    if (this.#requested) return "it was asked to stop before it was started";
    try {
      this.#launched = await launch(command, { cwd: folder, env, mark: this.#mark });
    } catch (error) {
      return `cannot start ${JSON.stringify(command[0])}: ${(error as Error).message}`;
    }
    this.#leaderLives = true;
    if (this.#killed) this.kill();
    else if (this.#requested) askToStop(-this.#launched.pid, this.#spec.stopSignal);
    return this.#launched;
  }

  /** Writes the process down, lets it begin, and resolves to how it ended. */
  async #attend({ pid, exited, unmarked, release }: Launched): Promise<Pick<ExitSpec, "code" | "signal">> {
    const recorded = this.#record(pid).then(() => {
      release();
      if (this.#phase === "starting") this.#phase = "running";
      this.#onChange();
    });
    void unmarked.then((refused) => {
      if (!refused) return;
      this.#warning ??=
        "the system refuses its mark: if it becomes a daemon and overwrites its environment, a supervisor that comes after a crash of this one does not find it";
      this.#onChange();
    });
    const ending = await exited;
    this.#leaderLives = false;
    await recorded;
    return ending;
  }

  /** Notes on disk what another supervisor needs to know. A full disk must not take the service down: its mark is left. */
  async #record(pid: number): Promise<void> {
    const { dependsOn, stopSignal, stopGraceMs } = this.#spec;
    try {
      const { birth } = (await inspectProcess(pid)) ?? {};
      if (birth === undefined) return;
      this.#birth = birth;
      const mark = String(this.#mark.number);
      const record = { service: this.#service, pid, birth, mark, dependsOn: [...dependsOn], stopSignal, stopGraceMs };
      await this.#context.records.write(record);
    } catch (error) {
      this.#warning = `cannot be written down: ${(error as Error).message}`;
    }
  }

  /** Ends what the first process left behind: in its group, and what left the group but carries the mark. */
  async #stopRest(group: number): Promise<void> {
    const members = async () => (await groupMembers(group, this.#birth)).map(({ pid }) => pid);
    const find = async () => {
      const marked = (await this.#context.search.find()).filter((one) => one.number === this.#mark.number);
      const left = new Set([...(await members()), ...marked.map(({ pid }) => pid)]);
      if (left.size > 0 && this.#leftBehind === undefined) {
        this.#leftBehind = [...left];
        this.#onChange();
      }
      return left;
    };
    await stopProcesses(find, {
      stopSignal: this.#spec.stopSignal,
      // When it was asked to stop, so was the whole group, and the grace time is running already.
      graceMs: this.#requested ? Number.POSITIVE_INFINITY : this.#spec.stopGraceMs,
      asked: this.#requested ? await members() : [],
      isForced: () => this.#killed,
    });
  }

  async #drain(stream: NodeJS.ReadableStream | null): Promise<void> {
    if (stream === null) return;
    try {
      for await (const chunk of stream) {
        const bytes = chunk as Buffer;
        this.#output.add(bytes);
        await this.log.write(bytes);
      }
    } catch (error) {
      // Closing a pipe from our side ends the loop like this.
      if ((error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE") return;
      await this.log.write(Buffer.from(`[supervisor: output cannot be read any more: ${(error as Error).message}]\n`));
    }
  }
}
