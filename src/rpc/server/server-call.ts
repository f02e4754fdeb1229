import { isCancellation } from "../../internal/cancellation.ts";
import { toError } from "../../internal/to-error.ts";
import type { Timer } from "../../clock/index.ts";
import { GrpcError } from "../grpc-error.ts";
import { parseTimeout } from "../grpc-timeout.ts";
import { ResetCode, type ServerStream, type StreamEnd, type StreamEvents } from "../http2/http2.ts";
import { describeHttp2Code } from "../http2/http2-codes.ts";
import { FramedMessages, frameMessages } from "../message-frame.ts";
import { checkMetadataSize, encodeMetadata, type HeaderFields, Metadata, type MetadataInit } from "../metadata.ts";
import { OutgoingMessages } from "./outgoing-messages.ts";
import type { Peer } from "../peer.ts";
import type { CallHost, RunningCall } from "./call-host.ts";
import { RequestMessage } from "./request-message.ts";
import type { OnShutdown, ServerMethod, ServerStreamCall } from "./server-method.ts";
import { okTrailers, RESPONSE_HEADERS, statusTrailers } from "./status-trailers.ts";
import { Status } from "../status.ts";

const NO_MESSAGE = new Uint8Array(0);

/**
 * One call on the server, from its headers until both its stream is closed and its handler is done.
 *
 * It receives (message and, if asked for, authorisation), then runs the handler, then answers. The answer is given
 * once: by the handler, or before it by whatever goes wrong, by the deadline, or by a shutdown. A call whose stream is
 * gone has nobody to answer to; its handler is told by the signal.
 */
export class GrpcCall implements RunningCall, ServerStreamCall, StreamEvents {
  readonly path: string;
  identity: unknown = undefined;

  readonly #stream: ServerStream;
  readonly #method: ServerMethod;
  readonly #host: CallHost;
  #metadata: Metadata | undefined;
  #request: RequestMessage | undefined;
  #ended = false;
  #authorized = false;
  #started = false;
  /** Why nobody waits for an answer any more. */
  #cancelled: GrpcError | undefined;
  #controller: AbortController | undefined;
  #answered = false;
  #closed = false;
  #settled = false;
  #deadline: Timer | undefined;
  #deadlineAt: number | undefined;
  #outgoing: OutgoingMessages | undefined;
  #trailers: HeaderFields | undefined;

  constructor(path: string, method: ServerMethod, stream: ServerStream, host: CallHost) {
    this.path = path;
    this.#method = method;
    this.#stream = stream;
    this.#host = host;
  }

  get message(): Uint8Array {
    return this.#request?.bytes ?? NO_MESSAGE;
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
    return this.#method.onShutdown ?? (this.#method.kind === "unary" ? "finish" : "cancel");
  }

  setTrailers(metadata: MetadataInit): void {
    const headers = encodeMetadata(metadata);
    checkMetadataSize(headers);
    this.#trailers = headers;
  }

  send(messages: Uint8Array | FramedMessages | readonly (Uint8Array | FramedMessages)[]): boolean {
    const list = messages instanceof Uint8Array || messages instanceof FramedMessages ? [messages] : messages;
    for (const message of list) this.#checkSent(message instanceof FramedMessages ? message.bytes : message);
    if (this.#answered || this.#closed) return false;
    const outgoing = this.#openOutgoing();
    if (outgoing.queuedBytes >= this.#host.limits.maxQueuedBytes) {
      throw new GrpcError(
        Status.resourceExhausted,
        `${outgoing.queuedBytes} bytes wait to be sent: the handler has to wait for drained()`,
      );
    }
    for (const message of list) outgoing.push(message);
    return outgoing.hasRoom;
  }

  drained(): Promise<void> {
    if (this.#cancelled !== undefined) return Promise.reject(this.#cancelled);
    return this.#outgoing?.drained() ?? Promise.resolve();
  }

  /** Begins to receive. Called once, in the task in which the stream arrived. */
  start(): void {
    this.#stream.listen(this);
    const { "grpc-timeout": timeout, "grpc-encoding": encoding } = this.#stream.headers;
    try {
      this.#request = new RequestMessage(this.path, encoding?.toString(), this.#host);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (timeout !== undefined && !this.#startDeadline(String(timeout))) return;
    const { authorize } = this.#host;
    if (authorize === undefined) {
      this.#authorized = true;
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
    if (this.#outgoing !== undefined || !this.#settled) this.#abandon(reasonOf(end));
    this.#release();
    this.#checkDone();
  }

  cancel(reason: GrpcError): void {
    if (this.#answered || this.#closed) return;
    this.#abandon(reason);
    this.#answer(reason);
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
    const stuck = this.#outgoing?.isWriting === true;
    this.cancel(new GrpcError(Status.deadlineExceeded, "the deadline has passed"));
    if (stuck) this.#stream.reset(ResetCode.cancel);
  }

  #authorize(identity: unknown): void {
    this.identity = identity;
    this.#authorized = true;
    this.#startHandler();
  }

  #startHandler(): void {
    if (!this.#ended || !this.#authorized || this.#answered || this.#closed) return;
    if (this.#request?.isCompressed === true) {
      this.#inflate(this.#request);
      return;
    }
    this.#started = true;
    this.#request?.handOver();
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
        this.#answerUnary(result);
      } catch (error) {
        this.#fail(error);
        return;
      }
    } else if (!this.#answered && !this.#closed) {
      this.#answered = true;
      this.#openOutgoing().finish(okTrailers(this.#trailers));
    }
    this.#settle();
  }

  #answerUnary(result: Uint8Array | void): void {
    if (!(result instanceof Uint8Array)) throw new TypeError(`the handler of ${this.path} gave no bytes`);
    this.#checkSent(result);
    this.#answered = true;
    this.#stream.respond(RESPONSE_HEADERS);
    this.#stream.finish(frameMessages([result]), okTrailers(this.#trailers));
  }

  /** The end of a handler that threw, or of a call whose handler never starts. */
  #fail(thrown: unknown): void {
    const error = toError(thrown, `The handler of ${this.path}`);
    const isStatus = error instanceof GrpcError && error.code !== Status.ok;
    if (this.#answered || this.#closed) {
      // Nobody hears of it. A status, or that it was told to stop, is no failure.
      if (!isStatus && !isCancellation(error, this.#controller?.signal)) this.#host.logFailure(this, error);
    } else {
      if (!isStatus) this.#host.logFailure(this, error);
      this.#answer(isStatus ? error : new GrpcError(Status.unknown, error.message));
    }
    this.#settle();
  }

  #answer(error: GrpcError): void {
    this.#answered = true;
    const trailers = statusTrailers(error, this.#trailers);
    if (this.#outgoing === undefined) this.#stream.refuse({ ...RESPONSE_HEADERS, ...trailers });
    else this.#outgoing.finish(trailers);
    if (!this.#started) this.#settle();
  }

  /** Tells the handler that nobody waits for it any more. */
  #abandon(reason: GrpcError): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = reason;
    this.#outgoing?.stop(reason);
    this.#controller?.abort(reason);
  }

  #openOutgoing(): OutgoingMessages {
    return (this.#outgoing ??= new OutgoingMessages(this.#stream, RESPONSE_HEADERS, this.#host.budget));
  }

  #checkSent(message: Uint8Array): void {
    const { maxSentMessageBytes } = this.#host.limits;
    if (message.length <= maxSentMessageBytes) return;
    throw new GrpcError(
      Status.resourceExhausted,
      `a message of ${message.length} bytes is larger than the ${maxSentMessageBytes} that are sent`,
    );
  }

  #settle(): void {
    this.#settled = true;
    this.#release();
    this.#checkDone();
  }

  #release(): void {
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
