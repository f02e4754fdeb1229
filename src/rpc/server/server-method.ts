import type { GrpcError } from "../grpc-error.ts";
import type { FramedMessages } from "../message-frame.ts";
import type { Metadata, MetadataInit } from "../metadata.ts";
import type { Peer } from "../peer.ts";

/** What is known of a call before its message has come. */
export interface CallInfo {
  /** Full name of the method, for example `/cosi.resource.State/Get`. */
  readonly path: string;
  readonly metadata: Metadata;
  readonly peer: Peer;
}

/** A call as its handler sees it. */
export interface ServerCall extends CallInfo {
  /** What the server's `authorize` gave for this call; undefined without one. */
  readonly identity: unknown;
  /** The one message of the request. It may share memory with others: copy what is kept. */
  readonly message: Uint8Array;
  /**
   * Aborts when no client waits for a response any more: cancelled by the client, deadline passed, connection lost, server
   * shutting down. The reason is a `GrpcError` with the status that fits.
   */
  readonly signal: AbortSignal;
  /** Milliseconds until the client's deadline; undefined when it has none. */
  readonly remainingMs: number | undefined;
  /**
   * Whether there is room for a response: a client may not read what it asked for. After false wait for
   * {@link drained} before encoding much.
   */
  readonly hasRoom: boolean;
  /**
   * Resolves when there is room for a response, or for more of it.
   *
   * @throws {GrpcError} The signal's reason when the call is over, or is over before there is room.
   */
  drained(): Promise<void>;
  /**
   * Metadata to send with the status.
   *
   * @throws {TypeError | RangeError} When it is malformed or too large.
   */
  setTrailers(metadata: MetadataInit): void;
}

/** A call that is answered with many messages. */
export interface ServerStreamCall extends ServerCall {
  /**
   * Sends messages, in order. What is sent in one turn of the event loop travels together. True when more may follow at
   * once; after false wait for {@link drained}. What was sent is dropped when the call is over.
   *
   * @throws {GrpcError} RESOURCE_EXHAUSTED for a message above the server's limit, and when a handler goes on and on
   *   without waiting: the messages of this call of `send` are then not sent.
   */
  send(messages: Uint8Array | FramedMessages | readonly (Uint8Array | FramedMessages)[]): boolean;
  /**
   * Counts memory that the handler keeps for this call until it is sent, beside what was sent already; 0 when it is.
   * Unit: bytes.
   */
  hold(bytes: number): void;
}

/** A call with any number of messages in both directions. */
export interface DuplexCall extends Omit<ServerStreamCall, "message"> {
  /**
   * All messages that have come, at least one: waits for it. Undefined when the client has sent its last, and when the
   * server shuts down. Not reading makes the client wait. One reader at a time.
   *
   * @throws {GrpcError} The signal's reason when the call is over; RESOURCE_EXHAUSTED for a message above the limit.
   */
  read(): Promise<readonly Uint8Array[] | undefined>;
  /** Authenticates the headers of the call anew. @throws what `authorize` throws: it is refused now. */
  authenticate(): Promise<void>;
  /** Ends the call with this status now: {@link read} and the signal fail with it. Later calls do nothing. */
  cancel(reason: GrpcError): void;
}

/**
 * What to do with a call that runs while the server shuts down: end it with UNAVAILABLE at once, or let it finish, for
 * as long as the grace time lasts.
 */
export type OnShutdown = "cancel" | "finish";

/** One message in, one message out. An answer that needs no waiting is best given without a promise. */
export interface UnaryMethod {
  readonly kind: "unary";
  readonly handler: (call: ServerCall) => Uint8Array | Promise<Uint8Array>;
  /** Default: "finish". */
  readonly onShutdown?: OnShutdown | undefined;
}

/** One message in, any number out. The call ends with OK when the handler returns. */
export interface ServerStreamMethod {
  readonly kind: "serverStream";
  readonly handler: (call: ServerStreamCall) => void | Promise<void>;
  /** Default: "cancel". */
  readonly onShutdown?: OnShutdown | undefined;
}

/** Any number of messages in, any number out. The call ends with OK when the handler returns. */
export interface DuplexMethod {
  readonly kind: "duplex";
  readonly handler: (call: DuplexCall) => Promise<void>;
  /** Default: "finish": the handler reads no more and may finish what it has. */
  readonly onShutdown?: OnShutdown | undefined;
}

/** A method of a service. A handler that throws a `GrpcError` ends its call with it; any other error is UNKNOWN. */
export type ServerMethod = UnaryMethod | ServerStreamMethod | DuplexMethod;
