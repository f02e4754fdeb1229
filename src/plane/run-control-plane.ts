import { type Logger, consoleLogger } from "../log/index.ts";
import { SystemClock } from "../clock/index.ts";
import { abortable } from "../internal/abortable.ts";
import { Runtime } from "../runtime/index.ts";
import { wrapState, type State } from "../state/index.ts";
import type { ControlPlane, RunControlPlaneOptions, Serving } from "./control-plane.ts";
import { describeTypes } from "./describe-types.ts";
import { EngineState } from "./engine/engine-state.ts";
import { ENGINE_TYPES, isEngineKind } from "./engine/engine-types.ts";
import { MountedState } from "./engine/mounted-state.ts";
import { serveState } from "./serve-state.ts";

/** Of the time to stop, what the runtime leaves to what stops after it: up to a third. Unit: milliseconds. */
const MAX_AFTER_RUNTIME_MS = 5_000;

/** {@link ControlPlane.run} */
export async function runControlPlane(plane: ControlPlane, options: RunControlPlaneOptions = {}): Promise<void> {
  const { clock = new SystemClock() } = plane.runtime;
  const { signal, logger = consoleLogger({ now: () => clock.now() }), stopTimeoutMs = 15_000 } = options;
  if (!(stopTimeoutMs >= 0)) {
    throw new RangeError(`stopTimeoutMs must be a number of milliseconds, at least 0, got ${stopTimeoutMs}`);
  }
  const isStopped = (): boolean => signal?.aborted === true;
  if (isStopped()) return;
  const state = await openState(options.state ?? plane.state, signal, logger);
  if (state === undefined) return;
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (isStopped()) onAbort();
  const running = new RunningPlane(plane, state, logger, stop.signal, stopTimeoutMs);
  const end = async (how: "drain" | "fail"): Promise<void> => {
    signal?.removeEventListener("abort", onAbort);
    stop.abort();
    await withinTime(
      (late) => running.stop(how === "drain", late),
      () => running.waiting,
      stopTimeoutMs,
      clock,
    );
    // An `onReady` that hangs holds up nothing.
    if (running.waiting.length > 0) logger.warn("the control plane has left parts behind", { parts: running.waiting });
  };
  try {
    await running.run(options);
  } catch (error) {
    // What failed first is what there is to tell.
    await end("fail").catch((failure: unknown) =>
      logger.error("the control plane did not stop well", { error: failure }),
    );
    throw error;
  }
  await end("drain");
}

/** Undefined when the signal aborts before the State is open: one that comes later is disposed of then. */
async function openState(
  open: () => State | Promise<State>,
  signal: AbortSignal | undefined,
  logger: Logger,
): Promise<State | undefined> {
  const opening = (async () => open())();
  try {
    return await (signal === undefined ? opening : abortable(opening, signal));
  } catch (error) {
    if (signal?.aborted !== true || error !== signal.reason) throw error;
  }
  logger.warn("the control plane stops before its State is open");
  const tooLate = (error: unknown): void => logger.warn("a State that came too late failed", { error });
  opening.then((state) => state[Symbol.asyncDispose]()).catch(tooLate);
  return undefined;
}

/** The parts of one run. */
class RunningPlane {
  readonly #plane: ControlPlane;
  readonly #state: State;
  readonly #logger: Logger;
  /** Aborts when a stop is asked for: first comes `onStop`. */
  readonly #asked: AbortSignal;
  readonly #stopTimeoutMs: number;
  /** Ends controllers and tasks. */
  readonly #end = new AbortController();
  readonly #cleanups: (() => void | PromiseLike<void>)[] = [];
  /** What has been asked for and has not ended, for the report of a stop that hangs. */
  readonly #waiting = new Set<string>();
  #starting: Promise<void> = Promise.resolve();
  #serving: Serving | undefined;
  /** What runs until the end; empty before it is started. */
  #parts: readonly Promise<void>[] = [];

  constructor(plane: ControlPlane, state: State, logger: Logger, asked: AbortSignal, stopTimeoutMs: number) {
    this.#stopTimeoutMs = stopTimeoutMs;
    this.#plane = plane;
    this.#state = state;
    this.#logger = logger;
    this.#asked = asked;
  }

  /** What has not ended. */
  get waiting(): readonly string[] {
    return [...this.#waiting];
  }

  /** Resolves when asked to stop; rejects when a part fails. */
  async run(options: RunControlPlaneOptions): Promise<void> {
    const signal = this.#asked;
    this.#starting = this.#start(options);
    const work = this.#starting.then(async () => {
      const ready = this.#during("onReady", () => options.onReady?.(this.#serving?.addresses ?? []));
      await Promise.all([...this.#parts, ready]);
    });
    try {
      await untilAborted(work, signal);
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) throw error;
    }
  }

  /** Ends what was started, in the opposite order. */
  async stop(drain: boolean, late: AbortSignal): Promise<void> {
    const errors: unknown[] = [];
    const attempt = async (work: () => unknown): Promise<void> => {
      try {
        await work();
      } catch (error) {
        errors.push(error);
      }
    };
    /** For failures that {@link run} tells of, unless it was asked to stop before they came. */
    const tell = (results: readonly PromiseSettledResult<unknown>[]): void => {
      for (const result of results) {
        if (drain && result.status === "rejected" && !this.#isKnown(result.reason, errors)) errors.push(result.reason);
      }
    };
    tell(await Promise.allSettled([this.#starting]));
    if (drain && this.#parts.length > 0) await attempt(() => this.#during("onStop", () => this.#drain(late)));
    this.#end.abort(this.#asked.reason);
    await attempt(async () => {
      const [closed, ...parts] = await Promise.allSettled([
        this.#during("its server", () => this.#serving?.close()),
        ...this.#parts,
      ]);
      tell(parts);
      if (closed.status === "rejected") throw closed.reason;
    });
    for (const cleanup of this.#cleanups) await attempt(() => this.#during("a cleanup", cleanup));
    await attempt(() => this.#during("its State", () => this.#state[Symbol.asyncDispose]()));
    if (errors.length > 0) throw errors[0];
  }

  async #start({ listen, server, onListenError, onRuntime }: RunControlPlaneOptions): Promise<void> {
    const { resources, namespaces, controllers, onStart, tasks } = this.#plane;
    const [state, logger, signal] = [this.#state, this.#logger, this.#asked];
    const addresses = listen ?? this.#plane.listen ?? [];
    const types = addresses.length > 0 ? [...resources, ...ENGINE_TYPES] : resources;
    await describeTypes(state, types, namespaces, { signal, during: (what, act) => this.#during(what, act) });
    signal.throwIfAborted();
    const defer = (cleanup: () => void | PromiseLike<void>) => void this.#cleanups.unshift(cleanup);
    await this.#during("onStart", () => onStart?.({ state, signal, logger, defer }));
    const shutdownGraceMs = Math.ceil(this.#stopTimeoutMs - Math.min(MAX_AFTER_RUNTIME_MS, this.#stopTimeoutMs / 3));
    const runtime = new Runtime(state, { shutdownGraceMs, ...this.#plane.runtime, controllers, logger });
    await this.#during("onRuntime", () => onRuntime?.({ runtime, defer }));
    if (addresses.length > 0) {
      const served = this.#withEngine(runtime);
      const serve = () => serveState(served, addresses, { ...server, types, logger }, onListenError);
      this.#serving = await this.#during("its server to listen", serve);
    }
    signal.throwIfAborted();
    const context = { state, logger, signal: this.#end.signal };
    this.#parts = [
      this.#during("the runtime", () => runtime.run({ signal: this.#end.signal })),
      ...tasks.map((task) => this.#during(`task ${JSON.stringify(task.name)}`, async () => task.run(context))),
    ];
    // Those who wait for them come in the next turn.
    for (const part of this.#parts) part.catch(() => undefined);
  }

  /** The State, with the engine as resources in it. */
  #withEngine(runtime: Runtime): State {
    const clock = this.#plane.runtime.clock ?? new SystemClock();
    const engine = new EngineState(runtime, clock);
    this.#cleanups.push(() => engine[Symbol.asyncDispose]());
    return wrapState(new MountedState(this.#state, engine, isEngineKind), { clock });
  }

  /** True for the reason of the stop itself, and for what is told of already. */
  #isKnown(error: unknown, told: readonly unknown[]): boolean {
    return (this.#asked.aborted && error === this.#asked.reason) || told.includes(error);
  }

  async #during<T>(what: string, act: () => T | PromiseLike<T>): Promise<T> {
    this.#waiting.add(what);
    try {
      return await act();
    } finally {
      this.#waiting.delete(what);
    }
  }

  /** Runs `onStop`; a part that fails meanwhile ends it. */
  async #drain(late: AbortSignal): Promise<void> {
    const failed = new AbortController();
    const signal = AbortSignal.any([late, failed.signal]);
    const context = { state: this.#state, logger: this.#logger, signal };
    const work = (async () => this.#plane.onStop?.(context))();
    const { promise: overdue, reject } = Promise.withResolvers<never>();
    const onLate = (): void => reject(late.reason);
    late.addEventListener("abort", onLate, { once: true });
    try {
      await Promise.race([work, overdue, ...this.#parts.map((part) => part.then(() => work))]);
    } catch (error) {
      failed.abort(error);
      throw error;
    } finally {
      late.removeEventListener("abort", onLate);
    }
  }
}

/** Waits for work that may take longer to stop than anyone waits; how that is over is for others to see. */
async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onAbort = (): void => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Does `work`, whose signal aborts when the time is over. */
async function withinTime(
  work: (late: AbortSignal) => Promise<void>,
  waiting: () => readonly string[],
  timeoutMs: number,
  clock: Pick<SystemClock, "sleep">,
): Promise<void> {
  const late = new AbortController();
  if (timeoutMs === Infinity) return work(late.signal);
  const enough = new AbortController();
  const timeout = async (): Promise<never> => {
    await clock.sleep(timeoutMs, { signal: enough.signal });
    const error = new Error(
      `the control plane did not stop within ${timeoutMs} ms: it waits for ${waiting().join(", ") || "its start"}`,
    );
    late.abort(error);
    throw error;
  };
  try {
    await Promise.race([work(late.signal), timeout()]);
  } finally {
    enough.abort();
  }
}
