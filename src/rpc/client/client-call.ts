import type { Clock, Timer } from "../../clock/index.ts";
import { GrpcError } from "../grpc-error.ts";
import type { ClientStream, ClientStreamEvents, StreamEnd } from "../http2/http2.ts";
import { MessageReader } from "../message-frame.ts";
import type { HeaderFields } from "../metadata.ts";
import { errorOfEnd, objectionTo, statusOf } from "./response-status.ts";
import { Status } from "../status.ts";

/** What a call on the client needs of its channel. */
export interface ClientCallHost {
  readonly clock: Clock;
  readonly maxReceivedMessageBytes: number;
  /** Called once, when the call is over. */
  done(call: ClientCall): void;
}

/** What a call on the client needs of the connection that it goes out on. */
export interface CallLink {
  /** Something has come from the server, which has therefore read what was sent up to this position. */
  heard(position: number): void;
  reset(stream: ClientStream): void;
  /** A response has begun with these headers. */
  onResponse(headers: HeaderFields): void;
  /** There is more of a request that goes on, see {@link ClientCall.takeMore}. */
  sendMore(call: ClientCall): void;
}

/** Bounds of one call. */
export interface ClientCallBounds {
  readonly signal: AbortSignal | undefined;
  readonly deadlineMs: number | undefined;
}

/**
 * A call on the client, from its beginning, before there may be a connection, until it is over: by the server's status,
 * by its signal or deadline, or with its connection. It is over once.
 */
export abstract class ClientCall implements ClientStreamEvents {
  /** The bytes of the request, framed; nothing when all of it is on its way. */
  request: Uint8Array;
  readonly path: string;
  readonly #host: ClientCallHost;
  readonly #signal: AbortSignal | undefined;
  readonly #deadlineAt: number | undefined;
  readonly #reader: MessageReader;
  #deadline: Timer | undefined;
  #stream: ClientStream | undefined;
  #link: CallLink | undefined;
  /** Where the request ends in what the connection has sent. */
  #position = 0;
  #status: GrpcError | "ok" | undefined;
  #over = false;

  constructor(path: string, request: Uint8Array, bounds: ClientCallBounds, host: ClientCallHost) {
    this.path = path;
    this.request = request;
    this.#host = host;
    this.#reader = new MessageReader(host.maxReceivedMessageBytes);
    this.#signal = bounds.signal;
    if (bounds.deadlineMs === undefined) return;
    this.#deadlineAt = host.clock.monotonic() + bounds.deadlineMs;
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Milliseconds until the deadline; undefined without one. */
  get remainingMs(): number | undefined {
    return this.#deadlineAt === undefined ? undefined : Math.max(0, this.#deadlineAt - this.#host.clock.monotonic());
  }

  /** True when the request goes on while the response comes. */
  get isOpenEnded(): boolean {
    return false;
  }

  /**
   * Of a request that goes on: up to so many bytes that are to be sent now. Undefined when there are none.
   *
   * @param position - Where they will end in what the connection has sent, by their number.
   */
  takeMore(_maxBytes: number, _position: (bytes: number) => number): Uint8Array | undefined {
    return undefined;
  }

  /** Bytes that {@link takeMore} would give. */
  moreBytes(_maxBytes: number): number {
    return 0;
  }

  protected get stream(): ClientStream | undefined {
    return this.#stream;
  }

  protected get link(): CallLink | undefined {
    return this.#link;
  }

  /** Begins to watch signal and deadline. The call may be over when this returns. */
  begin(): void {
    const signal = this.#signal;
    if (signal?.aborted === true) {
      this.#onAbort();
      return;
    }
    const remainingMs = this.remainingMs;
    if (remainingMs === 0) {
      this.#expire();
      return;
    }
    signal?.addEventListener("abort", this.#onAbort);
    if (remainingMs === undefined) return;
    this.#deadline = this.#host.clock.schedule(remainingMs, () => this.#expire());
  }

  /** To be called when the request is on its way. */
  attach(stream: ClientStream, link: CallLink, position: number): void {
    this.#stream = stream;
    this.#link = link;
    this.#position = position;
  }

  /** Ends the call from this side. */
  abort(reason: unknown): void {
    if (this.#over) return;
    if (this.#stream !== undefined) this.#link?.reset(this.#stream);
    this.#end();
    this.onFailed(reason);
  }

  onHeaders(headers: HeaderFields): void {
    this.#link?.heard(this.#position);
    if (this.#over) return;
    this.#link?.onResponse(headers);
    this.#status = statusOf(headers);
    const objection = this.#status === undefined ? objectionTo(headers) : undefined;
    if (this.#status !== undefined) this.onStatus(this.#status);
    else if (objection !== undefined) this.abort(objection);
    else this.onOpened();
  }

  onData(bytes: Uint8Array): void {
    this.#link?.heard(this.#position);
    if (this.#over) return;
    const messages: Uint8Array[] = [];
    try {
      this.#reader.push(bytes, messages);
    } catch (error) {
      if (messages.length > 0) this.onMessages(messages);
      this.abort(error);
      return;
    }
    if (messages.length > 0) this.onMessages(messages);
  }

  onTrailers(headers: HeaderFields): void {
    this.#link?.heard(this.#position);
    this.#status = statusOf(headers);
    if (!this.#over && this.#status !== undefined) this.onStatus(this.#status);
  }

  onEnd(): void {
    if (!this.#over && this.#status !== undefined) this.#finish(this.#status);
  }

  onClose(end: StreamEnd): void {
    if (this.#over) return;
    this.#finish(this.#status ?? errorOfEnd(end));
  }

  /** Called when the server has begun to respond, with messages to come. */
  protected onOpened(): void {}
  /** Called with each lot of messages, at least one. */
  protected abstract onMessages(messages: Uint8Array[]): void;
  /** Called with the status as soon as it is there; messages may still be on their way to {@link onMessages}. */
  protected abstract onStatus(status: GrpcError | "ok"): void;
  /** Called at the end of a call that went well; it or {@link onFailed} is called once. */
  protected abstract onDone(): void;
  protected abstract onFailed(reason: unknown): void;

  /** Ends the call before its stream is closed: all has come. */
  protected finishEarly(status: GrpcError | "ok"): void {
    this.#finish(status);
  }

  #finish(status: GrpcError | "ok"): void {
    this.#end();
    if (status !== "ok") this.onFailed(status);
    else if (this.#reader.heldBytes === 0) this.onDone();
    else this.onFailed(new GrpcError(Status.internal, "the answer ends in the middle of a message"));
  }

  readonly #onAbort = (): void => this.abort(this.#signal?.reason);

  #expire(): void {
    this.abort(new GrpcError(Status.deadlineExceeded, `no answer from ${this.path} within the deadline`));
  }

  #end(): void {
    this.#over = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#deadline?.cancel();
    this.#host.done(this);
  }
}
