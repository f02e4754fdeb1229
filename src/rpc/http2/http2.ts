import type { Address } from "../address.ts";
import type { HeaderFields } from "../metadata.ts";
import type { Peer } from "../peer.ts";

// All that the gRPC layer needs of HTTP/2. `node-http2-server.ts` and `node-http2-client.ts` are it on `node:http2`;
// another HTTP/2 takes their place by being the same. Nothing here throws: what comes too late does nothing.

/** Error codes of HTTP/2 that the gRPC layer sends or understands. */
export const ResetCode = {
  noError: 0,
  internalError: 2,
  refusedStream: 7,
  cancel: 8,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
} as const;

/** How a stream ended: both sides done, reset with a code by either side, or with its connection. */
export type StreamEnd =
  | { readonly kind: "finished" }
  | { readonly kind: "reset"; readonly code: number }
  | { readonly kind: "lost"; readonly reason: string };

/** What a side is told about a stream. After `onClose`, nothing. */
export interface StreamEvents {
  /** A piece of the body. The bytes may share memory with others. */
  onData(bytes: Uint8Array): void;
  /** The peer has sent all of its body. */
  onEnd(): void;
  /** Called exactly once, whatever happens. */
  onClose(end: StreamEnd): void;
}

/** A request, on the server. */
export interface ServerStream {
  /** Request headers; names in lower case, no prototype. */
  readonly headers: HeaderFields;
  /** Names who is told; called once, in the task in which the stream arrived. */
  listen(events: StreamEvents): void;
  /** Sends the headers of an answer with a body. At most once. */
  respond(headers: HeaderFields): void;
  /**
   * Sends a piece of the body; one at a time. `done` runs once: when the piece has left for the peer, and the next may
   * follow, or when the stream is over.
   */
  write(bytes: Uint8Array, done: () => void): void;
  /**
   * Sends the last piece of the body, if there is one, then the trailers, and so ends the answer. `done` runs once, as
   * that of `write` does.
   */
  finish(bytes: Uint8Array | undefined, trailers: HeaderFields, done: () => void): void;
  /** Answers with headers alone. If the peer is still sending its body, it is told to stop. */
  refuse(headers: HeaderFields): void;
  /** Stops and restarts `onData`; while stopped, the peer can send no more than the stream's window. */
  pause(): void;
  resume(): void;
  reset(code: number): void;
}

/** A connection, on the server. */
export interface ServerConnection {
  readonly peer: Peer;
  /** Calls back with false when the connection is over before the answer. */
  ping(done: (answered: boolean) => void): void;
  /** Refuses new streams, tells the peer so (GOAWAY), and closes when the last stream is done. */
  shutDown(): void;
  destroy(): void;
}

export interface ServerConnectionEvents {
  /** The peer has shown that it speaks HTTP/2. */
  onReady(): void;
  onStream(stream: ServerStream): void;
  onClose(reason: string): void;
}

/** A request, on the client. */
export interface ClientStream {
  /** Sends the next piece of the body, which was not whole in the request. */
  write(bytes: Uint8Array, isLast: boolean): void;
  /** Stops and restarts `onData`; while stopped, the peer can send no more than the stream's window. */
  pause(): void;
  resume(): void;
  reset(code: number): void;
}

export interface ClientStreamEvents extends StreamEvents {
  onHeaders(headers: HeaderFields): void;
  onTrailers(headers: HeaderFields): void;
}

/** A connection, on the client. */
export interface ClientConnection {
  /** Streams that the server allows to be open at once. Known when the connection is ready. */
  readonly maxConcurrentStreams: number;
  /**
   * Undefined when the connection takes no more requests: nothing has been sent then.
   *
   * @param body - The first piece of the body; all of it when `isWhole`.
   */
  request(
    headers: HeaderFields,
    body: Uint8Array,
    isWhole: boolean,
    events: ClientStreamEvents,
  ): ClientStream | undefined;
  /** Calls back when the server has read all that was given to the connection before, but for what its windows hold back. */
  confirm(done: () => void): void;
  ping(done: (answered: boolean) => void): void;
  /** Takes no more requests and closes when the last stream is done. */
  shutDown(): void;
  destroy(reason: string): void;
}

export interface ClientConnectionEvents {
  /** The peer has shown that it speaks HTTP/2. */
  onReady(): void;
  /** The peer wants no more requests. `calm` when it finds that this client asks too much, keepalive pings included. */
  onGoAway(calm: boolean): void;
  /** The connection has no id left for another request. It is open until it is shut down. */
  onExhausted(): void;
  /** Called exactly once, the last. */
  onClose(reason: string): void;
}

/** Opens a connection; `events` are called in later tasks. */
export type ConnectHttp2 = (address: Address, events: ClientConnectionEvents) => ClientConnection;
