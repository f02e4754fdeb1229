import { formatAddress, parseAddress } from "../address.ts";
import type { CallLimits } from "./call-host.ts";
import { GrpcError } from "../grpc-error.ts";
import { type Listening, listenAt } from "../http2/listen.ts";
import type { Http2ListenOptions, ServerTls } from "../http2/node-http2-server.ts";
import { type ConnectionOptions, GrpcServerConnection } from "./server-connection.ts";
import { type GrpcServerOptions, type ResolvedServerOptions, resolveServerOptions } from "./server-options.ts";
import { ResetCode, type ServerConnectionEvents } from "../http2/http2.ts";
import { Newcomers } from "./newcomers.ts";
import { Status } from "../status.ts";

/** Connections of one host that have made no accepted call: a quarter of all, but never less than so many. */
const MIN_NEWCOMERS = 16;
/** Receives the events of a connection that is cut at once. */
const REFUSED: ServerConnectionEvents = {
  onReady() {},
  onStream: (stream) => stream.reset(ResetCode.refusedStream),
  onClose() {},
};

/** How long calls that run may go on after {@link GrpcServer.close}. Unit: milliseconds. */
const GRACE_MS = 10_000;
/** How long the last answers may take on their way out before connections are cut. Unit: milliseconds. */
const FLUSH_MS = 500;

/** Options of {@link GrpcServer.listen}. */
export interface GrpcListenOptions {
  /** Certificate and key, and with `ca` the certificates of clients: with `ca`, those without one are refused. */
  readonly tls?: ServerTls | undefined;
  /** Permissions of a unix socket; who may write may connect. Default: 0o600, this user alone. */
  readonly socketMode?: number | undefined;
  /** Allows to listen without TLS where other machines can connect. Default: false. */
  readonly allowInsecurePublic?: boolean | undefined;
}

/** Options of {@link GrpcServer.close}. */
export interface GrpcCloseOptions {
  /** How long calls that run may go on. Unit: milliseconds. Default: 10 s. */
  readonly graceMs?: number | undefined;
}

/**
 * A gRPC server that moves messages as bytes. Each connection, and what it may use, is bounded; a handler that fails
 * fails its own call.
 */
export class GrpcServer implements AsyncDisposable {
  readonly #options: ResolvedServerOptions;
  readonly #connectionOptions: ConnectionOptions;
  readonly #listening = new Set<Listening>();
  readonly #connections = new Set<GrpcServerConnection>();
  readonly #newcomers: Newcomers;
  #whenIdle: PromiseWithResolvers<void> | undefined;
  #closing: Promise<void> | undefined;

  /** @throws {RangeError | TypeError} When an option is out of its range. */
  constructor(options: GrpcServerOptions) {
    const resolved = resolveServerOptions(options);
    const limits: CallLimits = resolved;
    this.#options = resolved;
    this.#newcomers = new Newcomers(Math.max(MIN_NEWCOMERS, Math.floor(resolved.maxConnections / 4)));
    this.#connectionOptions = { ...resolved, limits };
  }

  /** Open calls, on all connections: their stream is open or their handler is not done. */
  get callCount(): number {
    return [...this.#connections].reduce((sum, connection) => sum + connection.callCount, 0);
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /**
   * Listens on a unix socket (`unix:PATH`) or on TCP (`tcp://HOST:PORT`, port 0 for a free one). May be called more than
   * once. Resolves with the address, the real port in it.
   *
   * @throws {Error} When others can reach the address and there is no TLS; when another server listens on it; when the
   *   system refuses.
   */
  async listen(address: string, options: GrpcListenOptions = {}): Promise<string> {
    const target = parseAddress(address);
    this.#expectOpen();
    const listening = await listenAt(target, this.#http2Options(options.tls), {
      socketMode: options.socketMode ?? 0o600,
      allowInsecurePublic: options.allowInsecurePublic ?? false,
    });
    this.#listening.add(listening);
    if (this.#closing !== undefined) {
      await this.#stopListening(listening);
      this.#expectOpen();
    }
    return formatAddress(listening.address);
  }

  /**
   * Stops: accepts nothing more and tells clients so, ends watches with UNAVAILABLE, lets other calls finish within the
   * grace time, then ends those as well, then cuts connections. Their handlers are told by the signal first. Resolves
   * when all is closed; handlers that ignore their signal are not waited for beyond that. The first call's grace counts.
   */
  close(options: GrpcCloseOptions = {}): Promise<void> {
    return (this.#closing ??= this.#close(options.graceMs ?? GRACE_MS));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(graceMs: number): Promise<void> {
    const reason = new GrpcError(Status.unavailable, "the server is shutting down");
    const listening = [...this.#listening];
    const stopped = Promise.all(listening.map((one) => this.#stopListening(one)));
    for (const connection of this.#connections) connection.shutDown(reason);
    await this.#within(graceMs, this.#idle());
    for (const connection of this.#connections) connection.cancelAll(reason);
    await this.#within(FLUSH_MS, Promise.all([this.#idle(), stopped]));
    for (const { listener } of listening) listener.destroy();
    await stopped;
    await Promise.all([...this.#connections].map(({ closed }) => closed));
  }

  async #stopListening(listening: Listening): Promise<void> {
    this.#listening.delete(listening);
    await Promise.all([listening.listener.close(), listening.cleanUp()]);
  }

  /** Resolves when no call runs. */
  async #idle(): Promise<void> {
    if (this.callCount === 0) return;
    this.#whenIdle ??= Promise.withResolvers();
    await this.#whenIdle.promise;
  }

  #onIdle(connection: GrpcServerConnection): void {
    if (connection.isClosed) this.#connections.delete(connection);
    if (this.#whenIdle !== undefined && this.callCount === 0) this.#whenIdle.resolve();
  }

  /** Waits for `done`, but no longer than `ms`. */
  async #within(ms: number, done: Promise<unknown>): Promise<void> {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const timer = this.#options.clock.schedule(ms, resolve);
    await Promise.race([done, over]);
    timer.cancel();
  }

  #expectOpen(): void {
    if (this.#closing !== undefined) throw new Error("the server is closed");
  }

  #http2Options(tls: ServerTls | undefined): Http2ListenOptions {
    const { maxConcurrentCalls, maxHeaderBytes, maxConnections, logger } = this.#options;
    return {
      tls: tls && withClientCertificates(tls),
      maxConcurrentStreams: maxConcurrentCalls,
      maxHeaderBytes,
      maxConnections,
      onConnection: (http2Connection) => {
        const isRefused = !this.#newcomers.add(http2Connection.peer);
        if (isRefused) {
          logger.debug("A connection is refused: its host has too many that make no calls", {
            peer: http2Connection.peer.address,
          });
          queueMicrotask(() => http2Connection.destroy());
          return REFUSED;
        }
        const connection = new GrpcServerConnection(http2Connection, this.#connectionOptions, this.#newcomers, (idle) =>
          this.#onIdle(idle),
        );
        this.#connections.add(connection);
        return connection;
      },
      onError: (error) => logger.debug("A gRPC connection failed", { error }),
    };
  }
}

/** Who names authorities for clients means that clients show a certificate: without asking, no client is verified. */
function withClientCertificates(tls: ServerTls): ServerTls {
  return tls.ca === undefined ? tls : { requestCert: true, rejectUnauthorized: true, ...tls };
}
