import type { Clock } from "../../clock/index.ts";
import { compareTimes, formatPointer, lifeOf, Phase, type Pointer } from "../../resource/index.ts";
import type { CoreState, Watch } from "../core-state.ts";
import { EventType, type Event } from "../event.ts";
import type { CallOptions } from "../options.ts";
import type { TeardownSignal } from "../state.ts";
import { eventsOf, openWatch } from "./follow-watch.ts";
import { watchEnded } from "./watch-ended.ts";

/** Opens the watch behind the signal. The signal never aborts before the turn in which the call resolved is over. */
export async function signalWithTeardown(
  core: Pick<CoreState, "watch">,
  clock: Pick<Clock, "defer">,
  pointer: Pointer,
  { signal }: CallOptions,
): Promise<TeardownSignal> {
  signal?.throwIfAborted();
  const watch = await openWatch(core, pointer, signal);
  return new WatchedSignal(watch, clock, pointer, signal);
}

class WatchedSignal implements TeardownSignal {
  readonly #controller = new AbortController();
  readonly #watch: Watch;
  readonly #pointer: Pointer;
  /** When the life that the signal is for began; undefined until that is known. */
  #created: string | undefined;
  readonly #parent: AbortSignal | undefined;
  readonly #onParentAbort = (): void => this.#abort(this.#parent?.reason);
  /** Ends the wait for the next event, and with it the watch. */
  readonly #stop = new AbortController();
  readonly #pump: Promise<void>;
  #disposed = false;

  constructor(watch: Watch, clock: Pick<Clock, "defer">, pointer: Pointer, parent: AbortSignal | undefined) {
    this.#watch = watch;
    this.#pointer = pointer;
    this.#created = lifeOf(pointer);
    this.#parent = parent;
    parent?.addEventListener("abort", this.#onParentAbort, { once: true });
    this.#pump = new Promise<void>((resolve) => clock.defer(resolve)).then(() => this.#follow());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#parent?.removeEventListener("abort", this.#onParentAbort);
    this.#stop.abort();
    await this.#watch[Symbol.asyncDispose]();
    await this.#pump;
  }

  /** Ends when the signal has aborted or is disposed; never rejects. */
  async #follow(): Promise<void> {
    try {
      if (this.#parent?.aborted === true) throw this.#parent.reason;
      for await (const event of eventsOf(this.#watch, this.#stop.signal)) {
        if (this.#disposed) return;
        const reason = this.#reasonIn(event);
        // Before the watch is released, which may take its time.
        if (reason !== undefined) this.#abort(reason);
      }
      throw watchEnded(this.#pointer, this.#parent);
    } catch (reason) {
      if (!this.#disposed) this.#abort(reason);
    }
  }

  #reasonIn(event: Event): Error | undefined {
    if (event.type === EventType.errored) return event.error;
    if (event.type === EventType.destroyed) return this.#gone();
    if (event.type !== EventType.created && event.type !== EventType.updated) return undefined;
    const { created, phase } = event.resource.metadata;
    this.#created ??= created;
    // Without an event of its end, when the watch began after it or lost its place.
    if (compareTimes(created, this.#created) !== 0) return this.#gone();
    if (phase !== Phase.tearingDown) return undefined;
    return cancelled(`${formatPointer(this.#pointer)} is being torn down`);
  }

  #gone(): DOMException {
    return cancelled(`${formatPointer(this.#pointer)} does not exist any more`);
  }

  #abort(reason: unknown): void {
    this.#parent?.removeEventListener("abort", this.#onParentAbort);
    this.#controller.abort(reason);
    this.#stop.abort(reason);
  }
}

const cancelled = (message: string): DOMException => new DOMException(message, "AbortError");
