import type { Clock, Timer } from "../../clock/index.ts";
import type { Address } from "../address.ts";
import type { ClientCall } from "./client-call.ts";
import type { ClientConnection, ClientConnectionEvents, ConnectHttp2 } from "../http2/http2.ts";
import type { HeaderFields } from "../metadata.ts";

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
}

/**
 * One connection of a channel, from the attempt to its end. While it has calls, and nothing has come from the server for
 * a time, it pings; a server that does not answer is gone, whatever the system says.
 */
export class ClientLink implements ClientConnectionEvents {
  readonly #clock: Clock;
  readonly #times: LinkTimes;
  readonly #owner: LinkOwner;
  readonly #connection: ClientConnection;
  readonly #closed: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #calls = new Set<ClientCall>();
  #isReady = false;
  #isExhausted = false;
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

  /** Sends a call's request; false when the connection takes none any more. */
  send(call: ClientCall, headers: HeaderFields): boolean {
    const stream = this.#connection.request(headers, call.request, call);
    if (stream === undefined) return false;
    this.#sent = true;
    this.#calls.add(call);
    call.attach(stream, this.#touch);
    return true;
  }

  /** A call is over. */
  forget(call: ClientCall): void {
    this.#calls.delete(call);
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

  readonly #touch = (): void => {
    this.#heard = true;
    this.#answered = true;
  };

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
