import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import type { Clock } from "homeostat";

import type { ExitSpec, ProcessPhase, ProcessSpec } from "../resources/index.ts";
import { LastWords } from "./last-words.ts";
import { LogFile, type LogTarget } from "./log-file.ts";
import { encodeMarker, MARKER, type MarkedSearch } from "./marker.ts";
import { groupMembers, inspectProcess } from "./processes.ts";
import type { ProcessRecords } from "./process-records.ts";
import { signalGroup, signalProcess } from "./signal.ts";
import { waitUntil } from "./wait-until.ts";

/** What every process of one supervisor shares. */
export interface ProcessSurroundings {
  readonly records: ProcessRecords;
  readonly search: MarkedSearch;
  readonly clock: Clock;
  /** Path of the log of a service. */
  readonly logPath: (service: string) => string;
  /** Absolute folder of a service. */
  readonly folder: (cwd: string) => string;
  readonly openLog?: ((path: string) => Promise<LogTarget>) | undefined;
}

type Phase = Exclude<ProcessPhase, "idle">;

/** How long output that is still under way is waited for, after the last process of the group has gone. Unit: milliseconds. */
const OUTPUT_GRACE_MS = 500;

/**
 * One process of a service with all that it started: they share a process group of their own, and a token in their
 * environment, by which those are found that left the group.
 *
 * - `starting`: the first process lives, and is being written down for another supervisor that may have to find it.
 * - `running`: it lives.
 * - `stopping`: it was asked to stop, or has ended and left others behind, which are being stopped.
 * - `exited`: nobody is left, and the record on disk is gone.
 */
export class ManagedProcess {
  readonly service: string;
  readonly run: number;
  readonly log: LogFile;
  readonly pid: number | undefined;
  readonly startedAt: string;
  readonly #spec: ProcessSpec;
  readonly #around: ProcessSurroundings;
  readonly #onChange: () => void;
  /** Or why there is none. */
  readonly #child: ChildProcess | NodeJS.ErrnoException;
  readonly #token: string = randomUUID();
  readonly #startedMs: number;
  readonly #words = new LastWords();
  #phase: Phase = "starting";
  #requested = false;
  #killed = false;
  #exit: ExitSpec | undefined;
  #recordError: string | undefined;
  /** Resolves when `exited` is reached. */
  readonly ended: Promise<void>;

  /** Starts the process at once. A command that cannot be started is a process that ended with an error. */
  constructor(service: string, spec: ProcessSpec, around: ProcessSurroundings, onChange: () => void) {
    this.service = service;
    this.run = spec.run;
    this.#spec = spec;
    this.#around = around;
    this.#onChange = onChange;
    this.#startedMs = around.clock.monotonic();
    this.startedAt = new Date(around.clock.now()).toISOString();
    this.log = new LogFile(around.logPath(service), spec.log, {
      clock: around.clock,
      onError: onChange,
      openTarget: around.openLog,
    });

    this.#child = this.#spawn();
    this.pid = this.#child instanceof Error ? undefined : this.#child.pid;
    this.ended = this.#follow();
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Why a supervisor that comes after a crash of this one may not find it; undefined when it will. */
  get recordError(): string | undefined {
    return this.#recordError;
  }

  /** How it ended; undefined until `exited`. */
  get exit(): ExitSpec | undefined {
    return this.#phase === "exited" ? this.#exit : undefined;
  }

  /** Asks the group to end, and kills it after the grace time. Once is enough; it returns at once. */
  stop(signal: string, graceMs: number): void {
    if (this.#requested || this.#phase === "exited") return;
    this.#requested = true;
    const lives = this.#phase !== "stopping";
    this.#phase = "stopping";
    if (lives && this.pid !== undefined) {
      signalGroup(this.pid, signal as NodeJS.Signals);
      // A process that was halted would see the signal only when it goes on.
      signalGroup(this.pid, "SIGCONT");
      void this.#killAfter(graceMs);
    }
    this.#onChange();
  }

  /** Kills the group at once. */
  kill(): void {
    this.#killed = true;
    if (this.#phase === "exited" || this.pid === undefined || this.#child instanceof Error) return;
    this.#requested = true;
    // Later the number could be somebody else's; what is left of the group is found by asking.
    if (this.#child.exitCode === null && this.#child.signalCode === null) signalGroup(this.pid, "SIGKILL");
  }

  #spawn(): ChildProcess | NodeJS.ErrnoException {
    const { command, cwd, env } = this.#spec;
    const [program = "", ...args] = command;
    const { records, folder } = this.#around;
    const marker = encodeMarker({ records: records.folder, service: this.service, token: this.#token });
    try {
      return spawn(program, args, {
        cwd: folder(cwd),
        env: { ...process.env, ...env, [MARKER]: marker },
        // A session of its own: Ctrl-C in the terminal reaches the supervisor alone, which then stops services in order.
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
      });
    } catch (error) {
      return error as NodeJS.ErrnoException;
    }
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

  async #follow(): Promise<void> {
    const streams = this.#child instanceof Error ? [] : [this.#child.stdout, this.#child.stderr];
    const output = Promise.all(streams.map((stream) => this.#drain(stream)));
    const recorded = this.#record().then(() => {
      if (this.#phase !== "starting") return;
      this.#phase = "running";
      this.#onChange();
    });
    const exit = await this.#exited();
    this.#phase = "stopping";
    if (this.pid !== undefined) await this.#stopRest(this.pid);
    // Whoever holds the pipes now has left the group and forgot the token: it is not ours any more.
    await Promise.race([output, sleep(OUTPUT_GRACE_MS, undefined, { ref: false })]);
    for (const stream of streams) stream?.destroy();
    await output;
    await recorded;
    // A record that stays behind does no harm: its birth tells that the process is gone.
    await this.#around.records.remove(this.service).catch(() => {});
    await this.log[Symbol.asyncDispose]();
    // Whatever it said last, it is not why somebody killed it.
    const lastLine = exit.signal === undefined ? this.#words.line : this.#words.errorLine;
    this.#exit = { ...exit, lastLine };
    this.#phase = "exited";
    this.#onChange();
  }

  /** Resolves when the first process has ended; what it left behind may live on. */
  #exited(): Promise<ExitSpec> {
    const child = this.#child;
    return new Promise((resolve) => {
      const done = (how: Pick<ExitSpec, "code" | "signal" | "error">) => {
        const { clock } = this.#around;
        const ranMs = Math.round(clock.monotonic() - this.#startedMs);
        resolve({ ...how, at: new Date(clock.now()).toISOString(), ranMs, requested: this.#requested });
      };
      if (child instanceof Error) return done({ error: describeSpawnError(child, this.#spec) });
      child.once("exit", (code, signal) => done({ code: code ?? undefined, signal: signal ?? undefined }));
      child.on("error", (error) => {
        if (child.pid === undefined) done({ error: describeSpawnError(error, this.#spec) });
      });
    });
  }

  /** Ends what the first process left behind: in its group, and what left the group but carries the token. */
  async #stopRest(group: number): Promise<void> {
    const survivors = async (): Promise<ReadonlySet<number>> => {
      const marked = (await this.#around.search.find()).filter((one) => one.token === this.#token);
      return new Set([...(await groupMembers(group)), ...marked].map(({ pid }) => pid));
    };
    // A stop was asked of the whole group; a second signal would mean "at once" to some.
    const asked = new Set(this.#requested ? (await groupMembers(group)).map(({ pid }) => pid) : []);
    let told = false;
    const goneAfterAsking = async () => {
      const left = await survivors();
      if (left.size > 0 && !told) this.#onChange();
      told = true;
      for (const pid of left) {
        if (asked.has(pid)) continue;
        asked.add(pid);
        signalProcess(pid, this.#spec.stopSignal as NodeJS.Signals);
      }
      return left.size === 0;
    };
    // When it was asked to stop, the grace time is running already.
    const graceMs = this.#requested ? Number.POSITIVE_INFINITY : this.#spec.stopGraceMs;
    await waitUntil(async () => this.#killed || (await goneAfterAsking()), graceMs);
    await waitUntil(async () => {
      const left = await survivors();
      for (const pid of left) signalProcess(pid, "SIGKILL");
      return left.size === 0;
    }, Number.POSITIVE_INFINITY);
  }

  /**
   * Notes on disk what another supervisor needs to know. The token covers the moment before, and the case that it cannot
   * be written: a full disk must not take the service down.
   */
  async #record(): Promise<void> {
    if (this.pid === undefined) return;
    const { dependsOn, stopSignal, stopGraceMs } = this.#spec;
    try {
      const info = await inspectProcess(this.pid);
      if (info === undefined) return;
      const { pid, birth } = info;
      const record = { service: this.service, pid, birth, token: this.#token, dependsOn, stopSignal, stopGraceMs };
      await this.#around.records.write(record);
    } catch (error) {
      this.#recordError = `cannot be written down: ${(error as Error).message}`;
    }
  }

  async #drain(stream: NodeJS.ReadableStream | null): Promise<void> {
    if (stream === null) return;
    try {
      for await (const chunk of stream) {
        const bytes = chunk as Buffer;
        this.#words.add(bytes);
        await this.log.write(bytes);
      }
    } catch (error) {
      // Closing a pipe from our side ends the loop like this.
      if ((error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE") return;
      await this.log.write(Buffer.from(`[supervisor: output cannot be read any more: ${(error as Error).message}]\n`));
    }
  }
}

function describeSpawnError(error: NodeJS.ErrnoException, spec: ProcessSpec): string {
  const [program = ""] = spec.command;
  const start = `cannot start ${JSON.stringify(program)}`;
  if (error.code === "ENOENT") return `${start}: there is no such program, or no folder ${JSON.stringify(spec.cwd)}`;
  if (error.code === "EACCES") return `${start}: it is not executable`;
  return `${start}: ${error.message}`;
}
