import { TokenBucket, type Clock, type Timer } from "../../clock/index.ts";
import type { Logger } from "../../log/index.ts";
import type { Authorize, CallHost, CallLimits, RunningCall } from "./call-host.ts";
import { GrpcError } from "../grpc-error.ts";
import type { ServerConnection, ServerConnectionEvents, ServerStream } from "../http2/http2.ts";
import { MessageInflater } from "./request/message-inflater.ts";
import type { HeaderFields } from "../metadata.ts";
import type { Peer } from "../peer.ts";
import type { Newcomers } from "./newcomers.ts";
import { BUDGET_BYTES, OutgoingBudget } from "./response/outgoing-budget.ts";
import { GrpcCall } from "./server-call.ts";
import type { ServerCall, ServerMethod } from "./server-method.ts";
import { RESPONSE_HEADERS, statusTrailers } from "./response/status-trailers.ts";
import { Status } from "../status.ts";

const CONTENT_TYPE = /^application\/grpc(?:\+proto)?\s*(?:;|$)/i;

/** How long a peer may take until it has shown that it speaks HTTP/2. Unit: milliseconds. */
const HANDSHAKE_MS = 10_000;

/** How long a connection may stay on which no call was accepted yet. Unit: milliseconds. */
const FIRST_CALL_MS = 30_000;

/** What all connections of a server share. */
export interface ConnectionOptions {
  readonly methods: ReadonlyMap<string, ServerMethod>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: CallLimits;
  readonly authorize: Authorize | undefined;
  readonly maxConcurrentCalls: number;
  readonly maxCallsPerSecond: number;
  readonly maxReceivingBytes: number;
  readonly responseHeaders: HeaderFields;
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
}

/** The calls of one connection, and the pings that find out whether its peer is still there. */
export class GrpcServerConnection implements ServerConnectionEvents, CallHost {
  readonly clock: Clock;
  readonly limits: CallLimits;
  readonly authorize: Authorize | undefined;
  readonly budgets: CallHost["budgets"];
  readonly inflater: MessageInflater;

  readonly #connection: ServerConnection;
  readonly #options: ConnectionOptions;
  readonly #onIdle: (connection: GrpcServerConnection) => void;
  readonly #calls = new Set<RunningCall>();
  #receivingBytes = 0;
  readonly #whenClosed: PromiseWithResolvers<void> = Promise.withResolvers();
  #closed = false;
  /** The handshake's end, then the next ping, then the end of the wait for its answer. */
  #timer: Timer;
  readonly #tokens: TokenBucket;

  readonly #newcomers: Newcomers;
  /** True when a call was accepted, or none will be. */
  #isAccepted = false;
  #firstCall: Timer | undefined;

  /**
   * @param newcomers - Has counted this connection.
   * @param onIdle - Called whenever no call runs any more, and when the connection is closed and none runs.
   */
  constructor(
    connection: ServerConnection,
    options: ConnectionOptions,
    newcomers: Newcomers,
    onIdle: (connection: GrpcServerConnection) => void,
  ) {
    this.#connection = connection;
    this.#options = options;
    this.#onIdle = onIdle;
    this.#newcomers = newcomers;
    this.clock = options.clock;
    this.limits = options.limits;
    this.inflater = new MessageInflater(options.limits.maxReceivedMessageBytes);
    this.authorize = options.authorize;
    const budget = (bytes: number): OutgoingBudget =>
      new OutgoingBudget(this.clock, () => this.#endStuckCalls(), bytes);
    this.budgets = { unary: budget(BUDGET_BYTES.unary), serverStream: budget(BUDGET_BYTES.serverStream) };
    this.#tokens = new TokenBucket(options.maxCallsPerSecond, options.maxCallsPerSecond, options.clock);
    this.#timer = this.clock.schedule(HANDSHAKE_MS, () => this.#lose("said nothing"));
  }

  get responseHeaders(): HeaderFields {
    return this.#options.responseHeaders;
  }

  get peer(): Peer {
    return this.#connection.peer;
  }

  /** Calls that run: their stream is open or their handler is not done. */
  get callCount(): number {
    return this.#calls.size;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Resolves when the connection is closed; handlers may still run. */
  get closed(): Promise<void> {
    return this.#whenClosed.promise;
  }

  onReady(): void {
    this.#waitToPing();
    this.#firstCall = this.clock.schedule(FIRST_CALL_MS, () => {
      if (this.#calls.size === 0) this.#lose("made no call that was accepted");
    });
  }

  onStream(stream: ServerStream): void {
    const objection = this.#objection();
    if (objection !== undefined) {
      refuse(stream, 200, new GrpcError(Status.resourceExhausted, objection), {});
      return;
    }
    const { headers } = stream;
    if (headers[":method"] !== "POST") {
      refuse(stream, 405, new GrpcError(Status.unimplemented, "gRPC is called by POST"), { allow: "POST" });
      return;
    }
    if (!CONTENT_TYPE.test(String(headers["content-type"]))) {
      refuse(stream, 415, new GrpcError(Status.unknown, "the content type has to be application/grpc"), {});
      return;
    }
    const path = String(headers[":path"]);
    const method = this.#options.methods.get(path);
    if (method === undefined) {
      refuse(stream, 200, new GrpcError(Status.unimplemented, `there is no method ${path.slice(0, 200)}`), {});
      return;
    }
    const call = new GrpcCall(path, method, stream, this);
    this.#calls.add(call);
    call.start();
  }

  onClose(): void {
    this.#closed = true;
    this.#whenClosed.resolve();
    this.#timer.cancel();
    this.accepted();
    this.budgets.unary.close();
    this.budgets.serverStream.close();
    if (this.#calls.size === 0) this.#onIdle(this);
  }

  receive(bytes: number): void {
    this.#receivingBytes += bytes;
    if (bytes > 0 && this.#receivingBytes > this.#options.maxReceivingBytes) {
      throw new GrpcError(
        Status.resourceExhausted,
        "too many requests of this connection are incomplete, or wait because it does not read its responses",
      );
    }
  }

  accepted(): void {
    if (this.#isAccepted) return;
    this.#isAccepted = true;
    this.#firstCall?.cancel();
    this.#newcomers.delete(this.peer);
  }

  done(call: RunningCall): void {
    if (this.#calls.delete(call) && this.#calls.size === 0) this.#onIdle(this);
  }

  logFailure(call: ServerCall, error: Error): void {
    this.#options.logger.error("A gRPC handler failed", { method: call.path, error });
  }

  /** Ends the calls that are not to be waited for, and the connection with the last of the others. */
  shutDown(reason: GrpcError): void {
    // A connection that closes answers no more pings of ours.
    this.#timer.cancel();
    this.#connection.shutDown();
    this.#cancel(reason, (call) => call.onShutdown === "cancel");
    for (const call of this.#calls) call.stopReading();
  }

  cancelAll(reason: GrpcError): void {
    this.#cancel(reason, () => true);
  }

  destroy(): void {
    this.#connection.destroy();
  }

  #cancel(reason: GrpcError, which: (call: RunningCall) => boolean): void {
    for (const call of this.#calls) if (which(call)) call.cancel(reason);
  }

  #endStuckCalls(): void {
    for (const call of this.#calls) call.endIfStuck();
  }

  /** Why a call more is too much; undefined when it is not. */
  #objection(): string | undefined {
    const { maxConcurrentCalls, maxCallsPerSecond } = this.#options;
    // HTTP/2 bounds the open streams; this also counts handlers that still run for streams that were reset.
    if (this.#calls.size >= 2 * maxConcurrentCalls) return "too many cancelled calls of this connection still run";
    return this.#tokens.tryTake() ? undefined : `this connection may make ${maxCallsPerSecond} calls per second`;
  }

  #waitToPing(): void {
    this.#timer.cancel();
    if (this.#closed || this.#options.keepaliveMs === Infinity) return;
    this.#timer = this.clock.schedule(this.#options.keepaliveMs, () => this.#ping());
  }

  #ping(): void {
    this.#timer = this.clock.schedule(this.#options.keepaliveTimeoutMs, () => this.#lose("answers no ping"));
    this.#connection.ping((answered) => {
      if (answered) this.#waitToPing();
    });
  }

  #lose(why: string): void {
    this.#options.logger.warn(`A gRPC client ${why}; its connection is cut`, { peer: this.peer.address });
    this.#connection.destroy();
  }
}

function refuse(stream: ServerStream, httpStatus: number, error: GrpcError, headers: Record<string, string>): void {
  stream.listen({
    onData() {},
    onEnd() {},
    onClose() {},
  });
  stream.refuse({ ...RESPONSE_HEADERS, ...headers, ":status": httpStatus, ...statusTrailers(error, undefined) });
}
