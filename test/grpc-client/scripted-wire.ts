import { ManualClock } from "../../src/clock/index.ts";
import { type ConnectOptions, resolveClientOptions } from "../../src/grpc/client/client-options.ts";
import type { SessionChannel } from "../../src/grpc/client/session-wire.ts";
import { RemoteState } from "../../src/grpc/client/remote-state.ts";
import { EventEncoder } from "../../src/grpc/messages/event-encoder.ts";
import { ResourceEncoder } from "../../src/protobuf/resource-encoder.ts";
import { EMPTY_MESSAGE } from "../../src/grpc/messages/teardown-response.ts";
import { decodeWatchRequest, type WatchRequest } from "../../src/grpc/messages/watch-request.ts";
import { pathOf, Rpc } from "../../src/grpc/rpc.ts";
import { type GrpcCallOptions, GrpcError, type MessageStream, Status } from "../../src/rpc/index.ts";
import { wrapState, type Event, type State } from "../../src/state/index.ts";
import { Int, PathResource, Str } from "../../src/testing/index.ts";

const encoder = new EventEncoder(new ResourceEncoder());

/** A stream whose messages, and whose end, a test decides on. */
export class ScriptedStream implements MessageStream {
  readonly request: Uint8Array;
  readonly #signal: AbortSignal | undefined;
  #messages: Uint8Array[] = [];
  #end: { readonly error: unknown } | "ended" | undefined;
  #wake: (() => void) | undefined;
  /** True when the client has cancelled it. */
  cancelled = false;
  /** Messages that were read. */
  readCount = 0;

  constructor(request: Uint8Array, signal: AbortSignal | undefined) {
    this.request = request;
    this.#signal = signal;
  }

  /** What the client asks of a Watch. */
  get watch(): WatchRequest {
    return decodeWatchRequest(this.request);
  }

  /** Sends the message that says that the watch is registered. */
  begin(): this {
    return this.push(EMPTY_MESSAGE);
  }

  /** Sends events, all in one message. */
  send(...events: readonly Event[]): this {
    return this.push(...encoder.encodeBatch(events));
  }

  push(...messages: readonly Uint8Array[]): this {
    this.#messages.push(...messages);
    this.#wake?.();
    return this;
  }

  /** The connection breaks, or the server ends the call with a status. */
  fail(error: unknown = new GrpcError(Status.unavailable, "the connection broke")): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  /** The server ends the call with OK. */
  finish(): void {
    this.#end ??= "ended";
    this.#wake?.();
  }

  async read(): Promise<readonly Uint8Array[] | undefined> {
    for (;;) {
      if (this.#signal?.aborted === true) throw this.#signal.reason;
      if (this.#messages.length > 0) {
        this.readCount += this.#messages.length;
        return this.#messages.splice(0);
      }
      if (this.#end === "ended") return undefined;
      if (this.#end !== undefined) throw this.#end.error;
      await this.#event();
    }
  }

  /** Resolves when there is something to look at again. */
  #event(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const signal = this.#signal;
    this.#wake = () => {
      signal?.removeEventListener("abort", resolve as () => void);
      resolve();
    };
    signal?.addEventListener("abort", resolve as () => void, { once: true });
    return promise;
  }

  cancel(): void {
    this.cancelled = true;
    this.#messages = [];
    this.finish();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    for (let lot = await this.read(); lot !== undefined; lot = await this.read()) yield* lot;
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel();
  }
}

type Answer = (message: Uint8Array) => Uint8Array | Promise<Uint8Array>;

/** A connection without a server: a test is the server. */
export class ScriptedWire implements SessionChannel {
  /** Answers of unary methods; without one, a method is not implemented. */
  readonly answers: Map<Rpc, Answer> = new Map();
  /** What was called, in order. */
  readonly called: Rpc[] = [];
  /** The limits that unary calls had, in order. Unit: milliseconds. */
  readonly deadlines: (number | undefined)[] = [];
  readonly streams: ScriptedStream[] = [];
  /** What the next streams do, one each; those after them are told by {@link onStream}. */
  readonly script: ((stream: ScriptedStream) => void)[] = [];
  onStream: (stream: ScriptedStream) => void = (stream) => void stream.begin();
  closed = false;

  unary(path: string, message: Uint8Array, { signal, deadlineMs }: GrpcCallOptions = {}): Promise<Uint8Array> {
    const rpc = this.#note(path);
    this.deadlines.push(deadlineMs);
    const answer = this.answers.get(rpc) ?? (() => Promise.reject(new GrpcError(Status.unimplemented, "what?")));
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      Promise.resolve(message).then(answer).then(resolve, reject);
    });
  }

  serverStream(path: string, message: Uint8Array, { signal }: GrpcCallOptions = {}): ScriptedStream {
    this.#note(path);
    const stream = new ScriptedStream(message, signal);
    this.streams.push(stream);
    (this.script.shift() ?? this.onStream)(stream);
    return stream;
  }

  /** It has no sessions. */
  serverHeader(): undefined {
    return undefined;
  }

  duplex(): never {
    throw new Error("a server without sessions is never asked for one");
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const stream of this.streams) stream.fail(new GrpcError(Status.cancelled, "the channel is closed"));
  }

  /** The stream that was opened last. */
  get last(): ScriptedStream {
    const last = this.streams.at(-1);
    if (last === undefined) throw new Error("no stream was opened");
    return last;
  }

  #note(path: string): Rpc {
    const rpc = Object.values(Rpc).find((one) => pathOf(one) === path);
    if (rpc === undefined) throw new Error(`no method has the path ${path}`);
    this.called.push(rpc);
    return rpc;
  }
}

export interface ScriptedClient {
  readonly wire: ScriptedWire;
  readonly clock: ManualClock;
  readonly core: RemoteState;
  readonly state: State;
}

/** A client on a {@link ScriptedWire} under a manual clock; waits are not spread. */
export function scriptedClient(options: ConnectOptions = {}): ScriptedClient {
  const wire = new ScriptedWire();
  const clock = new ManualClock();
  const types = [Int, PathResource, Str];
  const core = new RemoteState(wire, resolveClientOptions({ types, clock, random: () => 0.5, ...options }));
  return { wire, clock, core, state: wrapState(core, { clock }) };
}

/** A bookmark of some length. */
export const bookmarkAt = (position: number): Uint8Array => Uint8Array.of(7, 7, position);
