import { formatAddress, parseAddress } from "../address.ts";
import { ChannelCalls } from "./channel-calls.ts";
import {
  type ChannelState,
  type GrpcCallOptions,
  type GrpcChannelOptions,
  resolveChannelOptions,
} from "./channel-options.ts";
import type { ClientCall, ClientCallBounds } from "./client-call.ts";
import { type MessageStream, MessageStreamCall } from "./message-stream.ts";
import { type DuplexStream, DuplexStreamCall } from "./duplex-stream.ts";
import { nodeHttp2 } from "../http2/node-http2-client.ts";
import { RequestHeaders } from "./request-headers.ts";
import { UnaryClientCall } from "./unary-client-call.ts";

/**
 * The client's end of gRPC: calls to one server, all on one connection. It connects when there is a call, and again
 * when there is one after the connection was lost.
 *
 * Nothing is sent twice: a call that was under way when its connection broke fails with UNAVAILABLE, and may have been
 * carried out. Without a connection, calls wait for the first attempt; after it failed they fail at once, until the next
 * attempt is due, unless they `waitForReady`.
 */
export class GrpcChannel implements AsyncDisposable {
  /** Where the server is, in plain form. */
  readonly address: string;
  readonly #headers: RequestHeaders;
  readonly #calls: ChannelCalls;
  readonly #waitForReady: boolean;
  #closing: Promise<void> | undefined;

  /**
   * @param address - `unix:PATH`, `tcp://HOST:PORT` or `HOST:PORT`.
   * @throws {TypeError | RangeError} When the address or an option is not what it should be.
   */
  constructor(address: string, options: GrpcChannelOptions = {}) {
    const target = parseAddress(address);
    const resolved = resolveChannelOptions(options);
    const { tls, authority, metadata, maxHeaderBytes } = resolved;
    this.address = formatAddress(target);
    this.#headers = new RequestHeaders(target, tls !== undefined, authority, metadata);
    this.#calls = new ChannelCalls(target, resolved, this.#headers, nodeHttp2(tls, maxHeaderBytes));
    this.#waitForReady = resolved.waitForReady;
  }

  get state(): ChannelState {
    return this.#calls.state;
  }

  /** Calls that are not over. */
  get callCount(): number {
    return this.#calls.count;
  }

  /**
   * Calls a method that answers with one message. The message may share memory with others: copy what is kept.
   *
   * @throws {GrpcError} The status of the call when it is not OK.
   */
  unary(path: string, message: Uint8Array, options: GrpcCallOptions = {}): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#start(new UnaryClientCall(path, message, toBounds(options), this.#calls, resolve, reject), options);
    });
  }

  /**
   * Calls a method that answers with any number of messages. What goes wrong is told when they are read.
   *
   * @throws {TypeError | RangeError} At once, when an option is not what it should be.
   */
  serverStream(path: string, message: Uint8Array, options: GrpcCallOptions = {}): MessageStream {
    const call = new MessageStreamCall(path, [message], toBounds(options), this.#calls);
    this.#start(call, options);
    return call;
  }

  /**
   * Calls a method that takes and gives any number of messages. What goes wrong is told when they are read.
   *
   * @throws {TypeError | RangeError} At once, when an option is not what it should be.
   */
  duplex(path: string, options: GrpcCallOptions = {}): DuplexStream {
    const call = new DuplexStreamCall(path, toBounds(options), this.#calls);
    this.#start(call, options);
    return call;
  }

  /** What the server said in this header of its first response on the connection that takes calls now. */
  serverHeader(name: string): string | undefined {
    return this.#calls.serverHeader(name);
  }

  /** Ends all calls with CANCELLED and closes all connections. Resolves when they are closed. */
  close(): Promise<void> {
    return (this.#closing ??= this.#calls.close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #start(call: ClientCall, options: GrpcCallOptions): void {
    const metadata = this.#headers.encode(options.metadata);
    this.#calls.start(call, metadata, options.waitForReady ?? this.#waitForReady);
  }
}

function toBounds({ signal, deadlineMs }: GrpcCallOptions): ClientCallBounds {
  if (deadlineMs !== undefined && !(deadlineMs >= 0)) {
    throw new RangeError(`deadlineMs must be a number of milliseconds from 0 on, got ${deadlineMs}`);
  }
  return { signal, deadlineMs: deadlineMs === Infinity ? undefined : deadlineMs };
}
