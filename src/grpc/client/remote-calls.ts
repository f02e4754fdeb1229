import { WireError } from "../../wire/index.ts";
import { formatPointer, StateError, type Kind, type Pointer, type Resource } from "../../resource/index.ts";
import { sealResourceList, type ResourceList } from "../../state/index.ts";
import { compareText } from "../../internal/compare-text.ts";
import { fromGrpcError } from "../client-error.ts";
import { EventDecoder } from "../messages/event-decoder.ts";
import { ResourceDecoder, ResourceEncoder } from "../../protobuf/index.ts";
import { Rpc } from "../rpc.ts";
import { GrpcError, Status } from "../../rpc/index.ts";
import type { ResolvedClientOptions } from "./client-options.ts";
import { expectEvents, expectKind } from "./expect-address.ts";
import { SessionWire, type SessionChannel } from "./session-wire.ts";
import { StallGuard } from "./stall-guard.ts";
import { WakeableSleeps } from "./watch/wakeable-sleeps.ts";
import { WatchFeed, type WatchHost } from "./watch/watch-feed.ts";
import { WatchRetry } from "./watch/watch-retry.ts";
import { WatchStream } from "./watch/watch-stream.ts";
import { describeTarget, type WatchTarget } from "./watch/watch-target.ts";

/** One resource that is not what its type asks for must not hide all others of its kind. */
const LENIENT = { lenient: true } as const;

/** The calls of a client, their bounds and their errors. */
export class RemoteCalls implements WatchHost {
  readonly clock: ResolvedClientOptions["clock"];
  readonly decoder: ResourceDecoder;
  readonly encoder: ResourceEncoder;
  readonly #wire: SessionWire;
  readonly #options: ResolvedClientOptions;
  readonly #events: EventDecoder;
  readonly #watches = new Set<WatchFeed>();
  readonly #pauses: WakeableSleeps;
  #closed = false;

  constructor(channel: SessionChannel, options: ResolvedClientOptions) {
    this.#wire = new SessionWire(channel, options.clock, options.session);
    this.#options = options;
    this.clock = options.clock;
    this.#pauses = new WakeableSleeps(options.clock);
    this.decoder = new ResourceDecoder(options.types);
    // What is written once is mostly not sent again as it is.
    this.encoder = new ResourceEncoder({ yaml: options.yaml, keep: false });
    this.#events = new EventDecoder(this.decoder);
  }

  /** Number of watches that are not over. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /**
   * Calls a method about one resource and reads its answer.
   *
   * @throws {StateError | GrpcError} Why the call failed; INTERNAL when the answer cannot be read.
   */
  async unary<T>(
    rpc: Rpc,
    pointer: Pointer,
    message: Uint8Array,
    signal: AbortSignal | undefined,
    read: (answer: Uint8Array) => T,
  ): Promise<T> {
    const deadlineMs = rpc === Rpc.teardownAndDestroy ? undefined : this.#options.timeoutMs;
    let answer: Uint8Array;
    try {
      answer = await this.#wire.unary(rpc, message, { signal, deadlineMs });
    } catch (error) {
      throw this.#explain(error, rpc, pointer);
    }
    return readAnswer(rpc, pointer, answer, read);
  }

  /** The resources of a List, sorted by id. */
  async list(kind: Kind, message: Uint8Array, signal: AbortSignal | undefined): Promise<ResourceList> {
    const stream = this.#wire.serverStream(Rpc.list, message, { signal });
    using guard = new StallGuard(stream, this.clock, this.#options.timeoutMs);
    const resources: Resource[] = [];
    const read = (response: Uint8Array): Resource => expectKind(this.readResource(response), kind);
    try {
      for (let messages = await guard.read(); messages !== undefined; messages = await guard.read()) {
        for (const one of messages) resources.push(readAnswer(Rpc.list, undefined, one, read));
      }
    } catch (error) {
      stream.cancel();
      throw this.#explain(error, Rpc.list, undefined);
    }
    return sealResourceList(isSorted(resources) ? resources : resources.sort(byId), undefined);
  }

  /** Opens a watch that lives until its reader, its signal or {@link close} ends it. */
  async watch(target: WatchTarget, signal: AbortSignal | undefined): Promise<WatchFeed> {
    if (this.#closed) throw closedError();
    const retry = new WatchRetry(this.#options.watchRetry, this.#options.random);
    const feed = new WatchFeed(this, target, retry, signal);
    this.#watches.add(feed);
    await feed.open();
    return feed;
  }

  /** Ends all watches and calls, and closes the connection. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const feed of this.#watches) feed.end(closedError());
    await this.#wire.close();
  }

  async open(target: WatchTarget, request: Uint8Array, signal: AbortSignal): Promise<WatchStream> {
    const stream = this.#wire.serverStream(Rpc.watch, request, { signal });
    using guard = new StallGuard(stream, this.clock, this.#options.timeoutMs);
    const first = await guard.read();
    if (first === undefined) {
      throw new GrpcError(Status.unavailable, `the server ended ${describeTarget(target)} before it began`);
    }
    return new WatchStream(stream, first, (message) =>
      expectEvents(this.#events.decode(message, target.kind, LENIENT), target),
    );
  }

  async pause(waitMs: number, signal: AbortSignal): Promise<void> {
    const { watchRetry, random } = this.#options;
    const dueAt = this.clock.monotonic() + waitMs;
    await this.#pauses.sleep(waitMs, signal);
    // When the connection came back, all watches would go on at once.
    const leftMs = Math.min(dueAt - this.clock.monotonic(), random() * watchRetry.initialMs);
    if (leftMs > 0) await this.clock.sleep(leftMs, { signal });
  }

  /** There is a connection again: watches need not wait any longer. */
  reconnected(): void {
    this.#pauses.wake();
  }

  onRetry(target: WatchTarget, error: Error, waitMs: number, first: boolean): void {
    const { kind, id } = target;
    this.#options.logger.warn(`${describeTarget(target)} broke and is opened again`, { ...kind, id, error, waitMs });
    if (first) this.#tell(() => this.#options.onWatchInterrupted({ kind, id, error }));
  }

  onResumed(target: WatchTarget, resynced: boolean): void {
    const { kind, id } = target;
    this.#options.logger.info(`${describeTarget(target)} goes on`, { ...kind, id, resynced });
    this.#tell(() => this.#options.onWatchResumed({ kind, id, resynced }));
  }

  onOver(feed: WatchFeed): void {
    this.#watches.delete(feed);
  }

  readonly readResource = (message: Uint8Array): Resource => this.decoder.decodeField(message, LENIENT);

  /** A listener that throws must not end a watch. */
  #tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#options.logger.error("a listener of watches failed", { error });
    }
  }

  #explain(error: unknown, rpc: Rpc, pointer: Pointer | undefined): unknown {
    if (this.#closed && error instanceof GrpcError && error.code === Status.cancelled) return closedError(error);
    return fromGrpcError(error, rpc, pointer);
  }
}

function readAnswer<T>(rpc: Rpc, pointer: Pointer | undefined, answer: Uint8Array, read: (answer: Uint8Array) => T): T {
  try {
    return read(answer);
  } catch (cause) {
    if (!(cause instanceof WireError || cause instanceof StateError)) throw cause;
    const written = rpc === Rpc.create || rpc === Rpc.update;
    const what = pointer === undefined ? "" : `${formatPointer(pointer)} `;
    const told = written ? `${what}was written, but the answer cannot be read` : `${what}cannot be read`;
    throw new GrpcError(Status.internal, `${told}: ${cause.message}`, { cause });
  }
}

const closedError = (cause?: unknown): StateError =>
  new StateError("unavailable", "the connection of this State is closed", { cause });

const byId = (a: Resource, b: Resource): number => compareText(a.metadata.id, b.metadata.id);

function isSorted(resources: readonly Resource[]): boolean {
  for (let i = 1; i < resources.length; i++) {
    const [before, after] = [resources[i - 1], resources[i]];
    if (before !== undefined && after !== undefined && byId(before, after) > 0) return false;
  }
  return true;
}
