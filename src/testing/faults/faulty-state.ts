import { SystemClock, type Clock } from "../../clock/index.ts";
import { formatReference, StateError, type Kind, type Pointer } from "../../resource/index.ts";
import {
  EventType,
  type CoreState,
  type Event,
  type Watch,
  type WatchKindOptions,
  type WatchOptions,
} from "../../state/index.ts";
import { InterceptedState, type StateCall } from "./intercepted-state.ts";

/** Which call fails, and how. */
export interface Fault {
  /** Only calls that it agrees to. Default: any. */
  readonly of?: ((call: StateCall) => boolean) | undefined;
  /** What the call rejects with. Default: a `StateError` with `unavailable`. */
  readonly error?: Error | undefined;
  /** The store does as asked, and only the answer is lost. Default: false, the store is not asked. */
  readonly answerLost?: boolean | undefined;
}

/** Which calls of a {@link FaultyState} fail, and how. */
export interface FaultyStateOptions {
  /** Fails every n-th call that {@link FaultyStateOptions.fault} is about. Default: none. */
  readonly failEvery?: number | undefined;
  readonly fault?: Fault | undefined;
  /** How long each call takes before the store is asked. Unit: milliseconds. Default: 0. */
  readonly callMs?: number | undefined;
  /** How long each delivery of a watch takes, as with a slow reader. Unit: milliseconds. Default: 0. */
  readonly deliveryMs?: number | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/**
 * A store that is slow, fails now and then, and loses its watches, as one in another process does. What it answers is
 * what the store behind it answers. Its watches can only be iterated.
 */
export class FaultyState extends InterceptedState {
  readonly #watches: Set<FaultyWatch<Event> | FaultyWatch<readonly Event[]>>;
  readonly #planned: { readonly fault: Fault; count: number }[];
  readonly #delayDelivery: Delay | undefined;

  constructor(core: CoreState, options: FaultyStateOptions = {}) {
    const { failEvery, fault = {}, callMs = 0, deliveryMs = 0, clock = new SystemClock() } = options;
    if (failEvery !== undefined && !(Number.isSafeInteger(failEvery) && failEvery >= 1)) {
      throw new RangeError(`failEvery must be a whole number of at least 1, got ${failEvery}`);
    }
    const planned: { readonly fault: Fault; count: number }[] = [];
    const lost = new Map<StateCall, Error>();
    let counted = 0;
    const faultOf = (call: StateCall): Fault | undefined => {
      if (failEvery !== undefined && fault.of?.(call) !== false && ++counted % failEvery === 0) return fault;
      const next = planned.find((one) => one.count > 0 && one.fault.of?.(call) !== false);
      if (next !== undefined) next.count--;
      return next?.fault;
    };
    super(core, {
      remote: true,
      before: async (call) => {
        if (callMs > 0) await clock.sleep(callMs, { signal: call.options.signal });
        const present = faultOf(call);
        if (present === undefined) return;
        const error = present.error ?? unavailable(call);
        if (present.answerLost !== true) throw error;
        lost.set(call, error);
      },
      after: (call) => {
        const error = lost.get(call);
        lost.delete(call);
        if (error !== undefined) throw error;
      },
    });
    this.#planned = planned;
    this.#watches = new Set();
    this.#delayDelivery = deliveryMs > 0 ? (signal) => clock.sleep(deliveryMs, { signal }) : undefined;
  }

  /** Makes the next `count` calls that the fault is about fail. Several plans wait for one another. */
  failNext(fault: Fault = {}, count = 1): void {
    this.#planned.push({ fault, count });
  }

  /** Ends every open watch with an `Errored` event, as a lost connection does; what is pending is not delivered. */
  breakWatches(error: Error = new StateError("unavailable", "the connection was lost")): void {
    const broken = [...this.#watches];
    this.#watches.clear();
    for (const watch of broken) watch.break(error);
  }

  override async watch(pointer: Pointer, options?: WatchOptions): Promise<Watch> {
    return this.#add(new FaultyWatch(await super.watch(pointer, options), plain, options?.signal, this.#delayDelivery));
  }

  override async watchKind(kind: Kind, options?: WatchKindOptions): Promise<Watch> {
    return this.#add(
      new FaultyWatch(await super.watchKind(kind, options), plain, options?.signal, this.#delayDelivery),
    );
  }

  override async watchKindBatches(kind: Kind, options?: WatchKindOptions): Promise<Watch<readonly Event[]>> {
    return this.#add(
      new FaultyWatch(await super.watchKindBatches(kind, options), batch, options?.signal, this.#delayDelivery),
    );
  }

  #add<W extends FaultyWatch<Event> | FaultyWatch<readonly Event[]>>(watch: W): W {
    this.#watches.add(watch);
    watch.onEnd = () => this.#watches.delete(watch);
    return watch;
  }
}

const errored = (error: Error): Event => Object.freeze({ type: EventType.errored, error });
const plain = errored;
const batch = (error: Error): readonly Event[] => Object.freeze([errored(error)]);

const unavailable = ({ operation, target }: StateCall): StateError =>
  new StateError(
    "unavailable",
    `${operation} of ${formatReference({ ...target, id: target.id ?? "" })} failed on purpose`,
  );

const DONE = { done: true, value: undefined } as const;

/** Waits before a delivery; rejects when the signal aborts. */
type Delay = (signal: AbortSignal) => Promise<void>;

/** A watch that can be broken off and slowed down. */
class FaultyWatch<T> implements Watch<T> {
  readonly #watch: Watch<T>;
  readonly #terminal: (error: Error) => T;
  readonly #delay: Delay | undefined;
  readonly #ended = new AbortController();
  /** Aborts when nothing more may be delivered. */
  readonly #signal: AbortSignal;
  readonly #broken = Promise.withResolvers<void>();
  #failure: Error | undefined;
  onEnd: () => void = () => undefined;

  constructor(
    watch: Watch<T>,
    terminal: (error: Error) => T,
    signal: AbortSignal | undefined,
    delay: Delay | undefined,
  ) {
    this.#watch = watch;
    this.#terminal = terminal;
    this.#delay = delay;
    this.#signal = signal === undefined ? this.#ended.signal : AbortSignal.any([signal, this.#ended.signal]);
  }

  break(error: Error): void {
    this.#failure = error;
    this.#broken.resolve();
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    const result = await Promise.race([this.#broken.promise, this.#next()]);
    if (this.#signal.aborted) return DONE;
    const failure = this.#failure;
    if (failure === undefined && result !== undefined && result.done !== true) return result;
    await this[Symbol.asyncDispose]();
    return failure === undefined ? DONE : { done: false, value: this.#terminal(failure) };
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    await this[Symbol.asyncDispose]();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.onEnd();
    await this.#watch[Symbol.asyncDispose]();
  }

  async #next(): Promise<IteratorResult<T, undefined>> {
    const result = await this.#watch.next();
    if (result.done === true || this.#delay === undefined) return result;
    try {
      await this.#delay(this.#signal);
      return result;
    } catch (error) {
      if (this.#signal.aborted) return DONE;
      throw error;
    }
  }
}
