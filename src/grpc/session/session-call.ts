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
  #controller: AbortController | undefined;
  #ended: GrpcError | undefined;
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
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended);
    }
    return this.#controller.signal;
  }

  get hasRoom(): boolean {
    return this.#session.hasRoom;
  }

  /** True when it was ended before its handler was done: no one waits for a response. */
  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  drained(): Promise<void> {
    return this.#ended === undefined ? this.#session.drained() : Promise.reject(this.#ended);
  }

  setTrailers(): void {
    // A response of a session has none; what its methods tell besides is in the status.
  }

  expire(): void {
    this.cancel(new GrpcError(Status.deadlineExceeded, "the deadline has passed"));
  }

  cancel(reason: GrpcError): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#controller?.abort(reason);
    this.#onEnd(this, reason);
  }
}
