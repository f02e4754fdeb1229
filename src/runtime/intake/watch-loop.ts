import type { CoreState, Event, Watch } from "../../state/index.ts";
import type { KindChannel } from "./event-source.ts";

/** A watch and the channel that it feeds: *new*, *open*, *consuming*, then *closed* by its owner or by an error. */
export class WatchIntake {
  readonly channel: KindChannel;
  readonly #core: CoreState;
  readonly #onError: (error: unknown) => void;
  readonly #stopper = new AbortController();
  #watch: Watch<readonly Event[]> | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(core: CoreState, channel: KindChannel, onError: (error: unknown) => void) {
    this.#core = core;
    this.channel = channel;
    this.#onError = onError;
  }

  /** True when changes arrive within the write that makes them. */
  get synchronous(): boolean {
    return this.#watch?.onPending !== undefined && this.#watch.takePending !== undefined;
  }

  /**
   * Opens the watch; when the promise resolves, its position is fixed.
   *
   * A cached kind gets its contents first. Another gets a bookmark instead, so that a watch over a network has a
   * position to resume from even if nothing ever changes.
   */
  async open(): Promise<void> {
    const { signal } = this.#stopper;
    const cached = this.channel.cache !== undefined;
    const options = cached ? { signal, bootstrap: true } : { signal, bootstrapBookmark: true };
    const watch = await this.#core.watchKindBatches(this.channel.kind, options);
    if (signal.aborted) {
      await watch[Symbol.asyncDispose]();
      signal.throwIfAborted();
    }
    this.#watch = watch;
  }

  /**
   * Begins to consume. Where the State allows it, each event is taken synchronously within its write, so that the
   * engine cannot fall behind; otherwise in microtasks.
   */
  start(): void {
    const watch = this.#watch;
    if (watch === undefined) throw new Error("a watch is opened before it is consumed");
    if (watch.onPending === undefined || watch.takePending === undefined) {
      this.#loop = this.#iterate(watch);
      return;
    }
    const drain = (): void => {
      while (!this.#stopper.signal.aborted) {
        const batch = watch.takePending?.();
        if (batch === undefined) return;
        this.#consume(batch);
      }
    };
    watch.onPending(drain);
    drain();
  }

  /** Resolves when nothing of the watch is left. */
  async close(reason: unknown): Promise<void> {
    this.#stopper.abort(reason);
    await this.#watch?.[Symbol.asyncDispose]();
    await this.#loop;
  }

  async #iterate(watch: Watch<readonly Event[]>): Promise<void> {
    try {
      for await (const batch of watch) {
        if (this.#stopper.signal.aborted) return;
        this.#consume(batch);
      }
      const { namespace, type } = this.channel.kind;
      this.#fail(new Error(`the watch of ${type} in ${JSON.stringify(namespace)} ended`));
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
  }

  /** Reports the first error only. */
  #fail(error: unknown): void {
    if (this.#stopper.signal.aborted) return;
    this.#stopper.abort(error);
    this.#onError(error);
  }
}
