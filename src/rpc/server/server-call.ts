import { isCancellation } from "../../internal/cancellation.ts";
import { toError } from "../../internal/to-error.ts";
import type { Timer } from "../../clock/index.ts";
import { GrpcError } from "../grpc-error.ts";
import { parseTimeout } from "../grpc-timeout.ts";
import { ResetCode, type ServerStream, type StreamEnd, type StreamEvents } from "../http2/http2.ts";
import { describeHttp2Code } from "../http2/http2-codes.ts";
import { FramedMessages } from "../message-frame.ts";
import { Metadata, type MetadataInit } from "../metadata.ts";
import { CallResponse } from "./call-response.ts";
import type { OutgoingBudget, RoomWaiter } from "./outgoing-budget.ts";
import type { Peer } from "../peer.ts";
import type { CallHost, RunningCall } from "./call-host.ts";
import { RequestMessage } from "./request-message.ts";
import { RequestMessages } from "./request-messages.ts";
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
  /** Why no client waits for a response any more. */
  #cancelled: GrpcError | undefined;
  #controller: AbortController | undefined;
  #answered = false;
  #closed = false;
  #settled = false;
  #deadline: Timer | undefined;
  #deadlineAt: number | undefined;

  constructor(path: string, method: ServerMethod, stream: ServerStream, host: CallHost) {
    this.path = path;
    this.#method = method;
    this.#stream = stream;
    this.#host = host;
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
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled);
    }
    return this.#controller.signal;
  }

  get remainingMs(): number | undefined {
    return this.#deadlineAt === undefined ? undefined : Math.max(0, this.#deadlineAt - this.#host.clock.monotonic());
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
    if (this.#cancelled !== undefined) return Promise.reject(this.#cancelled);
    return this.#response.drained();
  }

  /** Begins to receive. Called once, in the task in which the stream arrived. */
  start(): void {
    this.#stream.listen(this);
    const { "grpc-timeout": timeout, "grpc-encoding": encoding } = this.#stream.headers;
    try {
      this.#request = this.#openRequest(encoding?.toString());
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (timeout !== undefined && !this.#startDeadline(String(timeout))) return;
    const { authorize } = this.#host;
    if (authorize === undefined) {
      this.#authorize(undefined);
      return;
    }
    try {
      const identity = authorize(this);
      if (isThenable(identity)) {
        Promise.resolve(identity).then(
          (value) => this.#authorize(value),
          (error: unknown) => this.#fail(error),
        );
      } else {
        this.#authorize(identity);
      }
    } catch (error) {
      this.#fail(error);
    }
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
    if (this.#response.isOpen || !this.#settled) this.#abandon(reasonOf(end));
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

  #openRequest(encoding: string | undefined): RequestMessage | RequestMessages {
    if (this.#method.kind !== "duplex") return new RequestMessage(this.path, encoding, this.#host);
    return new RequestMessages(this.#stream, encoding, this.#host);
  }

  #startDeadline(timeout: string): boolean {
    const ms = parseTimeout(timeout);
    if (ms === undefined) {
      this.#fail(new GrpcError(Status.internal, `malformed grpc-timeout ${JSON.stringify(timeout.slice(0, 20))}`));
      return false;
    }
    if (ms === 0) {
      this.#expire();
      return false;
    }
    const { clock } = this.#host;
    this.#deadlineAt = clock.monotonic() + ms;
    this.#deadline = clock.schedule(ms, () => this.#expire());
    return true;
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
      this.#inflate(this.#request);
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
    try {
      const result = this.#method.handler(this);
      if (isThenable(result)) {
        Promise.resolve(result).then(
          (value) => this.#succeed(value),
          (error: unknown) => this.#fail(error),
        );
      } else {
        this.#succeed(result);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #inflate(request: RequestMessage): void {
    request.inflate().then(
      () => this.#startHandler(),
      (error: unknown) => this.#fail(error),
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
      if (!isStatus && !isCancellation(error, this.#controller?.signal)) this.#host.logFailure(this, error);
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
    if (this.#cancelled !== undefined) return;
    this.#cancelled = reason;
    if (this.#request instanceof RequestMessages) this.#request.fail(reason);
    this.#response.stop(reason);
    this.#controller?.abort(reason);
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
    this.#deadline?.cancel();
    this.#deadline = undefined;
    this.#request?.release();
  }

  #checkDone(): void {
    if (this.#closed && this.#settled) this.#host.done(this);
  }
}

function reasonOf(end: StreamEnd): GrpcError {
  if (end.kind === "lost") return new GrpcError(Status.unavailable, end.reason);
  if (end.kind === "finished") return new GrpcError(Status.cancelled, "the call is over");
  const isPlain = end.code === ResetCode.cancel || end.code === ResetCode.noError;
  const how = isPlain ? "cancelled the call" : `reset the call: ${describeHttp2Code(end.code)}`;
  return new GrpcError(Status.cancelled, `the client ${how}`);
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
