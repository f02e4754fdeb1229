import { Backoff, type Timer } from "../../clock/index.ts";
import type { Address } from "../address.ts";
import type { ChannelState, ResolvedChannelOptions } from "./channel-options.ts";
import type { ClientCall, ClientCallHost } from "./client-call.ts";
import { ClientLink, type LinkOwner } from "./client-link.ts";
import { GrpcError } from "../grpc-error.ts";
import type { ConnectHttp2 } from "../http2/http2.ts";
import type { HeaderFields } from "../metadata.ts";
import type { RequestHeaders } from "./request-headers.ts";
import { Status } from "../status.ts";

/** Servers that find pings too frequent are pinged half as often, down to this. Unit: milliseconds. */
const MAX_KEEPALIVE_MS = 3_600_000;
/** How long connections may take to say goodbye before they are cut. Unit: milliseconds. */
const GOODBYE_MS = 500;

/** A call that is not over. */
interface OpenCall {
  readonly metadata: HeaderFields | undefined;
  /** Size of its headers beyond the usual ones. Unit: bytes. */
  readonly metadataBytes: number;
  readonly waitForReady: boolean;
  link: ClientLink | undefined;
}

/**
 * The calls of a channel, and the connection that they go out on. It connects when there is a call, and again when there
 * is one after the connection was lost:
 *
 * - idle: no connection, none wanted;
 * - connecting: calls wait for the attempt;
 * - ready: calls go out, as many at once as the server can read and allows; the others wait, in order;
 * - backoff: the attempt failed. Calls fail with UNAVAILABLE unless they wait for a connection; then, after a time, it
 *   is tried again for those, or the channel is idle;
 * - closed: for good.
 */
export class ChannelCalls implements ClientCallHost, LinkOwner {
  readonly clock: ResolvedChannelOptions["clock"];
  readonly maxReceivedMessageBytes: number;
  readonly #address: Address;
  readonly #options: ResolvedChannelOptions;
  readonly #headers: RequestHeaders;
  readonly #connect: ConnectHttp2;
  readonly #backoff: Backoff;
  readonly #calls = new Map<ClientCall, OpenCall>();
  /** Those of the calls that wait for a connection, or for room on it. */
  readonly #waiting = new Set<ClientCall>();
  /** Every connection that is not closed, those included that only finish their calls. */
  readonly #links = new Set<ClientLink>();
  /** The connection that takes calls, or will when it is ready. */
  #link: ClientLink | undefined;
  #state: ChannelState = "idle";
  #retry: Timer | undefined;
  #lastFailure = "";
  #keepaliveMs: number;

  constructor(address: Address, options: ResolvedChannelOptions, headers: RequestHeaders, connect: ConnectHttp2) {
    this.clock = options.clock;
    this.maxReceivedMessageBytes = options.maxReceivedMessageBytes;
    this.#address = address;
    this.#options = options;
    this.#headers = headers;
    this.#connect = connect;
    this.#backoff = new Backoff(options.random, options.backoff);
    this.#keepaliveMs = options.keepaliveMs;
  }

  get state(): ChannelState {
    return this.#state;
  }

  get count(): number {
    return this.#calls.size;
  }

  serverHeader(name: string): string | undefined {
    return this.#link?.serverHeader(name);
  }

  /** Begins a call: sends it, or lets it wait, or fails it. */
  start(call: ClientCall, metadata: HeaderFields | undefined, waitForReady: boolean): void {
    const metadataBytes = this.#headers.sizeOf(metadata);
    const open: OpenCall = { metadata, metadataBytes, waitForReady, link: undefined };
    this.#calls.set(call, open);
    call.begin();
    if (call.isOver) return;
    if (this.#state === "closed") call.abort(channelClosed());
    else if (this.#waiting.size > 0 && this.#link?.isReady === true) this.#waiting.add(call);
    else this.#send(call, open);
  }

  /** Ends every call and closes every connection; resolves when they are closed. */
  async close(): Promise<void> {
    this.#setState("closed");
    this.#link = undefined;
    this.#retry?.cancel();
    for (const call of this.#calls.keys()) call.abort(channelClosed());
    const links = [...this.#links];
    for (const link of links) {
      if (link.isReady) link.drain();
      else link.destroy("the channel was closed");
    }
    const cut = this.clock.schedule(GOODBYE_MS, () => {
      for (const link of links) link.destroy("the channel was closed");
    });
    await Promise.all(links.map((link) => link.closed));
    cut.cancel();
  }

  done(call: ClientCall): void {
    this.#waiting.delete(call);
    this.#calls.get(call)?.link?.forget(call);
    this.#calls.delete(call);
  }

  onReady(link: ClientLink): void {
    if (link !== this.#link) return;
    this.#setState("ready");
    this.#sendWaiting(link);
  }

  onRoom(link: ClientLink): void {
    if (link === this.#link) this.#sendWaiting(link);
  }

  onDraining(link: ClientLink, calm: boolean): void {
    if (calm) this.#keepaliveMs = Math.min(2 * this.#keepaliveMs, Math.max(MAX_KEEPALIVE_MS, this.#keepaliveMs));
    if (link === this.#link && link.isReady) this.#leave();
  }

  onClosed(link: ClientLink, reason: string): void {
    this.#links.delete(link);
    if (link !== this.#link) return;
    if (!link.isReady || link.isSuspect) {
      this.#fail(reason);
      return;
    }
    this.#leave(reason);
  }

  /** Sends the calls that wait, in order, as long as the connection has room. */
  #sendWaiting(link: ClientLink): void {
    for (const call of this.#waiting) {
      const open = this.#calls.get(call);
      if (link !== this.#link || (open !== undefined && !link.hasRoom(call, open.metadataBytes))) return;
      this.#waiting.delete(call);
      if (open !== undefined) this.#send(call, open);
    }
  }

  #send(call: ClientCall, open: OpenCall): void {
    const link = this.#link;
    if (link?.isReady === true) {
      if (!link.hasRoom(call, open.metadataBytes)) {
        this.#waiting.add(call);
        return;
      }
      try {
        const headers = this.#headers.build(call.path, open.metadata, call.remainingMs);
        if (link.send(call, headers, open.metadataBytes)) {
          open.link = link;
          return;
        }
      } catch (error) {
        call.abort(error);
        return;
      }
      this.#leave();
    }
    if (this.#state === "backoff" && !open.waitForReady) {
      call.abort(this.#unavailable());
      return;
    }
    this.#waiting.add(call);
    if (this.#state === "idle") this.#open();
  }

  #open(): void {
    this.#setState("connecting");
    const { connectTimeoutMs, keepaliveTimeoutMs } = this.#options;
    const times = { connectTimeoutMs, keepaliveMs: this.#keepaliveMs, keepaliveTimeoutMs };
    this.#link = new ClientLink(this.#connect, this.#address, this.clock, times, this);
    this.#links.add(this.#link);
  }

  /** The connection takes no more calls, through no fault of its own: the next call opens another. */
  #leave(reason?: string): void {
    if (this.#link?.isSuspect === false) this.#backoff.reset();
    this.#link = undefined;
    this.#setState("idle", reason);
    if (this.#waiting.size > 0) this.#open();
  }

  #fail(reason: string): void {
    this.#link = undefined;
    this.#lastFailure = reason;
    this.#setState("backoff", reason);
    this.#retry = this.clock.schedule(this.#backoff.next(), () => {
      this.#setState("idle");
      if (this.#waiting.size > 0) this.#open();
    });
    for (const call of this.#waiting) {
      if (this.#calls.get(call)?.waitForReady !== true) call.abort(this.#unavailable());
    }
  }

  #unavailable(): GrpcError {
    return new GrpcError(Status.unavailable, `no connection: ${this.#lastFailure}`);
  }

  #setState(state: ChannelState, reason?: string): void {
    if (this.#state === state || this.#state === "closed") return;
    this.#state = state;
    this.#options.onStateChange(state, reason);
  }
}

function channelClosed(): GrpcError {
  return new GrpcError(Status.cancelled, "the channel is closed");
}
