import { isCancellation } from "../../internal/cancellation.ts";
import { LazySignal } from "../../internal/lazy-signal.ts";
import { settle } from "../../internal/thenable.ts";
import { toError } from "../../internal/to-error.ts";
import { GrpcError } from "../grpc-error.ts";
import { ResetCode, type ServerStream, type StreamEnd, type StreamEvents } from "../http2/http2.ts";
import { FramedMessages } from "../message-frame.ts";
import { Metadata, type MetadataInit } from "../metadata.ts";
import { abandonReason } from "./abandon-reason.ts";
import { CallDeadline } from "./call-deadline.ts";
import { CallResponse } from "./response/call-response.ts";
import type { OutgoingBudget, RoomWaiter } from "./response/outgoing-budget.ts";
import type { Peer } from "../peer.ts";
import type { CallHost, RunningCall } from "./call-host.ts";
import { openRequest } from "./request/open-request.ts";
import { RequestMessage } from "./request/request-message.ts";
import { RequestMessages } from "./request/request-messages.ts";
import type { DuplexCall, OnShutdown, ServerMethod, ServerStreamCall } from "./server-method.ts";
import { Status } from "../status.ts";

/** What a handler that runs may come to send, until it is known. Unit: bytes. */
const STARTED_BYTES = 16 * 1024;

const NO_MESSAGE = new Uint8Array(0);

/**
 * One call on the server, from its headers until both its stream is closed and its handler is done.
 *
 * It receives (message and, if asked for, authorisation), then runs the handler, then answers. The answer is given
 * once: by the handler, or before it by whatever goes wrong, by the deadline, or by a shutdown. A call whose stream is
 * gone has no client to answer; its signal tells the handler.
 */
export class GrpcCall implements RunningCall, ServerStreamCall, DuplexCall, StreamEvents, RoomWaiter {
  readonly path: string;
  identity: unknown = undefined;

  readonly #stream: ServerStream;
  readonly #method: ServerMethod;
  readonly #host: CallHost;
  readonly #budget: OutgoingBudget;
  readonly #response: CallResponse;
  #metadata: Metadata | undefined;
  #request: RequestMessage | RequestMessages | undefined;
  #ended = false;
  #authorized = false;
  #started = false;
  /** Aborts when no client waits for a response any more. */
  readonly #cancelled = new LazySignal();
  readonly #deadline: CallDeadline;
  #answered = false;
  #closed = false;
  #settled = false;

  constructor(path: string, method: ServerMethod, stream: ServerStream, host: CallHost) {
    this.path = path;
    this.#method = method;
    this.#stream = stream;
    this.#host = host;
    this.#deadline = new CallDeadline(host.clock);
    this.#budget = host.budgets[method.kind === "serverStream" ? "serverStream" : "unary"];
    this.#response = new CallResponse(path, stream, this.#budget, host);
  }

  get message(): Uint8Array {
    return this.#request instanceof RequestMessage ? this.#request.bytes : NO_MESSAGE;
  }

  get metadata(): Metadata {
    return (this.#metadata ??= new Metadata(this.#stream.headers));
  }

  get peer(): Peer {
    return this.#host.peer;
  }

  get signal(): AbortSignal {
    return this.#cancelled.signal;
  }

  get remainingMs(): number | undefined {
    return this.#deadline.remainingMs;
  }

  get onShutdown(): OnShutdown {
    return this.#method.onShutdown ?? (this.#method.kind === "serverStream" ? "cancel" : "finish");
  }

  setTrailers(metadata: MetadataInit): void {
    this.#response.setTrailers(metadata);
  }

  get hasRoom(): boolean {
    return this.#response.hasRoom;
  }

  send(messages: Uint8Array | FramedMessages | readonly (Uint8Array | FramedMessages)[]): boolean {
    const list = messages instanceof Uint8Array || messages instanceof FramedMessages ? [messages] : messages;
    for (const message of list) this.#response.check(message);
    if (this.#answered || this.#closed) return false;
    return this.#response.send(list);
  }

  hold(bytes: number): void {
    if (!this.#closed) this.#response.hold(bytes);
  }

  drained(): Promise<void> {
    if (this.#cancelled.aborted) return Promise.reject(this.#cancelled.reason);
    return this.#response.drained();
  }

  /** Begins to receive. Called once, in the task in which the stream arrived. */
  start(): void {
    this.#stream.listen(this);
    const timeout = this.#stream.headers["grpc-timeout"];
    try {
      this.#request = openRequest(this, this.#method, this.#stream, this.#host);
      if (timeout !== undefined && !this.#deadline.start(String(timeout), () => this.#expire())) return;
    } catch (error) {
      this.#fail(error);
      return;
    }
    const { authorize } = this.#host;
    if (authorize === undefined) {
      this.#authorize(undefined);
      return;
    }
    settle(
      () => authorize(this),
      (identity) => this.#authorize(identity),
      (error) => this.#fail(error),
    );
  }

  onData(bytes: Uint8Array): void {
    if (this.#answered || this.#closed) return;
    try {
      this.#request?.push(bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  onEnd(): void {
    if (this.#answered || this.#closed) return;
    this.#ended = true;
    try {
      this.#request?.end();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#startHandler();
  }

  onClose(end: StreamEnd): void {
    this.#closed = true;
    if (!this.#started) this.#settled = true;
    if (this.#response.isOpen || !this.#settled) this.#abandon(abandonReason(end));
    this.#release();
    this.#checkDone();
  }

  onRoom(): void {
    this.#startHandler();
  }

  endIfStuck(): void {
    if (this.#closed || !this.#response.isStuck()) return;
    this.#answered = true;
    this.#abandon(new GrpcError(Status.resourceExhausted, "the client does not read what it asked for"));
    this.#stream.reset(ResetCode.enhanceYourCalm);
  }

  cancel(reason: GrpcError): void {
    if (this.#answered || this.#closed) return;
    this.#abandon(reason);
    this.#answer(reason);
  }

  read(): Promise<readonly Uint8Array[] | undefined> {
    if (this.#request instanceof RequestMessages) return this.#request.read();
    return Promise.reject(new Error(`${this.path} has one message, which is there already`));
  }

  async authenticate(): Promise<void> {
    this.identity = await this.#host.authorize?.(this);
  }

  stopReading(): void {
    if (this.#request instanceof RequestMessages) this.#request.stop();
  }

  #expire(): void {
    // A piece that does not leave would hold the status back for as long as the client does not read.
    const stuck = this.#response.isWriting;
    this.cancel(new GrpcError(Status.deadlineExceeded, "the deadline has passed"));
    if (stuck) this.#stream.reset(ResetCode.cancel);
  }

  #authorize(identity: unknown): void {
    this.identity = identity;
    this.#authorized = true;
    this.#startHandler();
  }

  #startHandler(): void {
    const isComplete = this.#ended || this.#method.kind === "duplex";
    if (!isComplete || !this.#authorized || this.#started || this.#answered || this.#closed) return;
    if (!this.#budget.hasRoom) {
      this.#budget.wait(this);
      return;
    }
    if (this.#request instanceof RequestMessage && this.#request.isCompressed) {
      this.#request.inflate().then(
        () => this.#startHandler(),
        (error: unknown) => this.#fail(error),
      );
      return;
    }
    this.#started = true;
    // A unary call that a shutdown ends waits for others, which need room for theirs.
    this.#host.accepted();
    const staysLong = this.onShutdown === "cancel";
    if (this.#method.kind === "unary" && !staysLong) this.#response.reserve(STARTED_BYTES);
    this.#request?.handOver(staysLong);
    // The client learns that it may send before there is anything to answer.
    if (this.#method.kind === "duplex") this.#response.begin();
    settle<Uint8Array | void>(
      () => this.#method.handler(this),
      (value) => this.#succeed(value),
      (error) => this.#fail(error),
    );
  }

  #succeed(result: Uint8Array | void): void {
    if (this.#method.kind === "unary" && !this.#answered && !this.#closed) {
      try {
        this.#response.finishUnary(result);
        this.#answered = true;
      } catch (error) {
        this.#fail(error);
        return;
      }
    } else if (!this.#answered && !this.#closed) {
      this.#answered = true;
      this.#response.finish();
    }
    this.#settle();
  }

  /** The end of a handler that threw, or of a call whose handler never starts. */
  #fail(thrown: unknown): void {
    const error = toError(thrown, `The handler of ${this.path}`);
    const isStatus = error instanceof GrpcError && error.code !== Status.ok;
    if (this.#answered || this.#closed) {
      // There is no one to tell. A status, or an abort, is no failure.
      if (!isStatus && !isCancellation(error, this.#cancelled.asked)) this.#host.logFailure(this, error);
    } else {
      if (!isStatus) this.#host.logFailure(this, error);
      this.#answer(isStatus ? error : new GrpcError(Status.unknown, error.message));
    }
    this.#settle();
  }

  #answer(error: GrpcError): void {
    this.#answered = true;
    this.#response.fail(error);
    if (!this.#started) this.#settle();
  }

  /** Tells the handler that no client waits for it any more. */
  #abandon(reason: GrpcError): void {
    if (!this.#cancelled.abort(reason)) return;
    if (this.#request instanceof RequestMessages) this.#request.fail(reason);
    this.#response.stop(reason);
  }

  #settle(): void {
    this.#settled = true;
    this.#release();
    this.#checkDone();
  }

  #release(): void {
    this.#budget.forget(this);
    if (this.#closed) {
      this.#response.hold(0);
      this.#response.reserve(0);
    }
    this.#deadline.cancel();
    this.#request?.release();
  }

  #checkDone(): void {
    if (this.#closed && this.#settled) this.#host.done(this);
  }
}
