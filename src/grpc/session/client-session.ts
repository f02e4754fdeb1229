import { Deadlines, type Clock, type Expiring } from "../../clock/index.ts";
import { GrpcError, Status, type DuplexStream } from "../../rpc/index.ts";
import { WireError, WireWriter } from "../../wire/index.ts";
import { pathOf } from "../rpc.ts";
import { readSessionResponse, writeSessionRequest, type SessionRpc } from "./session-message.ts";
import { decodeSessionStatus } from "./session-status.ts";

/** Calls that are with the server at once; the others wait here, in order. */
const MAX_IN_FLIGHT = 10_000;

/** Time-outs on the wire have 32 bits. Longer ones are kept by this side alone. Unit: milliseconds. */
const MAX_TIMEOUT_MS = 2 ** 32 - 1;

/** Bounds of one call. */
export interface SessionCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time for the whole call. Unit: milliseconds. Default: no limit. */
  readonly deadlineMs?: number | undefined;
}

/** A call that is not over. */
interface OpenCall extends Expiring {
  /** 0 until it is sent. */
  id: number;
  /** Where its request ends in what was sent on the stream. */
  offset: number;
  readonly rpc: SessionRpc;
  readonly message: Uint8Array;
  readonly signal: AbortSignal | undefined;
  readonly onAbort: () => void;
  readonly resolve: (response: Uint8Array) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The client's end of a session. A call settles once: with its response, its status, its deadline, its signal, or with
 * the session, whose end fails all that is open with UNAVAILABLE, as the end of a connection does.
 */
export class ClientSession {
  readonly #stream: DuplexStream;
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;
  readonly #writer = new WireWriter(1024);
  readonly #sent = new Map<number, OpenCall>();
  readonly #waiting = new Set<OpenCall>();
  readonly #ended: PromiseWithResolvers<void> = Promise.withResolvers();
  #lastId = 0;
  #isOpen = true;

  constructor(stream: DuplexStream, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
    this.#deadlines = new Deadlines(clock);
    stream.onDrain(() => this.#sendWaiting());
    void this.#run();
  }

  /** False when it takes no more calls. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves when it has ended, whatever the reason. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** The response may share memory with others: copy what is kept. @throws {GrpcError} as a unary call of a channel. */
  call(rpc: SessionRpc, message: Uint8Array, { signal, deadlineMs }: SessionCallOptions): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const deadlineAt = deadlineMs === undefined ? Infinity : this.#clock.monotonic() + deadlineMs;
      const call: OpenCall = {
        id: 0,
        offset: 0,
        rpc,
        message,
        signal,
        deadlineAt,
        resolve,
        reject,
        onAbort: () => this.#abandon(call, signal?.reason),
        expire: () => this.#abandon(call, expired(rpc)),
      };
      signal?.addEventListener("abort", call.onAbort);
      if (deadlineAt !== Infinity) this.#deadlines.add(call);
      if (this.#waiting.size === 0 && this.#hasRoom()) this.#send(call);
      else this.#waiting.add(call);
    });
  }

  /** Ends the session and all its calls. */
  close(reason: GrpcError): void {
    this.#stream.cancel();
    this.#end(reason);
  }

  async #run(): Promise<void> {
    try {
      for (let batch = await this.#stream.read(); batch !== undefined; batch = await this.#stream.read()) {
        for (const message of batch) this.#take(message);
        this.#sendWaiting();
      }
      this.#end(new GrpcError(Status.unavailable, "the server ended the session"));
    } catch (error) {
      this.#stream.cancel();
      this.#end(error instanceof GrpcError ? error : new GrpcError(Status.internal, String(error), { cause: error }));
    }
  }

  #take(message: Uint8Array): void {
    const { id, response, status } = parse(message);
    const call = this.#sent.get(id);
    if (call === undefined) {
      // One that was cancelled, or has expired, may be answered all the same.
      if (id <= this.#lastId) return;
      throw new GrpcError(Status.internal, `the server responds to call ${id} of the session, which was not made`);
    }
    this.#stream.acknowledge(call.offset);
    this.#forget(call);
    if (status !== undefined) call.reject(decodeSessionStatus(status));
    else call.resolve(response ?? new Uint8Array(0));
  }

  #hasRoom(): boolean {
    return this.#sent.size < MAX_IN_FLIGHT && this.#stream.hasRoom;
  }

  #sendWaiting(): void {
    for (const call of this.#waiting) {
      if (!this.#isOpen || !this.#hasRoom()) return;
      this.#waiting.delete(call);
      this.#send(call);
    }
  }

  #send(call: OpenCall): void {
    if (!this.#isOpen) {
      this.#forget(call);
      call.reject(new GrpcError(Status.unavailable, "the session is closed"));
      return;
    }
    call.id = ++this.#lastId;
    const { rpc, message, deadlineAt, id } = call;
    const remainingMs = deadlineAt === Infinity ? 0 : Math.max(1, Math.ceil(deadlineAt - this.#clock.monotonic()));
    this.#sent.set(id, call);
    call.offset = this.#write(id, remainingMs > MAX_TIMEOUT_MS ? 0 : remainingMs, rpc, message);
  }

  #write(id: number, timeoutMs: number, call: SessionRpc | "cancel", message: Uint8Array): number {
    writeSessionRequest(this.#writer, { id, timeoutMs, call, message });
    return this.#stream.send(this.#writer.finish());
  }

  /** No one waits for the call any more: the server is told. */
  #abandon(call: OpenCall, reason: unknown): void {
    this.#forget(call);
    if (call.id !== 0 && this.#isOpen) this.#write(call.id, 0, "cancel", call.message);
    call.reject(reason);
    this.#sendWaiting();
  }

  #forget(call: OpenCall): void {
    this.#sent.delete(call.id);
    this.#waiting.delete(call);
    this.#deadlines.delete(call);
    call.signal?.removeEventListener("abort", call.onAbort);
  }

  #end(reason: GrpcError): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const call of [...this.#sent.values(), ...this.#waiting]) {
      this.#forget(call);
      call.reject(lost(reason));
    }
    this.#ended.resolve();
  }
}

function parse(message: Uint8Array): ReturnType<typeof readSessionResponse> {
  try {
    return readSessionResponse(message);
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw new GrpcError(Status.internal, `the session cannot be read: ${cause.message}`, { cause });
  }
}

/** What the end of the session means for one of its calls: a cancelled session is the caller's own doing. */
function lost(reason: GrpcError): GrpcError {
  const { code, message } = reason;
  if (code === Status.cancelled || code === Status.unavailable || code === Status.unauthenticated) return reason;
  return new GrpcError(Status.unavailable, `the session ended: ${message}`, { cause: reason });
}

const expired = (rpc: SessionRpc): GrpcError =>
  new GrpcError(Status.deadlineExceeded, `no answer from ${pathOf(rpc)} within the deadline`);
