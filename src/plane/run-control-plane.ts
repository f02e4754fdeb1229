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
  if (!(Number.isFinite(stopTimeoutMs) && stopTimeoutMs >= 0)) {
    throw new RangeError(`stopTimeoutMs must be a finite number of milliseconds, at least 0, got ${stopTimeoutMs}`);
  }
  const isStopped = (): boolean => signal?.aborted === true;
  if (isStopped()) return;
  const state = await plane.state();
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (isStopped()) onAbort();
  const running = new RunningPlane(plane, state, logger, stop);
  const end = async (): Promise<void> => {
    signal?.removeEventListener("abort", onAbort);
    stop.abort();
    await withinTime(running.stop(), stopTimeoutMs, plane.runtime.clock ?? new SystemClock());
  };
  try {
    await running.run(options);
  } catch (error) {
    // What failed first is what there is to tell.
    await end().catch((failure: unknown) => logger.error("the control plane did not stop well", { error: failure }));
    throw error;
  }
  await end();
}

/** The parts of one run. */
class RunningPlane {
  readonly #plane: ControlPlane;
  readonly #state: State;
  readonly #logger: Logger;
  readonly #stop: AbortController;
  #serving: Serving | undefined;
  #runtime: Promise<void> | undefined;

  constructor(plane: ControlPlane, state: State, logger: Logger, stop: AbortController) {
    this.#plane = plane;
    this.#state = state;
    this.#logger = logger;
    this.#stop = stop;
  }

  /** Resolves when asked to stop; rejects when a part fails. */
  async run({ listen, onReady }: RunControlPlaneOptions): Promise<void> {
    const { resources, namespaces, controllers, onStart } = this.#plane;
    const { signal } = this.#stop;
    try {
      await describeTypes(this.#state, resources, namespaces, { signal });
      await onStart?.({ state: this.#state, signal, logger: this.#logger });
      const runtime = new Runtime(this.#state, { ...this.#plane.runtime, controllers, logger: this.#logger });
      const addresses = listen ?? this.#plane.listen ?? [];
      if (addresses.length > 0) {
        this.#serving = await serveState(this.#state, addresses, resources, this.#logger);
      }
      signal.throwIfAborted();
      this.#runtime = runtime.run({ signal });
      const work = Promise.all([this.#runtime, onReady?.(this.#serving?.addresses ?? [])]);
      await untilAborted(work, signal);
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) throw error;
    }
  }

  /** Ends what was started, in the opposite order. */
  async stop(): Promise<void> {
    await Promise.all([this.#serving?.close(), this.#runtime?.catch(() => undefined)]); // run() has told of a failure.
    await this.#state[Symbol.asyncDispose]();
  }
}

/** Waits for work that may take longer to stop than anyone waits; how that is over is for others to see. */
async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onAbort = (): void => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function withinTime(work: Promise<void>, timeoutMs: number, clock: Pick<SystemClock, "sleep">): Promise<void> {
  const enough = new AbortController();
  const timeout = async (): Promise<never> => {
    await clock.sleep(timeoutMs, { signal: enough.signal });
    throw new Error(`the control plane did not stop within ${timeoutMs} ms`);
  };
  try {
    await Promise.race([work, timeout()]);
  } finally {
    enough.abort();
  }
}
