import { SystemClock, type Clock } from "../../clock/index.ts";
import { kindOf } from "../../resource/index.ts";
import {
  ForwardingState,
  type Address,
  type CallOptions,
  type CoreState,
  type ForwardedOperation,
  type Watch,
} from "../../state/index.ts";
import { DeafWatch, WATCH_FAULTS, type WatchFault } from "./deaf-watch.ts";

/** Methods of a State that a {@link DeafState} can be deaf in. */
export const DEAF_OPERATIONS = [
  "get",
  "list",
  "create",
  "update",
  "destroy",
  "watch",
  "watchKind",
  "watchKindBatches",
] as const;
/** A call that a {@link DeafState} may be deaf to. */
export type DeafOperation = (typeof DEAF_OPERATIONS)[number];

/**
 * How a call goes wrong; the signal is ignored in each case. `never`: it is not answered. `late`: it is answered after
 * `lateMs`. `afterAbort`: it is answered, as if nothing had happened, once its signal has aborted.
 */
export const CALL_FAULTS = ["never", "late", "afterAbort"] as const;

/** Which call is deaf, and how. */
export interface Deafness {
  readonly operation: DeafOperation;
  /** Number of the call among those of its operation, from 1 on. */
  readonly call: number;
  /** The faults of watches are for operations that open one. */
  readonly fault: (typeof CALL_FAULTS)[number] | WatchFault;
  /** Unit: milliseconds. Default: 1000. */
  readonly lateMs?: number | undefined;
}

/** Options of a {@link DeafState}. */
export interface DeafStateOptions {
  /** Watches can only be iterated, as those of a State in another process. Default: false. */
  readonly remote?: boolean | undefined;
  /** Measures how late answers are. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

const isWatchFault = (fault: string): fault is WatchFault => (WATCH_FAULTS as readonly string[]).includes(fault);

/**
 * A store of which some calls are not answered, answered late or after their abort, and some watches fall silent: what
 * stands on it has to end all the same when it is told to. A call for a resource that may be absent counts as a `get`.
 */
export class DeafState extends ForwardingState {
  readonly #core: CoreState;
  readonly #deafness: readonly Deafness[];
  readonly #remote: boolean;
  readonly #clock: Clock;
  readonly #counts = new Map<DeafOperation, number>();
  readonly #hung = new Map<string, number>();
  readonly #recovered = Promise.withResolvers<void>();

  constructor(core: CoreState, deafness: readonly Deafness[], options: DeafStateOptions = {}) {
    super();
    this.#core = core;
    this.#deafness = deafness;
    this.#remote = options.remote ?? false;
    this.#clock = options.clock ?? new SystemClock();
  }

  /** The calls that are not answered now, such as `get of Services.example.dev(default/web)`. */
  get hung(): readonly string[] {
    return [...this.#hung].flatMap(([call, count]) => Array.from({ length: count }, () => call));
  }

  /** Answers everything that hangs, as a peer that comes back. */
  recover(): void {
    this.#recovered.resolve();
  }

  protected forward<Target extends object, Options extends CallOptions, Result>(
    operation: ForwardedOperation<Target, Options, Result>,
    address: Address,
    target: Target,
    options: Options | undefined,
  ): Promise<Result> {
    const name = (operation.name === "getOrNull" ? "get" : operation.name) as DeafOperation;
    const about = operation.of === "kind" ? kindOf(address) : address;
    const given = options ?? ({} as Options);
    const call = (heard: Options): Promise<Result> => operation.run(this.#core, target, heard);
    if (operation.verb !== "watch") return this.#call(name, about, given, call);
    return this.#open(name, about, given, call as (heard: Options) => Promise<Watch<unknown>>) as Promise<Result>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#core[Symbol.asyncDispose]?.();
  }

  #call<O extends CallOptions, T>(
    operation: DeafOperation,
    target: Address,
    options: O,
    run: (heard: O) => Promise<T>,
  ): Promise<T> {
    const fault = this.#faultOf(operation);
    if (fault === undefined || isWatchFault(fault.fault)) return run(options);
    return this.#hang(describe(operation, target), fault, options, run);
  }

  async #open<O extends CallOptions, T>(
    operation: DeafOperation,
    target: Address,
    options: O,
    run: (heard: O) => Promise<Watch<T>>,
  ): Promise<Watch<T>> {
    const fault = this.#faultOf(operation);
    if (fault === undefined) return this.#remote ? new DeafWatch(await run(options)) : run(options);
    if (isWatchFault(fault.fault)) {
      return new DeafWatch(await run({ ...options, signal: undefined }), fault.fault, this.#recovered.promise);
    }
    const watch = await this.#hang(describe("watch", target), fault, options, run);
    return this.#remote ? new DeafWatch(watch) : watch;
  }

  #faultOf(operation: DeafOperation): Deafness | undefined {
    const call = (this.#counts.get(operation) ?? 0) + 1;
    this.#counts.set(operation, call);
    return this.#deafness.find((one) => one.operation === operation && one.call === call);
  }

  async #hang<O extends CallOptions, T>(
    call: string,
    { fault, lateMs = 1000 }: Deafness,
    options: O,
    run: (heard: O) => Promise<T>,
  ): Promise<T> {
    const { signal } = options;
    const until = [this.#recovered.promise];
    if (fault === "late") until.push(this.#clock.sleep(lateMs));
    else if (fault === "afterAbort" && signal !== undefined) until.push(aborted(signal));
    this.#hung.set(call, (this.#hung.get(call) ?? 0) + 1);
    try {
      await Promise.race(until);
      return await run({ ...options, signal: undefined });
    } finally {
      const left = (this.#hung.get(call) ?? 0) - 1;
      if (left > 0) this.#hung.set(call, left);
      else this.#hung.delete(call);
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

const describe = (operation: string, { namespace, type, id }: Address): string =>
  `${operation} of ${type}(${namespace}${id === undefined ? "" : `/${id}`})`;
