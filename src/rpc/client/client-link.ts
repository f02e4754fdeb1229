import type { Clock, Timer } from "../../clock/index.ts";
import type { Address } from "../address.ts";
import type { CallLink, ClientCall } from "./client-call.ts";
import {
  type ClientConnection,
  type ClientConnectionEvents,
  type ClientStream,
  type ConnectHttp2,
  ResetCode,
} from "../http2/http2.ts";
import type { HeaderFields } from "../metadata.ts";
import { RequestBodies } from "./request-bodies.ts";
import { UnreadBytes } from "./unread-bytes.ts";

const NO_BYTES = new Uint8Array(0);

/** What may be unread by the server, see {@link UnreadBytes}. Unit: bytes. */
const UNREAD_BYTES = 80 * 1024;
/** The same on a unix socket of other systems than Linux, which give it 8 KiB. */
const SMALL_UNREAD_BYTES = 6 * 1024;
/** What a request takes without its body and metadata: headers, and the kernel's own of one write. Unit: bytes. */
const REQUEST_BYTES = 1024;
/** The same of a reset. */
const RESET_BYTES = 800;

export interface LinkTimes {
  readonly connectTimeoutMs: number;
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
}

/** Who is told about a link. */
export interface LinkOwner {
  onReady(link: ClientLink): void;
  /** The link takes no more requests. `calm` when the server wants fewer pings. */
  onDraining(link: ClientLink, calm: boolean): void;
  onClosed(link: ClientLink, reason: string): void;
  /** After {@link ClientLink.hasRoom} was false there may be room. */
  onRoom(link: ClientLink): void;
}

/**
 * One connection of a channel, from the attempt to its end. While it has calls, and nothing has come from the server for
 * a time, it pings; a server that does not answer is gone, whatever the system says.
 */
export class ClientLink implements ClientConnectionEvents, CallLink {
  readonly #clock: Clock;
  readonly #times: LinkTimes;
  readonly #owner: LinkOwner;
  readonly #connection: ClientConnection;
  readonly #closed: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #calls = new Set<ClientCall>();
  readonly #unread: UnreadBytes;
  readonly #bodies: RequestBodies;
  /** Streams to reset as soon as there is room. */
  #resets: ClientStream[] = [];
  /** Headers of the first response. */
  #firstHeaders: HeaderFields | undefined;
  #isReady = false;
  #isExhausted = false;
  /** True when a call waits for another to end. */
  #isFull = false;
  /** Whether, when there is room, new calls go before the rest of large bodies. */
  #callsFirst = false;
  #sent = false;
  #answered = false;
  /** True when something has come since the timer was set. */
  #heard = false;
  /** The end of the attempt, then the next ping, then the end of the wait for its answer. */
  #timer: Timer;

  constructor(connect: ConnectHttp2, address: Address, clock: Clock, times: LinkTimes, owner: LinkOwner) {
    this.#clock = clock;
    this.#times = times;
    this.#owner = owner;
    const { connectTimeoutMs } = times;
    this.#timer = clock.schedule(connectTimeoutMs, () => {
      this.#connection.destroy(`no answer within ${connectTimeoutMs} ms`);
    });
    const isSmall = address.kind === "unix" && process.platform !== "linux";
    this.#unread = new UnreadBytes(
      isSmall ? SMALL_UNREAD_BYTES : UNREAD_BYTES,
      (done) => this.#connection.confirm(done),
      () => this.#onRoom(),
    );
    this.#bodies = new RequestBodies(this.#unread);
    this.#connection = connect(address, this);
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** True when calls went out on it and nothing ever came back: the next one may break in the same way. */
  get isSuspect(): boolean {
    return this.#sent && !this.#answered;
  }

  /** Resolves when the connection is closed. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /**
   * Whether a call's request may be sent now. After false the owner's `onRoom` is called when it is time to ask again.
   *
   * @param metadataBytes - Size of its headers beyond the usual ones.
   */
  hasRoom(call: ClientCall, metadataBytes: number): boolean {
    if (this.#calls.size >= this.#connection.maxConcurrentStreams) {
      this.#isFull = true;
      return false;
    }
    return this.#unread.hasRoom(this.#firstBytes(call, metadataBytes));
  }

  /** Sends a call's request; false when the connection takes none any more. */
  send(call: ClientCall, headers: HeaderFields, metadataBytes: number): boolean {
    const { request } = call;
    const firstBytes = Math.min(request.length, this.#bodies.pieceBytes);
    const isWhole = firstBytes === request.length && !call.isOpenEnded;
    const first = firstBytes === request.length ? request : request.subarray(0, firstBytes);
    const stream = this.#connection.request(headers, first, isWhole, call);
    if (stream === undefined) return false;
    this.#sent = true;
    this.#calls.add(call);
    call.attach(stream, this, this.#unread.add(this.#firstBytes(call, metadataBytes)));
    if (isWhole) call.request = NO_BYTES;
    else this.#bodies.add(call, stream, firstBytes);
    return true;
  }

  heard(position: number): void {
    this.#heard = true;
    this.#answered = true;
    this.#unread.read(position);
  }

  onResponse(headers: HeaderFields): void {
    this.#firstHeaders ??= headers;
  }

  serverHeader(name: string): string | undefined {
    return this.#firstHeaders?.[name]?.toString();
  }

  sendMore(call: ClientCall): void {
    this.#bodies.resume(call);
  }

  reset(stream: ClientStream): void {
    if (this.#resets.length === 0 && this.#unread.hasRoom(RESET_BYTES)) {
      this.#unread.add(RESET_BYTES);
      stream.reset(ResetCode.cancel);
    } else {
      // What comes until then is dropped.
      stream.resume();
      this.#resets.push(stream);
    }
  }

  /** A call is over. */
  forget(call: ClientCall): void {
    this.#calls.delete(call);
    this.#bodies.delete(call);
    if (this.#isFull) {
      this.#isFull = false;
      this.#owner.onRoom(this);
    }
    if (this.#isExhausted && this.#calls.size === 0) this.drain();
  }

  /** Closes when the calls that are open have ended. */
  drain(): void {
    this.#timer.cancel();
    this.#connection.shutDown();
  }

  destroy(reason: string): void {
    this.#connection.destroy(reason);
  }

  onReady(): void {
    this.#isReady = true;
    this.#waitToPing();
    this.#owner.onReady(this);
  }

  onGoAway(calm: boolean): void {
    // A connection that closes answers no pings; what is left of it is watched over by the system's own.
    this.#timer.cancel();
    this.#owner.onDraining(this, calm);
  }

  onExhausted(): void {
    this.#isExhausted = true;
    this.#owner.onDraining(this, false);
  }

  onClose(reason: string): void {
    this.#timer.cancel();
    this.#closed.resolve();
    this.#owner.onClosed(this, reason);
  }

  #firstBytes({ request }: ClientCall, metadataBytes: number): number {
    return REQUEST_BYTES + metadataBytes + Math.min(request.length, this.#bodies.pieceBytes);
  }

  #onRoom(): void {
    let sent = 0;
    for (; sent < this.#resets.length && this.#unread.hasRoom(RESET_BYTES); sent++) {
      this.#unread.add(RESET_BYTES);
      this.#resets[sent]?.reset(ResetCode.cancel);
    }
    this.#resets = this.#resets.slice(sent);
    if (this.#resets.length > 0) return;
    // Large bodies would take all the room that there ever is.
    this.#callsFirst = !this.#callsFirst;
    if (this.#callsFirst) this.#owner.onRoom(this);
    this.#bodies.sendMore();
    if (!this.#callsFirst) this.#owner.onRoom(this);
  }

  #waitToPing(): void {
    this.#timer.cancel();
    if (this.#times.keepaliveMs === Infinity) return;
    this.#heard = false;
    this.#timer = this.#clock.schedule(this.#times.keepaliveMs, () => {
      if (this.#heard || this.#calls.size === 0) this.#waitToPing();
      else this.#ping();
    });
  }

  #ping(): void {
    this.#timer = this.#clock.schedule(this.#times.keepaliveTimeoutMs, () => {
      this.#connection.destroy("the server answers no ping");
    });
    this.#connection.ping((answered) => {
      if (!answered) return;
      this.#answered = true;
      this.#waitToPing();
    });
  }
}
