import http2, { type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions as TlsOptions, TLSSocket } from "node:tls";
import type { Address } from "../address.ts";
import {
  type ClientConnection,
  type ClientConnectionEvents,
  type ClientStream,
  type ClientStreamEvents,
  type ConnectHttp2,
  ResetCode,
  type StreamEnd,
} from "./http2.ts";
import { describeHttp2Code, describeHttp2Error } from "./http2-codes.ts";
import type { HeaderFields } from "../metadata.ts";
import { TlsHandshake } from "./tls-handshake.ts";

/** Window of a stream. Unit: bytes. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
/** Window of a connection; a small one costs lists a sixth of their speed. Unit: bytes. */
const CONNECTION_WINDOW_BYTES = 4 * 1024 * 1024;
/**
 * Node's own bound on the memory of a connection is out of the way: it counts what a stream had not sent yet when it was
 * cancelled, and never gives it back, so that a few thousand cancelled watches would refuse all further calls. What
 * waits here is bounded by the windows, by what may be unread, and by the callers.
 * Unit: megabytes.
 */
const CONNECTION_MEMORY_MB = 1_000_000;
/** Stream ids end at 2³¹, which a busy client reaches within a day: another connection is opened before. */
const LAST_STREAM_ID = 2 ** 31 - 2 ** 16;

/** When the system itself asks a silent server whether it is there: a last resort behind our own pings. */
const SYSTEM_KEEPALIVE_MS = 60_000;

const { NGHTTP2_NO_ERROR } = http2.constants;

const NO_LIMIT = 2 ** 32 - 1;

const WITH_BODY = Object.freeze({ endStream: false });
const FINISHED: StreamEnd = Object.freeze({ kind: "finished" });

/** Settings of TLS, as `node:tls` takes them. */
export type ClientTls = Pick<
  TlsOptions,
  | "ca"
  | "cert"
  | "key"
  | "passphrase"
  | "pfx"
  | "servername"
  | "rejectUnauthorized"
  | "checkServerIdentity"
  | "minVersion"
  | "maxVersion"
  | "secureContext"
>;

/**
 * Connects by `node:http2`.
 *
 * @param tls - Settings of TLS; undefined for none.
 * @param maxHeaderBytes - Largest header block that is accepted.
 * @param lastStreamId - From this one on a connection takes no more requests.
 */
export function nodeHttp2(
  tls: ClientTls | undefined,
  maxHeaderBytes: number,
  lastStreamId: number = LAST_STREAM_ID,
): ConnectHttp2 {
  return (address, events) => {
    const socket = openSocket(address, tls);
    const handshake =
      socket instanceof TLSSocket ? new TlsHandshake(socket, tls?.servername ?? hostOf(address)) : undefined;
    const session = http2.connect(tls === undefined ? "http://localhost" : "https://localhost", {
      createConnection: () => socket,
      maxSessionMemory: CONNECTION_MEMORY_MB,
      settings: {
        initialWindowSize: STREAM_WINDOW_BYTES,
        maxHeaderListSize: maxHeaderBytes,
        enablePush: false,
      },
    });
    session.once("connect", () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES));
    return new NodeClientConnection(session, socket, handshake, events, lastStreamId);
  };
}

const hostOf = (address: Address): string => (address.kind === "unix" ? "localhost" : address.host);

function openSocket(address: Address, tls: ClientTls | undefined): Socket | TLSSocket {
  const target = address.kind === "unix" ? { path: address.path } : { host: address.host, port: address.port };
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: SYSTEM_KEEPALIVE_MS };
  if (tls === undefined) return connectTcp({ ...target, ...keepAlive });
  const socket = connectTls({ ...target, ...keepAlive, ALPNProtocols: ["h2"], ...tls });
  socket.once("secureConnect", () => {
    if (socket.alpnProtocol !== "h2") socket.destroy(new Error("the server speaks TLS, but no HTTP/2"));
  });
  return socket;
}

class NodeClientConnection implements ClientConnection {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #events: ClientConnectionEvents;
  readonly #lastStreamId: number;
  #isExhausted = false;
  /** Until the server has shown that it speaks HTTP/2. */
  #handshake: TlsHandshake | undefined;
  /** Why the connection is over; the first that was told. */
  #reason: string | undefined;

  constructor(
    session: ClientHttp2Session,
    socket: Socket,
    handshake: TlsHandshake | undefined,
    events: ClientConnectionEvents,
    lastStreamId: number,
  ) {
    this.#session = session;
    this.#socket = socket;
    this.#events = events;
    this.#lastStreamId = lastStreamId;
    this.#handshake = handshake;
    session.once("remoteSettings", () => {
      this.#handshake = undefined;
      events.onReady();
    });
    session.on("goaway", (code) => {
      if (code !== NGHTTP2_NO_ERROR) this.#reason ??= `the server closed the connection: ${describeHttp2Code(code)}`;
      events.onGoAway(code === ResetCode.enhanceYourCalm);
    });
    session.on("error", (error: Error) => (this.#reason ??= this.#describe(error)));
    socket.on("error", (error: Error) => {
      this.#reason ??= this.#describe(error);
      // Node would wait for the end of what it still wants to write.
      socket.destroy();
    });
    session.once("close", () => events.onClose(this.reason));
  }

  get reason(): string {
    return this.#reason ?? this.#handshake?.describeClose() ?? "the connection was closed";
  }

  get isLost(): boolean {
    return this.#session.destroyed;
  }

  get maxConcurrentStreams(): number {
    return this.#session.remoteSettings.maxConcurrentStreams ?? NO_LIMIT;
  }

  request(
    headers: HeaderFields,
    body: Uint8Array,
    isWhole: boolean,
    events: ClientStreamEvents,
  ): ClientStream | undefined {
    const session = this.#session;
    if (session.closed || session.destroyed || this.#isExhausted) return undefined;
    const stream = session.request(headers, WITH_BODY);
    const wrapped = new NodeClientStream(stream, this, events);
    if (isWhole || body.length > 0) wrapped.write(body, isWhole);
    if (stream.id !== undefined && stream.id >= this.#lastStreamId) {
      // To close the session now would overtake the request.
      this.#isExhausted = true;
      this.#events.onExhausted();
    }
    return wrapped;
  }

  confirm(done: () => void): void {
    // A SETTINGS frame has to be acknowledged, as a PING has; but servers count pings, and close what pings too often.
    // It overtakes whatever waits to be written: then only the next one is behind all of that.
    setImmediate(() => {
      const session = this.#session;
      if (session.destroyed) return;
      const isBehindAll = session.state.outboundQueueSize === 0;
      session.settings({}, (error) => {
        if (error !== null) return;
        if (isBehindAll) done();
        else this.confirm(done);
      });
    });
  }

  ping(done: (answered: boolean) => void): void {
    if (this.#session.destroyed) {
      done(false);
      return;
    }
    this.#session.ping((error) => done(error === null));
  }

  #describe(error: Error): string {
    const described = this.#handshake?.describe(error);
    if (described !== undefined) return described;
    return error.message === "" && "code" in error ? String(error.code) : describeHttp2Error(error);
  }

  shutDown(): void {
    this.#session.close();
  }

  destroy(reason: string): void {
    this.#reason ??= reason;
    this.#session.destroy();
    this.#socket.destroy();
  }
}

/** Where a stream of Node keeps ours. */
const OURS: unique symbol = Symbol("ours");

/** A stream of Node that is ours; see the server's for why the tie is cut at the end, and why listeners are shared. */
type OwnedStream = ClientHttp2Stream & { [OURS]?: NodeClientStream | undefined };

class NodeClientStream implements ClientStream {
  /** Who is told; for the listeners below. */
  readonly events: ClientStreamEvents;
  readonly #stream: ClientHttp2Stream;
  readonly #connection: NodeClientConnection;

  constructor(stream: OwnedStream, connection: NodeClientConnection, events: ClientStreamEvents) {
    this.#stream = stream;
    this.#connection = connection;
    this.events = events;
    stream[OURS] = this;
    stream.on("response", onHeaders);
    stream.on("data", onData);
    stream.on("trailers", onTrailers);
    stream.on("end", onEnd);
    stream.on("error", ignoreError);
    stream.on("close", onClose);
  }

  write(bytes: Uint8Array, isLast: boolean): void {
    if (isLast) this.#stream.end(bytes);
    else this.#stream.write(bytes);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  reset(code: number): void {
    this.#stream.close(code);
  }

  /** The stream is over. */
  close(): void {
    this.events.onClose(this.#end());
  }

  #end(): StreamEnd {
    const { rstCode } = this.#stream;
    if (this.#connection.isLost) return { kind: "lost", reason: this.#connection.reason };
    return rstCode === NGHTTP2_NO_ERROR ? FINISHED : { kind: "reset", code: rstCode };
  }
}

function onHeaders(this: OwnedStream, headers: HeaderFields): void {
  this[OURS]?.events.onHeaders(headers);
}

function onData(this: OwnedStream, bytes: Uint8Array): void {
  this[OURS]?.events.onData(bytes);
}

function onTrailers(this: OwnedStream, headers: HeaderFields): void {
  this[OURS]?.events.onTrailers(headers);
}

function onEnd(this: OwnedStream): void {
  this[OURS]?.events.onEnd();
}

function onClose(this: OwnedStream): void {
  const ours = this[OURS];
  this[OURS] = undefined;
  ours?.close();
}

/** The code of a reset is what counts, and "close" follows in any case. */
function ignoreError(): void {}
