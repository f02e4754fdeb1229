import { kindOf, type Kind, type Pointer, type Resource } from "../../resource/index.ts";
import {
  ForwardingState,
  getOrNull,
  type Address,
  type CallOptions,
  type CoreState,
  type ForwardedOperation,
  type GetOptions,
  type Watch,
  type WatchKindOptions,
} from "../../state/index.ts";

/** One call of a store. */
export interface StateCall {
  readonly operation: "get" | "list" | "create" | "update" | "destroy" | "watch" | "watchKind" | "watchKindBatches";
  /** The kind, with an id where the call is about one resource. */
  readonly target: Kind & { readonly id?: string | undefined };
  readonly options: CallOptions & WatchKindOptions;
}

/** What an {@link InterceptedState} does around each call. */
export interface InterceptOptions {
  /** Called ahead of each call, which waits for it; what it throws is the call's failure, and the store is not asked. */
  readonly before?: ((call: StateCall) => void | Promise<void>) | undefined;
  /** Called when the store has done as asked; what it throws is the call's failure, as when an answer is lost. */
  readonly after?: ((call: StateCall) => void | Promise<void>) | undefined;
  /**
   * Called ahead of each delivery of a watch, which waits for it; what it throws, the watch throws. Such a watch lags
   * behind, as that of a store in another process, and can only be iterated.
   */
  readonly deliver?: ((call: StateCall) => void | Promise<void>) | undefined;
  /** Watches can only be iterated, also without {@link deliver}. Default: false. */
  readonly remote?: boolean | undefined;
}

/**
 * A store between a test and another one: sees every call, can delay it or make it fail, and knows which watches are
 * open. Derived operations show as the calls that they consist of.
 */
export class InterceptedState extends ForwardingState {
  readonly #core: CoreState;
  readonly #options: InterceptOptions;
  readonly #calls: StateCall[] = [];
  readonly #openWatches = new Set<StateCall>();

  constructor(core: CoreState, options: InterceptOptions = {}) {
    super();
    this.#core = core;
    this.#options = options;
  }

  /** Every call so far, oldest first, those that failed included. */
  get calls(): readonly StateCall[] {
    return this.#calls;
  }

  /** The calls that opened the watches that are neither disposed nor at their end. */
  get openWatches(): readonly StateCall[] {
    return [...this.#openWatches];
  }

  /** A get that may find nothing. */
  override getOrNull(pointer: Pointer, options?: GetOptions): Promise<Resource | undefined> {
    return getOrNull({ get: (...call) => this.get(...call) }, pointer, options);
  }

  protected forward<Target extends object, Options extends CallOptions, Result>(
    operation: ForwardedOperation<Target, Options, Result>,
    address: Address,
    target: Target,
    options: Options | undefined,
  ): Promise<Result> {
    const heard = options ?? ({} as Options);
    const call: StateCall = {
      operation: operation.name as StateCall["operation"],
      target: operation.of === "kind" ? kindOf(address) : address,
      options: heard,
    };
    const pass = (): Promise<Result> => operation.run(this.#core, target, heard);
    if (operation.verb !== "watch") return this.#pass(call, pass);
    return this.#open(call, pass as () => Promise<Watch<unknown>>) as Promise<Result>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#core[Symbol.asyncDispose]?.();
  }

  async #pass<T>(call: StateCall, run: () => Promise<T>): Promise<T> {
    this.#calls.push(call);
    await this.#options.before?.(call);
    const answer = await run();
    await this.#options.after?.(call);
    return answer;
  }

  async #open<T>(call: StateCall, run: () => Promise<Watch<T>>): Promise<Watch<T>> {
    this.#calls.push(call);
    await this.#options.before?.(call);
    const watch = await run();
    this.#openWatches.add(call);
    const { signal } = call.options;
    const onEnd = () => {
      signal?.removeEventListener("abort", onEnd);
      this.#openWatches.delete(call);
    };
    if (signal?.aborted) onEnd();
    signal?.addEventListener("abort", onEnd, { once: true });
    const { deliver, remote = deliver !== undefined } = this.#options;
    const passed = new PassedWatch(watch, onEnd, remote, async () => {
      await deliver?.(call);
      return this.#openWatches.has(call);
    });
    try {
      await this.#options.after?.(call);
    } catch (error) {
      await passed[Symbol.asyncDispose]();
      throw error;
    }
    return passed;
  }
}

/** A watch that tells when it ends. */
class PassedWatch<T> implements Watch<T> {
  readonly takePending?: () => T | undefined;
  readonly onPending?: (listener: () => void, onEnd?: () => void) => void;
  readonly #watch: Watch<T>;
  readonly #onEnd: () => void;
  readonly #mayDeliver: () => Promise<boolean>;

  /** @param mayDeliver - Asked ahead of each delivery; false when the watch has been closed meanwhile. */
  constructor(watch: Watch<T>, onEnd: () => void, remote: boolean, mayDeliver: () => Promise<boolean>) {
    this.#watch = watch;
    this.#onEnd = onEnd;
    this.#mayDeliver = mayDeliver;
    if (remote) return;
    if (watch.takePending !== undefined) this.takePending = () => watch.takePending?.();
    if (watch.onPending !== undefined) this.onPending = (listener, onEnd) => watch.onPending?.(listener, onEnd);
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    const result = await this.#watch.next();
    if (result.done !== true && (await this.#mayDeliver())) return result;
    this.#onEnd();
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    await this[Symbol.asyncDispose]();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#onEnd();
    await this.#watch[Symbol.asyncDispose]();
  }
}
