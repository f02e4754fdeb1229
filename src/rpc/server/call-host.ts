import type { Clock } from "../../clock/index.ts";
import type { MessageInflater } from "./request/message-inflater.ts";
import type { OutgoingBudget } from "./response/outgoing-budget.ts";
import type { HeaderFields } from "../metadata.ts";
import type { Peer } from "../peer.ts";
import type { GrpcError } from "../grpc-error.ts";
import type { CallInfo, OnShutdown, ServerCall } from "./server-method.ts";

/** Bounds of each call. Unit: bytes. */
export interface CallLimits {
  readonly maxReceivedMessageBytes: number;
  readonly maxSentMessageBytes: number;
  /** A handler that sends while more than this waits is stopped. */
  readonly maxQueuedBytes: number;
}

/** Decides who may call; see the option of the server. */
export type Authorize = (call: CallInfo) => unknown;

/** A call as its connection sees it. */
export interface RunningCall extends ServerCall {
  readonly onShutdown: OnShutdown;
  /** The server shuts down: a call that goes on reads no more requests. */
  stopReading(): void;
  /** Ends the call from the server's side, unless it has its answer already. */
  cancel(reason: GrpcError): void;
  /** Ends the call if it has bytes to send of which its client has taken none since this was last called. */
  endIfStuck(): void;
}

/** What a call on the server needs of the connection it came on. */
export interface CallHost {
  readonly clock: Clock;
  readonly limits: CallLimits;
  readonly authorize: Authorize | undefined;
  readonly peer: Peer;
  /** Headers of every response. */
  readonly responseHeaders: HeaderFields;
  /** Count what waits to be sent on this connection: streams that are not read must not hold up calls. */
  readonly budgets: { readonly unary: OutgoingBudget; readonly serverStream: OutgoingBudget };
  readonly inflater: MessageInflater;
  /**
   * Counts bytes of requests that wait for the rest of them; negative when they wait no longer.
   *
   * @throws {GrpcError} RESOURCE_EXHAUSTED when they are too many on this connection.
   */
  receive(bytes: number): void;
  /** Called when a call's handler starts: its client may call. */
  accepted(): void;
  /** Called when both the stream and the handler are done; may be called again. */
  done(call: RunningCall): void;
  /** Called with what a handler threw that is no status. */
  logFailure(call: ServerCall, error: Error): void;
}
