import type { Clock, Timer } from "../../clock/index.ts";
import { abortable } from "../../internal/abortable.ts";
import type { Logger } from "../../log/index.ts";
import type { CoreState, Event, Watch } from "../../state/index.ts";
import type { KindEventSource } from "./event-source.ts";

/** A watch that is not open by then, or a cache that is not filled, is logged. Unit: milliseconds. */
const SLOW_MS = 10_000;

export interface WatchLoopHost {
  readonly core: CoreState;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onError: (error: unknown) => void;
}

/**
 * A watch and the channel that it feeds: *opening*, *consuming*, then *closed*, by its owner, by an error, or because
 * the watch ended. Those who need it claim it; a claim is taken back only when the opening failed.
 */
export class WatchLoop {
  readonly channel: KindEventSource;
  readonly #host: WatchLoopHost;
  readonly #stopper = new AbortController();
  #opening: Promise<void> | undefined;
  #watch: Watch<readonly Event[]> | undefined;
  #claims = 0;
  #awaits: "opening" | "closing" | undefined;
  #slow: Timer | undefined;

  constructor(host: WatchLoopHost, channel: KindEventSource) {
    this.#host = host;
    this.channel = channel;
  }

  get isOpen(): boolean {
    return this.#watch !== undefined;
  }

  /** True when changes arrive within the write that makes them. */
  get synchronous(): boolean {
    return this.#watch?.onPending !== undefined && this.#watch.takePending !== undefined;
  }

  /** What the State has been asked for and has not answered, as text; undefined when there is nothing. */
  get unanswered(): string | undefined {
    const { namespace, type } = this.channel.kind;
    return this.#awaits && `the watch of ${type} in ${JSON.stringify(namespace)} (${this.#awaits})`;
  }

  claim(): void {
    this.#claims++;
  }

  /** Takes a claim back. True when it was the last. */
  release(): boolean {
    return --this.#claims === 0;
  }

  /**
   * Opens the watch and begins to consume it; when the promise resolves, its position is fixed. Calls share one opening.
   * It ends with {@link close}, whether or not the State answers; a watch that comes later is disposed of.
   *
   * @param onOpened - Called between the opening and the first event.
   */
  open(onOpened: (loop: WatchLoop) => void): Promise<void> {
    return (this.#opening ??= this.#open(onOpened));
  }

  /** Ends {@link open}, unless it is open. */
  giveUpOpening(reason: unknown): void {
    if (this.#watch === undefined) this.#stopper.abort(reason);
  }

  /** Resolves when nothing of the watch is left. */
  async close(reason: unknown): Promise<void> {
    this.#end(reason);
    const watch = this.#watch;
    if (watch === undefined) return;
    this.#awaits = "closing";
    try {
      await watch[Symbol.asyncDispose]();
    } finally {
      this.#awaits = undefined;
    }
  }

  async #open(onOpened: (loop: WatchLoop) => void): Promise<void> {
    const { signal } = this.#stopper;
    this.#slow = this.#host.clock.schedule(SLOW_MS, () => this.#warn());
    const answer = this.#request();
    try {
      this.#watch = await abortable(answer, signal);
    } catch (error) {
      this.#slow.cancel();
      if (signal.aborted) this.#discard(answer);
      throw error;
    }
    if (signal.aborted) {
      await this.close(signal.reason);
      throw signal.reason;
    }
    onOpened(this);
    this.#start(this.#watch);
    this.#checkFilled();
  }

  /**
   * Asks the State. A cached kind gets its contents first. Another gets a bookmark instead, so that a watch over a
   * network has a position to resume from even if nothing ever changes.
   */
  async #request(): Promise<Watch<readonly Event[]>> {
    const { signal } = this.#stopper;
    const cached = this.channel.cache !== undefined;
    const options = cached ? { signal, bootstrap: true } : { signal, bootstrapBookmark: true };
    this.#awaits = "opening";
    try {
      return await this.#host.core.watchKindBatches(this.channel.kind, options);
    } finally {
      this.#awaits = undefined;
    }
  }

  /** Nothing waits for the answer any more: an error is of no interest, and a watch has to be released. */
  #discard(answer: Promise<Watch<readonly Event[]>>): void {
    answer
      .then(
        (watch) => {
          this.#watch = watch;
          return this.close(undefined);
        },
        () => undefined,
      )
      .catch((error: unknown) =>
        this.#host.log.warn("a late watch could not be closed", { ...this.channel.kind, error }),
      );
  }

  /**
   * Begins to consume. Where the State allows it, each event is taken synchronously within its write, so that the
   * engine cannot fall behind; otherwise in microtasks.
   */
  #start(watch: Watch<readonly Event[]>): void {
    if (watch.onPending === undefined || watch.takePending === undefined) {
      void this.#iterate(watch);
      return;
    }
    const drain = (): void => {
      while (!this.#stopper.signal.aborted) {
        const batch = watch.takePending?.();
        if (batch === undefined) return;
        this.#consume(batch);
      }
    };
    watch.onPending(drain, () => this.#ended());
    drain();
  }

  /** Ends with the watch. A watch that does not answer any more after {@link close} is waited for by no one. */
  async #iterate(watch: Watch<readonly Event[]>): Promise<void> {
    try {
      for await (const batch of watch) {
        if (this.#stopper.signal.aborted) return;
        this.#consume(batch);
      }
      this.#ended();
    } catch (error) {
      this.#fail(error);
    }
  }

  #consume(batch: readonly Event[]): void {
    try {
      const error = this.channel.consume(batch);
      if (error !== undefined) this.#fail(error);
    } catch (error) {
      this.#fail(error);
    }
    if (this.#slow !== undefined) this.#checkFilled();
  }

  #checkFilled(): void {
    if (this.channel.cache?.filling === true) return;
    this.#slow?.cancel();
    this.#slow = undefined;
  }

  #warn(): void {
    const { namespace, type } = this.channel.kind;
    const what = this.#watch === undefined ? "a watch is not open yet" : "a cache is not filled yet";
    this.#host.log.warn(what, { namespace, type, afterMs: SLOW_MS });
  }

  #ended(): void {
    const { namespace, type } = this.channel.kind;
    this.#fail(new Error(`the watch of ${type} in ${JSON.stringify(namespace)} ended`));
  }

  /** Reports the first error only. */
  #fail(error: unknown): void {
    if (this.#stopper.signal.aborted) return;
    this.#end(error);
    this.#host.onError(error);
  }

  /** From now on nothing is consumed, and the cache has no one to feed it. */
  #end(reason: unknown): void {
    this.#stopper.abort(reason);
    this.#slow?.cancel();
    this.channel.cache?.close(reason);
  }
}
