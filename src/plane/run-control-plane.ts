import { type Logger, consoleLogger } from "../log/index.ts";
import { SystemClock } from "../clock/index.ts";
import { Runtime } from "../runtime/index.ts";
import type { State } from "../state/index.ts";
import type { ControlPlane, RunControlPlaneOptions, Serving } from "./control-plane.ts";
import { describeTypes } from "./describe-types.ts";
import { serveState } from "./serve-state.ts";

/** {@link ControlPlane.run} */
export async function runControlPlane(plane: ControlPlane, options: RunControlPlaneOptions = {}): Promise<void> {
  const { signal, logger = consoleLogger(), stopTimeoutMs = 15_000 } = options;
  if (!(stopTimeoutMs >= 0)) {
    throw new RangeError(`stopTimeoutMs must be a number of milliseconds, at least 0, got ${stopTimeoutMs}`);
  }
  const isStopped = (): boolean => signal?.aborted === true;
  if (isStopped()) return;
  const state = await plane.state();
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (isStopped()) onAbort();
  const running = new RunningPlane(plane, state, logger, stop.signal);
  const end = (how: "drain" | "fail"): Promise<void> => {
    signal?.removeEventListener("abort", onAbort);
    stop.abort();
    const clock = plane.runtime.clock ?? new SystemClock();
    return withinTime((late) => running.stop(how === "drain", late), stopTimeoutMs, clock);
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

/** The parts of one run. */
class RunningPlane {
  readonly #plane: ControlPlane;
  readonly #state: State;
  readonly #logger: Logger;
  /** Aborts when a stop is asked for: first comes `onStop`. */
  readonly #asked: AbortSignal;
  /** Ends controllers and tasks. */
  readonly #end = new AbortController();
  readonly #cleanups: (() => void | Promise<void>)[] = [];
  #serving: Serving | undefined;
  /** What runs until the end; empty before it is started. */
  #parts: readonly Promise<void>[] = [];

  constructor(plane: ControlPlane, state: State, logger: Logger, asked: AbortSignal) {
    this.#plane = plane;
    this.#state = state;
    this.#logger = logger;
    this.#asked = asked;
  }

  /** Resolves when asked to stop; rejects when a part fails. */
  async run({ listen, onReady, onListenError }: RunControlPlaneOptions): Promise<void> {
    const { resources, namespaces, controllers, onStart, tasks } = this.#plane;
    const [state, logger, signal] = [this.#state, this.#logger, this.#asked];
    try {
      await describeTypes(state, resources, namespaces, { signal });
      await onStart?.({ state, signal, logger, defer: (cleanup) => void this.#cleanups.unshift(cleanup) });
      const runtime = new Runtime(state, { ...this.#plane.runtime, controllers, logger });
      const addresses = listen ?? this.#plane.listen ?? [];
      if (addresses.length > 0) {
        this.#serving = await serveState(state, addresses, resources, logger, onListenError);
      }
      signal.throwIfAborted();
      const context = { state, logger, signal: this.#end.signal };
      this.#parts = [runtime.run({ signal: this.#end.signal }), ...tasks.map(async (task) => task.run(context))];
      const ready = onReady?.(this.#serving?.addresses ?? []);
      await untilAborted(Promise.all([...this.#parts, ready]), signal);
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
    if (drain && this.#parts.length > 0) await attempt(() => this.#drain(late));
    this.#end.abort(this.#asked.reason);
    // run() or #drain() has told of a failure.
    await attempt(() => Promise.all([this.#serving?.close(), Promise.allSettled(this.#parts)]));
    for (const cleanup of this.#cleanups) await attempt(cleanup);
    await attempt(() => this.#state[Symbol.asyncDispose]());
    if (errors.length > 0) throw errors[0];
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
  timeoutMs: number,
  clock: Pick<SystemClock, "sleep">,
): Promise<void> {
  const late = new AbortController();
  if (timeoutMs === Infinity) return work(late.signal);
  const enough = new AbortController();
  const timeout = async (): Promise<never> => {
    await clock.sleep(timeoutMs, { signal: enough.signal });
    const error = new Error(`the control plane did not stop within ${timeoutMs} ms`);
    late.abort(error);
    throw error;
  };
  try {
    await Promise.race([work(late.signal), timeout()]);
  } finally {
    enough.abort();
  }
}
