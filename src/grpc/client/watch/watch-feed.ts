import type { Clock } from "../../../clock/index.ts";
import { createTombstone } from "../../../resource/index.ts";
import { EventType, type Event } from "../../../state/index.ts";
import type { UnknownEvent } from "../../messages/event-decoder.ts";
import {
  categorized,
  explainBreak,
  explainOpen,
  isFinal,
  isLost,
  isStreamEnd,
  isTooLarge,
  watchFailure,
} from "./watch-errors.ts";
import type { WatchRetry } from "./watch-retry.ts";
import type { WatchStream } from "./watch-stream.ts";
import { StartMarker } from "./start-marker.ts";
import { openRequest, resumeRequest, resyncRequest, type WatchTarget } from "./watch-target.ts";

/** What a watch needs of its client. */
export interface WatchHost {
  readonly clock: Clock;
  /** Opens a stream and waits for its first message. @throws {GrpcError} */
  open(target: WatchTarget, request: Uint8Array, signal: AbortSignal): Promise<WatchStream>;
  /** Waits before the next attempt; less when there is a connection before. Rejects with the signal's reason. */
  pause(waitMs: number, signal: AbortSignal): Promise<void>;
  /** The watch broke; it is opened again after `waitMs`. `first` is true once for each interruption. */
  onRetry(target: WatchTarget, error: Error, waitMs: number, first: boolean): void;
  /** The watch is open again. */
  onResumed(target: WatchTarget, resynced: boolean): void;
  /** Called once, when the watch is over. */
  onOver(feed: WatchFeed): void;
}

/** How a watch goes on: behind an event, or anew. */
type Plan = { readonly kind: "resume"; readonly bookmark: Uint8Array } | { readonly kind: "resync" };

/** A watch that loses its place twice within this time waits before it begins anew. Unit: milliseconds. */
const AGAIN_MS = 60_000;

const RESYNC: Plan = { kind: "resync" };
const NOTHING: readonly Event[] = Object.freeze([]);

/**
 * The events of a watch, whatever happens to its connection:
 *
 * - *live*: events come, and with each the place in the history;
 * - *broken*: the stream ended. After a wait it is opened again behind the last event, as often as it takes. A watch of
 *   a kind that has no place yet fails instead;
 * - *lost*: the place is gone from the history, or the server told of an overrun. Unless the watch is to fail then, it
 *   begins anew: `Resynced`, then the present contents;
 * - *failed*: `Errored` was the last event;
 * - *ended*: by its reader, its signal or its State. Nothing more is delivered.
 */
export class WatchFeed {
  readonly #host: WatchHost;
  readonly #target: WatchTarget;
  readonly #retry: WatchRetry;
  readonly #signal: AbortSignal | undefined;
  readonly #stop = new AbortController();
  readonly #marker: StartMarker;
  #stream: WatchStream | undefined;
  /** The last event, which knows the place; undefined when there is no place. */
  #last: { readonly bookmark?: Uint8Array | undefined } | undefined;
  /** Whether contents are on their way, those of the beginning or those after `Resynced`: there is no place in them. */
  #contents: "initial" | "resync" | "complete";
  /** True when the stream at hand has delivered something. */
  #delivered = false;
  /** True from the break until the watch is open again. */
  #interrupted = false;
  /** When the watch lost its place last. */
  #lostAt = -Infinity;
  /** What the server said behind the events that were delivered last. */
  #failure: Error | undefined;
  #state: "open" | "failed" | "ended" = "open";

  constructor(host: WatchHost, target: WatchTarget, retry: WatchRetry, signal: AbortSignal | undefined) {
    this.#host = host;
    this.#target = target;
    this.#retry = retry;
    this.#signal = signal;
    this.#marker = new StartMarker(target);
    const { bootstrap, startFromBookmark } = target.start;
    this.#contents = bootstrap === true ? "initial" : "complete";
    if (startFromBookmark !== undefined) this.#last = { bookmark: new Uint8Array(startFromBookmark) };
  }

  /** True when it was ended from this side: then not even what was read before may be delivered. */
  get ended(): boolean {
    return this.#state === "ended";
  }

  /**
   * Opens the watch: when the promise resolves, everything that happens from then on is seen.
   *
   * @throws {StateError | GrpcError} When it cannot be opened; that is not tried again.
   */
  async open(): Promise<void> {
    const signal = this.#signal;
    try {
      signal?.throwIfAborted();
      const request = openRequest(this.#target);
      signal?.addEventListener("abort", this.#onAbort);
      this.#stream = await this.#open(request);
    } catch (error) {
      const reason: unknown = this.ended ? this.#stop.signal.reason : explainOpen(error, this.#target);
      this.end(reason);
      throw reason;
    }
  }

  /** The next events, at least one; undefined when there are no more. One reader at a time. */
  async read(): Promise<readonly Event[] | undefined> {
    while (this.#state === "open") {
      let batch = NOTHING;
      try {
        const failure = this.#failure;
        const events = failure === undefined ? this.#stream?.take() : undefined;
        if (failure !== undefined) batch = await this.#onFailure(failure);
        else if (events !== undefined) batch = this.#take(events);
        else await this.#stream?.fill();
      } catch (error) {
        if (this.#state === "open") batch = await this.#recover(explainBreak(error, this.#target), error);
      }
      if (batch.length > 0) return batch;
    }
    return undefined;
  }

  /** Ends the watch: nothing more is delivered. */
  end(reason?: unknown): void {
    const wasOpen = this.#state === "open";
    this.#state = "ended";
    if (wasOpen) this.#release(reason);
  }

  readonly #onAbort = (): void => this.end(this.#signal?.reason);

  /** What the server told of is the end, unless it is that the watch fell behind. */
  #onFailure(failure: Error): readonly Event[] | Promise<readonly Event[]> {
    this.#failure = undefined;
    return isLost(failure) ? this.#recover(failure, failure) : this.#fail(failure);
  }

  /** What the reader is to see of a message. */
  #take(events: readonly (Event | UnknownEvent)[]): readonly Event[] {
    this.#failure = this.#marker.missingIn(events);
    const isPlain = events.every((event) => this.#isShown(event));
    const shown = isPlain ? (events as readonly Event[]) : this.#sift(events);
    const last = shown.at(-1);
    if (last === undefined) return NOTHING;
    if (isPlain) this.#last = last;
    this.#delivered = true;
    this.#retry.delivered();
    if (this.#contents !== "complete" && this.#endsContents(shown)) this.#contents = "complete";
    return Object.freeze(shown);
  }

  /** False for what the reader has not asked for or cannot know, and for the end. */
  #isShown({ type }: Event | UnknownEvent): boolean {
    if (type === EventType.noop) return this.#target.showsNoop;
    return type !== EventType.errored && type !== "Unknown";
  }

  #sift(events: readonly (Event | UnknownEvent)[]): readonly Event[] {
    const shown: Event[] = [];
    for (const event of events) {
      if (event.type === EventType.errored) {
        this.#failure = categorized(event.error);
        break;
      }
      if (event.type !== "Unknown" || event.bookmark !== undefined) this.#last = event;
      if (event.type !== "Unknown" && this.#isShown(event)) shown.push(event);
    }
    return shown;
  }

  #endsContents(events: readonly Event[]): boolean {
    return this.#target.id !== undefined || events.some(({ type }) => type === EventType.bootstrapped);
  }

  /** Brings the watch back; resolves to events when it begins anew or fails. */
  async #recover(reason: Error, thrown: unknown): Promise<readonly Event[]> {
    let error = reason;
    let plan = this.#goesOnAfter(error, thrown) ? this.#planAfter(error) : undefined;
    this.#stream?.close();
    // A server that tells of an overrun before anything else would do so again at once.
    // One that falls behind again and again would only read the contents again and again.
    let waits = !(isLost(error) && this.#delivered) || this.#hasFallenBehind();
    this.#retry.broke(this.#host.clock.monotonic());
    while (plan !== undefined) {
      const waitMs = waits ? this.#retry.next(this.#host.clock.monotonic()) : 0;
      if (waitMs === undefined) break;
      if (waits && !(await this.#waitAfter(error, waitMs))) return NOTHING;
      try {
        const stream = await this.#open(this.#requestFor(plan));
        return this.#onOpened(stream, plan);
      } catch (failure) {
        if (this.#state !== "open") return NOTHING;
        error = explainOpen(failure, this.#target);
        waits = plan.kind === "resync" || !isLost(error);
        plan = isFinal(failure) ? undefined : this.#planAfter(error);
      }
    }
    return this.#fail(watchFailure(error, this.#target));
  }

  #goesOnAfter(error: Error, thrown: unknown): boolean {
    // A message that was too large would be too large again.
    const isStuck = isTooLarge(thrown) && !this.#delivered;
    return (isStreamEnd(thrown) || isLost(error)) && !isFinal(thrown) && !isStuck;
  }

  /** Tells the host and waits for the next attempt; false when the watch was closed meanwhile. */
  #waitAfter(error: Error, waitMs: number): Promise<boolean> {
    this.#host.onRetry(this.#target, error, waitMs, !this.#interrupted);
    this.#interrupted = true;
    return this.#sleep(waitMs);
  }

  /** Notes that the watch lost its place, and whether it had done so a short time before. */
  #hasFallenBehind(): boolean {
    const now = this.#host.clock.monotonic();
    const isAgain = now - this.#lostAt < AGAIN_MS;
    this.#lostAt = now;
    return isAgain;
  }

  /** How to go on; undefined when that is not possible, or not wanted. */
  #planAfter(error: Error): Plan | undefined {
    const mayResync = this.#target.overrun === "resync";
    if (isLost(error)) return mayResync ? RESYNC : undefined;
    const bookmark = this.#contents === "complete" ? this.#last?.bookmark : undefined;
    if (bookmark !== undefined) return { kind: "resume", bookmark };
    // One resource, and contents that are announced as new, can begin anew at any time.
    return mayResync && (this.#contents === "resync" || this.#target.id !== undefined) ? RESYNC : undefined;
  }

  #requestFor(plan: Plan): Uint8Array {
    return plan.kind === "resume" ? resumeRequest(this.#target, plan.bookmark) : resyncRequest(this.#target);
  }

  async #open(request: Uint8Array): Promise<WatchStream> {
    const stream = await this.#host.open(this.#target, request, this.#stop.signal);
    if (this.#state === "open") return stream;
    stream.close();
    throw this.#stop.signal.reason;
  }

  #onOpened(stream: WatchStream, { kind }: Plan): readonly Event[] {
    this.#stream = stream;
    this.#marker.waive();
    this.#delivered = false;
    this.#retry.opened(this.#host.clock.monotonic());
    if (this.#interrupted) this.#host.onResumed(this.#target, kind === "resync");
    this.#interrupted = false;
    if (kind === "resume") return NOTHING;
    this.#contents = "resync";
    const resource = createTombstone({ ...this.#target.kind, id: "" });
    return Object.freeze([Object.freeze({ type: EventType.resynced, resource })]);
  }

  /** False when the watch ended meanwhile. */
  async #sleep(waitMs: number): Promise<boolean> {
    try {
      await this.#host.pause(waitMs, this.#stop.signal);
    } catch (error) {
      if (this.#state === "open") throw error;
    }
    return this.#state === "open";
  }

  #fail(error: Error): readonly Event[] {
    this.#state = "failed";
    this.#release(error);
    return Object.freeze([Object.freeze({ type: EventType.errored, error })]);
  }

  #release(reason: unknown): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#stop.abort(reason);
    this.#stream?.close();
    this.#host.onOver(this);
  }
}
