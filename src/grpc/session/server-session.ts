import { Deadlines, TokenBucket, type Clock } from "../../clock/index.ts";
import { messageOf } from "../../internal/foreign-value.ts";
import { GrpcError, Status, type DuplexCall, type ServerCall } from "../../rpc/index.ts";
import { WireError, WireWriter } from "../../wire/index.ts";
import { SessionCall, type SessionHost } from "./session-call.ts";
import { readSessionRequest, writeSessionResponse, type SessionRequest, type SessionRpc } from "./session-message.ts";
import { encodeSessionStatus } from "./session-status.ts";

/** What runs a call. What it throws is a `GrpcError`. */
export type SessionHandler = (call: ServerCall) => Promise<Uint8Array>;

/** Options of a session on the server. */
export interface ServerSessionOptions {
  readonly handlers: Readonly<Record<SessionRpc, SessionHandler>>;
  readonly clock: Clock;
  /** Calls that may run at once; the client waits with more. */
  readonly maxConcurrentCalls: number;
  /** New calls per second; a call beyond it is refused with RESOURCE_EXHAUSTED. */
  readonly maxCallsPerSecond: number;
}

/** Calls that may get their responses before what they take is looked at again. */
const CALLS_AT_ONCE = 8;

/** How long an authenticated caller is believed without asking again. Unit: milliseconds. */
const AUTHENTICATION_MS = 1000;

/**
 * The server's end of a session: calls of one client on one stream.
 *
 * *Reading* while there is room for more calls and for more responses, so that a client that does not read its responses
 * is not read either. *Draining* after the client's last request, or when the server shuts down: what runs is finished.
 * A malformed request ends the session with INVALID_ARGUMENT and everything on it; other failures are one call's.
 */
export class ServerSession implements SessionHost {
  readonly call: DuplexCall;
  readonly #options: ServerSessionOptions;
  readonly #running = new Map<number, SessionCall>();
  readonly #deadlines: Deadlines;
  readonly #writer = new WireWriter(1024);
  readonly now: () => number;
  #lastId = 0;
  /** Calls whose response waits for room, and the end of the wait of the last of them. */
  #turns = 0;
  #lastTurn: Promise<void> = Promise.resolve();
  #authenticatedAt: number;
  readonly #tokens: TokenBucket;
  /** Resolved whenever a call has ended. */
  #ended: PromiseWithResolvers<void> | undefined;

  constructor(call: DuplexCall, options: ServerSessionOptions) {
    const { clock, maxCallsPerSecond } = options;
    this.call = call;
    this.#options = options;
    this.#deadlines = new Deadlines(clock);
    this.now = () => clock.monotonic();
    this.#authenticatedAt = this.now();
    this.#tokens = new TokenBucket(maxCallsPerSecond, maxCallsPerSecond, clock);
  }

  /** Serves the calls until the client has sent its last, or the server shuts down, and all have ended. */
  async run(): Promise<void> {
    const { signal } = this.call;
    const onAbort = (): void => this.#cancelAll(signal.reason);
    signal.addEventListener("abort", onAbort);
    try {
      const refusal = await this.#serve();
      while (this.#running.size > 0) await this.#oneEnds();
      if (refusal !== undefined) throw refusal;
    } catch (error) {
      this.#cancelAll(error);
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** @returns why it serves no more: a caller that is not authenticated any more. What runs may finish. */
  async #serve(): Promise<GrpcError | undefined> {
    let taken = 0;
    for (let batch = await this.call.read(); batch !== undefined; batch = await this.call.read()) {
      const refusal = await this.#refusal();
      if (refusal !== undefined) return refusal;
      for (const message of batch) {
        while (this.#isFull()) await this.#room();
        this.#take(parse(message));
        // Those of one batch would all encode their responses before the first of them counts.
        if (++taken % CALLS_AT_ONCE === 0) await microtasksDone();
      }
    }
    return undefined;
  }

  /** A token that has expired, or was withdrawn, ends the session within a second of its next call. */
  async #refusal(): Promise<GrpcError | undefined> {
    if (this.now() - this.#authenticatedAt < AUTHENTICATION_MS) return undefined;
    try {
      await this.call.authenticate();
    } catch (error) {
      return toStatus(error);
    }
    this.#authenticatedAt = this.now();
    return undefined;
  }

  /** Room for the response of one call; calls that wait for it are given it one after the other. */
  drained(): Promise<void> {
    const turn = this.#lastTurn.then(() => this.call.drained());
    this.#lastTurn = turn.then(microtasksDone, () => {});
    this.#turns++;
    return turn.finally(() => this.#turns--);
  }

  get hasRoom(): boolean {
    return this.#turns === 0 && this.call.hasRoom;
  }

  #isFull(): boolean {
    return this.#running.size >= this.#options.maxConcurrentCalls || !this.call.hasRoom;
  }

  async #room(): Promise<void> {
    if (this.#running.size >= this.#options.maxConcurrentCalls) await this.#oneEnds();
    await this.call.drained();
  }

  #oneEnds(): Promise<void> {
    this.#ended ??= Promise.withResolvers();
    return this.#ended.promise;
  }

  #take(request: SessionRequest): void {
    const { id, call } = request;
    if (call === "cancel") {
      // One that is over already is no mistake: cancel and response may cross.
      this.#running.get(id)?.cancel(new GrpcError(Status.cancelled, "the client cancelled the call"));
      return;
    }
    if (id <= this.#lastId) {
      const text = `the id ${id} of a session's call is not larger than the one before it, ${this.#lastId}`;
      throw new GrpcError(Status.invalidArgument, text);
    }
    this.#lastId = id;
    if (this.#tokens.tryTake()) this.#start(new SessionCall(request, call, this, this.#onEnd));
    else this.#respond(id, undefined, tooMany(this.#options.maxCallsPerSecond));
  }

  #start(call: SessionCall): void {
    this.#running.set(call.id, call);
    if (call.deadlineAt !== Infinity) this.#deadlines.add(call);
    this.#options.handlers[call.rpc](call).then(
      (response) => this.#finish(call, response, undefined),
      (error: unknown) => this.#finish(call, undefined, toStatus(error)),
    );
  }

  #finish(call: SessionCall, response: Uint8Array | undefined, error: GrpcError | undefined): void {
    // It keeps its place until its handler is done, so that cancelled ones cannot pile up.
    this.#running.delete(call.id);
    this.#deadlines.delete(call);
    if (!call.isOver) this.#respond(call.id, response, error);
    this.#ended?.resolve();
    this.#ended = undefined;
  }

  readonly #onEnd = (call: SessionCall, reason: GrpcError): void => {
    this.#deadlines.delete(call);
    if (reason.code === Status.deadlineExceeded) this.#respond(call.id, undefined, reason);
  };

  /** What one turn of the event loop responds leaves in one piece: the stream gathers it. */
  #respond(id: number, response: Uint8Array | undefined, error: GrpcError | undefined): void {
    if (this.call.signal.aborted) return;
    writeSessionResponse(this.#writer, { id, response, status: error && encodeSessionStatus(error) });
    try {
      this.call.send(this.#writer.finish());
    } catch (thrown) {
      // Its client does not read, or the response is larger than may be sent; the caller must not wait for ever.
      this.call.cancel(toStatus(thrown));
    }
  }

  #cancelAll(reason: unknown): void {
    const error = toStatus(reason);
    for (const call of this.#running.values()) call.cancel(error);
  }
}

/** Resolves when everything is done that needs no waiting. */
const microtasksDone = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

function parse(message: Uint8Array): SessionRequest {
  try {
    return readSessionRequest(message);
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw new GrpcError(Status.invalidArgument, cause.message, { cause });
  }
}

const toStatus = (error: unknown): GrpcError =>
  error instanceof GrpcError ? error : new GrpcError(Status.unknown, messageOf(error), { cause: error });

const tooMany = (maxCallsPerSecond: number): GrpcError =>
  new GrpcError(Status.resourceExhausted, `this connection may make ${maxCallsPerSecond} calls per second`);
