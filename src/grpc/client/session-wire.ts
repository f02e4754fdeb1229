import type { Clock } from "../../clock/index.ts";
import { GrpcError, Status, type GrpcCallOptions, type GrpcChannel, type MessageStream } from "../../rpc/index.ts";
import { pathOf, type Rpc } from "../rpc.ts";
import { ClientSession } from "../session/client-session.ts";
import { isSessionRpc, SESSION_HEADER, SESSION_PATH } from "../session/session-message.ts";

/** How long no session is asked for after one was refused. Unit: milliseconds. */
const RETRY_MS = 10_000;

/** What the client needs of a connection; a `GrpcChannel` is one. */
export type SessionChannel = Pick<GrpcChannel, "unary" | "serverStream" | "duplex" | "serverHeader" | "close">;

/**
 * The calls of a client: on a session where the server has that, else each on a stream of its own. A server is never
 * asked: it says so in the headers of its first response. While a session opens, and between two, calls go as before.
 */
export class SessionWire {
  readonly #channel: SessionChannel;
  readonly #clock: Clock;
  #session: ClientSession | undefined;
  #isOpening = false;
  /** Not before this time is a session opened again, after one was refused. */
  #retryAt = -Infinity;

  /** @param isWanted - False: every call has a stream of its own. */
  constructor(channel: SessionChannel, clock: Clock, isWanted: boolean) {
    this.#channel = channel;
    this.#clock = clock;
    if (!isWanted) this.#retryAt = Infinity;
  }

  async unary(rpc: Rpc, message: Uint8Array, options: GrpcCallOptions): Promise<Uint8Array> {
    const session = isSessionRpc(rpc) ? this.#openSession() : undefined;
    if (session === undefined || !isSessionRpc(rpc)) return this.#channel.unary(pathOf(rpc), message, options);
    try {
      return await session.call(rpc, message, options);
    } catch (error) {
      // The session's token is from when it was opened, and may have expired since; the call was not carried out. On a
      // stream of its own it carries the present one.
      if (!(error instanceof GrpcError) || error.code !== Status.unauthenticated) throw error;
      return this.#channel.unary(pathOf(rpc), message, options);
    }
  }

  serverStream(rpc: Rpc, message: Uint8Array, options: GrpcCallOptions): MessageStream {
    return this.#channel.serverStream(pathOf(rpc), message, options);
  }

  async close(): Promise<void> {
    this.#session?.close(new GrpcError(Status.cancelled, "the channel is closed"));
    await this.#channel.close();
  }

  /** The session, if there is one now. It is opened for the calls that come when the server has accepted it. */
  #openSession(): ClientSession | undefined {
    if (this.#session?.isOpen === true) return this.#session;
    this.#session = undefined;
    const isOffered = this.#channel.serverHeader(SESSION_HEADER) === "1";
    if (isOffered && !this.#isOpening && this.#clock.monotonic() >= this.#retryAt) void this.#open();
    return undefined;
  }

  /** Never rejects: a session that does not open is tried again later. */
  async #open(): Promise<void> {
    this.#isOpening = true;
    const stream = this.#channel.duplex(SESSION_PATH);
    try {
      await stream.opened;
      this.#session = new ClientSession(stream, this.#clock);
    } catch {
      stream.cancel();
      this.#retryAt = this.#clock.monotonic() + RETRY_MS;
    } finally {
      this.#isOpening = false;
    }
  }
}
