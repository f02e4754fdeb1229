import { SystemClock } from "../../clock/index.ts";
import { silentLogger } from "../../log/index.ts";
import { TypeRegistry } from "../../resource/index.ts";
import type { CoreState } from "../../state/index.ts";
import { GrpcServer, parseAddress, type GrpcCloseOptions } from "../../rpc/index.ts";
import { encodeServerVersion, ownVersion, SERVER_VERSION_PATH } from "../server-version.ts";
import { BearerTokens } from "./bearer-tokens.ts";
import { healthMethods, isHealthCall } from "./health-methods.ts";
import { listMethod } from "./list-method.ts";
import type { Method } from "./method.ts";
import { reflectionMethods } from "./reflection/reflection-methods.ts";
import type { StateServerOptions } from "./server-options.ts";
import { SESSION_HEADER } from "../session/session-message.ts";
import { type SessionCounter, sessionMethod } from "./session-method.ts";
import { StateService } from "./state-service.ts";
import { unaryMethods } from "./unary-methods.ts";
import { watchMethod } from "./watch-method.ts";

const MIB = 1024 * 1024;

/**
 * Serves a State to COSI clients, in whatever language; call {@link StateServer.listen} next. The State remains its
 * owner's, who closes it after the server.
 *
 * @throws {RangeError | TypeError} When an option is out of its range.
 */
export function server(state: CoreState, options?: StateServerOptions): StateServer {
  return new StateServer(state, options);
}

/** A server of the State service. A call that fails fails alone; what a connection may use is bounded. */
export class StateServer implements AsyncDisposable {
  readonly #grpc: GrpcServer;
  readonly #service: StateService;
  readonly #options: StateServerOptions;
  readonly #sessions: SessionCounter = { count: 0 };

  constructor(state: CoreState, options: StateServerOptions = {}) {
    const { types = [], logger = silentLogger, clock = new SystemClock() } = options;
    this.#options = options;
    this.#service = new StateService(state, {
      types: types instanceof TypeRegistry ? types : new TypeRegistry(types),
      access: options.access,
      yaml: options.yaml ?? true,
      batchBytes: count("batchBytes", options.batchBytes ?? MIB),
      batchEvents: count("batchEvents", options.batchEvents ?? 1000),
      maxWatchesPerConnection: count("maxWatchesPerConnection", options.maxWatchesPerConnection ?? 10_000),
      logger,
      clock,
    });
    const tokens = options.tokens === undefined ? undefined : new BearerTokens(options.tokens);
    const { maxCallsPerConnection = 11_000, sessions = true } = options;
    const unary = unaryMethods(this.#service);
    const bounds = {
      clock,
      maxConcurrentCalls: maxCallsPerConnection,
      maxCallsPerSecond: options.maxCallsPerSecond ?? Infinity,
    };
    const methods: readonly Method[] = [
      ...unary,
      listMethod(this.#service),
      watchMethod(this.#service),
      ...healthMethods(this.#service.watches),
      [SERVER_VERSION_PATH, { kind: "unary", handler: async () => encodeServerVersion(await ownVersion()) }],
      ...(sessions ? [sessionMethod(unary, bounds, this.#sessions)] : []),
    ];
    const reflection = options.reflection === true ? reflectionMethods(methods.map(([path]) => path)) : [];
    this.#grpc = new GrpcServer({
      methods: new Map([...methods, ...reflection]),
      responseHeaders: sessions ? { [SESSION_HEADER]: "1" } : {},
      authorize: tokens && ((call) => (isHealthCall(call) ? undefined : tokens.authenticate(call))),
      maxReceivedMessageBytes: count("maxMessageBytes", options.maxMessageBytes ?? 32 * MIB),
      maxConcurrentCalls: maxCallsPerConnection,
      maxCallsPerSecond: options.maxCallsPerSecond,
      maxConnections: options.maxConnections,
      keepaliveMs: options.keepaliveMs,
      keepaliveTimeoutMs: options.keepaliveTimeoutMs,
      clock,
      logger,
    });
  }

  /** Calls that run, watches included, on all connections. */
  get callCount(): number {
    return this.#grpc.callCount;
  }

  /** Watches that are open in the State on behalf of clients. */
  get watchCount(): number {
    return this.#service.watches.count;
  }

  /** Sessions of our own clients that are open: each is one call, whatever is called on it. */
  get sessionCount(): number {
    return this.#sessions.count;
  }

  get connectionCount(): number {
    return this.#grpc.connectionCount;
  }

  /**
   * Listens on a unix socket (`unix:PATH`) or on TCP (`tcp:HOST:PORT`, port 0 for a free one). May be called more than
   * once. Resolves to the address, the real port in it.
   *
   * @throws {TypeError} When the text is no address.
   * @throws {ListenError} When others can reach the address and there is no TLS; when another server listens on it.
   * @throws {Error} When the system refuses.
   */
  async listen(address: string): Promise<{ readonly address: string }> {
    const { tls, socketMode, allowInsecurePublic } = this.#options;
    const isUnix = parseAddress(address).kind === "unix";
    return {
      address: await this.#grpc.listen(address, {
        tls: isUnix ? undefined : tls,
        socketMode,
        allowInsecurePublic,
      }),
    };
  }

  /**
   * Stops: accepts nothing more, ends watches with UNAVAILABLE, so that clients go on elsewhere or later, and lets other
   * calls finish within the grace time (10 s by default). Then connections are cut. Later calls wait for the same end.
   */
  close(options?: GrpcCloseOptions): Promise<void> {
    return this.#grpc.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function count(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new RangeError(`${name} must be a whole number of at least 1, got ${value}`);
}
