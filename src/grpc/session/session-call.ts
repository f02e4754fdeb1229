import { LazySignal } from "../../internal/lazy-signal.ts";
import type { Expiring } from "../../clock/index.ts";
import { GrpcError, Status, type DuplexCall, type Metadata, type Peer, type ServerCall } from "../../rpc/index.ts";
import { pathOf } from "../rpc.ts";
import type { SessionRequest, SessionRpc } from "./session-message.ts";

/** What a call needs of its session. */
export interface SessionHost {
  readonly call: DuplexCall;
  readonly hasRoom: boolean;
  now(): number;
  drained(): Promise<void>;
}

/** One call of a session as its handler sees it: the session's caller, its own message, deadline and signal. */
export class SessionCall implements ServerCall, Expiring {
  readonly id: number;
  readonly rpc: SessionRpc;
  readonly message: Uint8Array;
  readonly deadlineAt: number;
  readonly #session: SessionHost;
  readonly #cancelled = new LazySignal();
  readonly #onEnd: (call: SessionCall, reason: GrpcError) => void;

  /** @param onEnd - Called once when the call ends before its handler does: by its deadline, or by {@link cancel}. */
  constructor(
    { id, timeoutMs, message }: SessionRequest,
    rpc: SessionRpc,
    session: SessionHost,
    onEnd: (call: SessionCall, reason: GrpcError) => void,
  ) {
    this.id = id;
    this.rpc = rpc;
    this.message = message;
    this.#session = session;
    this.#onEnd = onEnd;
    this.deadlineAt = timeoutMs === 0 ? Infinity : session.now() + timeoutMs;
  }

  get path(): string {
    return pathOf(this.rpc);
  }

  get metadata(): Metadata {
    return this.#session.call.metadata;
  }

  get peer(): Peer {
    return this.#session.call.peer;
  }

  get identity(): unknown {
    return this.#session.call.identity;
  }

  get remainingMs(): number | undefined {
    return this.deadlineAt === Infinity ? undefined : Math.max(0, this.deadlineAt - this.#session.now());
  }

  get signal(): AbortSignal {
    return this.#cancelled.signal;
  }

  get hasRoom(): boolean {
    return this.#session.hasRoom;
  }

  /** True when it was ended before its handler was done: no one waits for a response. */
  get isOver(): boolean {
    return this.#cancelled.aborted;
  }

  drained(): Promise<void> {
    return this.isOver ? Promise.reject(this.#cancelled.reason) : this.#session.drained();
  }

  setTrailers(): void {
    // A response of a session has none; what its methods tell besides is in the status.
  }

  expire(): void {
    this.cancel(new GrpcError(Status.deadlineExceeded, "the deadline has passed"));
  }

  cancel(reason: GrpcError): void {
    if (this.#cancelled.abort(reason)) this.#onEnd(this, reason);
  }
}
