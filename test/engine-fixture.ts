import { silentLogger } from "../src/log/index.ts";
import type { Controller, QueueController } from "../src/controller/index.ts";
import { Runtime, type RuntimeOptions } from "../src/runtime/index.ts";
import type { AnyResourceType, Kind } from "../src/resource/index.ts";
import type { CoreState, Event, State, Watch, WatchKindOptions } from "../src/state/index.ts";
import { InterceptedState } from "../src/testing/index.ts";

/** A promise that a test settles. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** A runtime that runs, and is stopped with its scope. */
export class Engine implements AsyncDisposable {
  readonly runtime: Runtime;
  /** Settles when the runtime has stopped; rejects when it failed. */
  readonly ended: Promise<void>;
  readonly #stopper = new AbortController();

  constructor(runtime: Runtime) {
    this.runtime = runtime;
    this.ended = runtime.run({ signal: this.#stopper.signal });
    // A test that expects a failure looks at `ended`; the others learn of it when they stop the engine.
    this.ended.catch(() => undefined);
  }

  /** Asks it to stop. */
  abort(): void {
    this.#stopper.abort();
  }

  /** Stops it. @throws what run() failed with. */
  async stop(): Promise<void> {
    this.abort();
    await this.ended;
  }

  metric(name: string, label: string): number {
    return this.runtime.metrics.value(name, label);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort();
    await this.ended.catch(() => undefined);
  }
}

/** Starts a runtime with these controllers. */
export async function startEngine(
  state: State,
  controllers: readonly (Controller | QueueController)[],
  options: RuntimeOptions = {},
): Promise<Engine> {
  const runtime = new Runtime(state, { logger: silentLogger, ...options });
  for (const controller of controllers) await runtime.register(controller);
  return new Engine(runtime);
}

/** Lets everything run that needs no time. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** A watch whose test says what it delivers. */
export class HandWatch<T> implements Watch<T> {
  readonly #values: T[] = [];
  #waiting: ((result: IteratorResult<T, undefined>) => void) | undefined;
  #closed = false;

  push(value: T): void {
    if (this.#waiting === undefined) this.#values.push(value);
    else this.#waiting({ done: false, value });
    this.#waiting = undefined;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const value = this.#values.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#closed) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    await this[Symbol.asyncDispose]();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#waiting?.({ done: true, value: undefined });
    this.#waiting = undefined;
  }
}

/** A State in memory whose watches of whole kinds are the test's own, for the types that `handWatched` names. */
export class HandWatchedState extends InterceptedState {
  readonly watches: Map<string, HandWatch<readonly Event[]>> = new Map<string, HandWatch<readonly Event[]>>();
  readonly #types: readonly string[];

  constructor(core: CoreState, ...types: readonly AnyResourceType[]) {
    super(core);
    this.#types = types.map(({ type }) => type);
  }

  override async watchKindBatches(kind: Kind, options: WatchKindOptions = {}): Promise<Watch<readonly Event[]>> {
    if (!this.#types.includes(kind.type)) return super.watchKindBatches(kind, options);
    const watch = new HandWatch<readonly Event[]>();
    options.signal?.addEventListener("abort", () => void watch.return(), { once: true });
    this.watches.set(kind.type, watch);
    return watch;
  }

  /** The watch that was opened for the type. */
  watchOf(type: AnyResourceType): HandWatch<readonly Event[]> {
    const watch = this.watches.get(type.type);
    if (watch === undefined) throw new Error(`nobody watches ${type.type}`);
    return watch;
  }
}
