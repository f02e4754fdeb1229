import http2, { type Http2Server, type Http2SecureServer, type ServerHttp2Session } from "node:http2";
import type { ListenOptions, Socket } from "node:net";
import type { SecureContextOptions, TlsOptions, TLSSocket } from "node:tls";
import type { ServerConnection, ServerConnectionEvents } from "./http2.ts";
import { NodePeer } from "./node-peer.ts";
import { NodeServerStream } from "./node-server-stream.ts";

/**
 * Window of a stream and of a connection: what a client can send ahead. `node:http2` stops reading while a write of its
 * own is pending; so small a window leaves a Node client that does not bound itself room in the socket, so that its
 * writes complete and it goes on reading. Unit: bytes.
 */
const WINDOW_BYTES = 64 * 1024 - 1;
/**
 * Node's own bound on the memory of a connection is out of the way: it counts what a stream had not sent yet when it was
 * cancelled, and never gives it back, so that a few thousand cancelled watches would refuse all further calls. What
 * waits is bounded by ours: open calls, bytes of requests, bytes of responses.
 * Unit: megabytes.
 */
const CONNECTION_MEMORY_MB = 1_000_000;
/**
 * Streams that a peer may reset, at once and per second, before Node takes it for an attack. Far above what a client
 * does that opens and cancels much: what bounds the work is that a cancelled call counts until its handler is done.
 */
const RESET_BURST = 100_000;
const RESETS_PER_SECOND = 20_000;
/** How long a peer may take for its TLS handshake. Unit: milliseconds. */
const TLS_HANDSHAKE_MS = 10_000;

/** Settings of TLS, as `node:tls` takes them. */
export type ServerTls = SecureContextOptions & Pick<TlsOptions, "requestCert" | "rejectUnauthorized" | "SNICallback">;

export interface Http2ListenOptions {
  readonly tls: ServerTls | undefined;
  readonly maxConcurrentStreams: number;
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
  /** Called for each connection; gives who is told about it. */
  readonly onConnection: (connection: ServerConnection) => ServerConnectionEvents;
  /** Called for what goes wrong with a connection, or before there is one. */
  readonly onError: (error: Error) => void;
}

/** A listening server. */
export interface Http2Listener {
  /** The port it really listens on; 0 for a unix socket. */
  readonly port: number;
  /** Accepts nothing more and tells every peer so. Resolves when the last connection is closed. */
  close(): Promise<void>;
  /** Cuts every connection that is left. */
  destroy(): void;
}

/** Starts to listen. Rejects with the system's error. */
export async function listenHttp2(target: ListenOptions, options: Http2ListenOptions): Promise<Http2Listener> {
  const { tls, onError } = options;
  const settings = {
    settings: {
      initialWindowSize: WINDOW_BYTES,
      maxConcurrentStreams: options.maxConcurrentStreams,
      maxHeaderListSize: options.maxHeaderBytes,
      enablePush: false,
    },
    maxSessionMemory: CONNECTION_MEMORY_MB,
    streamResetBurst: RESET_BURST,
    streamResetRate: RESETS_PER_SECOND,
  };
  const server: Http2Server | Http2SecureServer =
    tls === undefined
      ? http2.createServer(settings)
      : http2.createSecureServer({ ...settings, handshakeTimeout: TLS_HANDSHAKE_MS, ...tls });
  server.maxConnections = options.maxConnections;
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  // A session hides its socket; the one that it was made for is the one that has just come.
  let latest: Socket | undefined;
  server.prependListener(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    latest = socket;
    // Node would wait for the end of what it still wants to write.
    socket.on("error", () => socket.destroy());
  });
  server.on("session", (session) => {
    const socket = latest;
    if (socket !== undefined) acceptSession(session, socket, options);
  });
  server.on("sessionError", onError);
  server.on("tlsClientError", (error: Error, socket: TLSSocket) => onError(explainTlsError(error, socket)));
  server.on("unknownProtocol", (socket: Socket) => socket.destroy());

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(target, () => {
      server.off("error", reject);
      server.on("error", onError);
      resolve();
    });
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    close: () => new Promise((resolve) => server.close(() => resolve())),
    destroy: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Why a TLS handshake failed; Node tells of a certificate that it does not accept only that the connection was lost. */
function explainTlsError(error: Error, { authorizationError }: TLSSocket): Error {
  const code = "code" in error ? error.code : undefined;
  // At run time it is the code of the problem, whatever its type says.
  const problem: unknown = authorizationError;
  if (typeof problem === "string") {
    return new Error(`a client showed a certificate that is not accepted: ${problem}`, { cause: error });
  }
  if (code === "ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE") {
    return new Error("a client showed no certificate, which is required", { cause: error });
  }
  return error;
}

function acceptSession(session: ServerHttp2Session, socket: Socket, options: Http2ListenOptions): void {
  const connection = new NodeServerConnection(session, socket);
  const events = options.onConnection(connection);
  session.setLocalWindowSize(WINDOW_BYTES);
  session.once("remoteSettings", () => events.onReady());
  session.once("close", () => events.onClose("the connection was closed"));
  session.on("stream", (stream, headers) => {
    if (stream.destroyed) return;
    events.onStream(new NodeServerStream(stream, headers, session));
  });
}

class NodeServerConnection implements ServerConnection {
  readonly peer: NodePeer;
  readonly #session: ServerHttp2Session;
  readonly #socket: Socket;

  constructor(session: ServerHttp2Session, socket: Socket) {
    this.#session = session;
    this.#socket = socket;
    this.peer = new NodePeer(socket);
  }

  ping(done: (answered: boolean) => void): void {
    if (this.#session.destroyed) {
      done(false);
      return;
    }
    // False when too many are on their way already: those answer for this one.
    this.#session.ping((error) => done(error === null));
  }

  shutDown(): void {
    this.#session.close();
  }

  destroy(): void {
    this.#session.destroy();
    // The session would wait for a peer that may not read.
    this.#socket.destroy();
  }
}
