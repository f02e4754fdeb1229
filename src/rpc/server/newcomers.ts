import type { Peer } from "../peer.ts";

/** Connections on which no call was accepted yet, counted for each host: one host can have only a share of them. */
export class Newcomers {
  readonly #limit: number;
  readonly #counts = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False when the host of the peer has as many as it may: then nothing is counted. */
  add(peer: Peer): boolean {
    const host = hostOf(peer);
    const count = this.#counts.get(host) ?? 0;
    if (count >= this.#limit) return false;
    this.#counts.set(host, count + 1);
    return true;
  }

  /** To be called once for each that was added: when a call was accepted, or when it is closed. */
  delete(peer: Peer): void {
    const host = hostOf(peer);
    const left = (this.#counts.get(host) ?? 1) - 1;
    if (left === 0) this.#counts.delete(host);
    else this.#counts.set(host, left);
  }
}

/** The address without its port; all of a unix socket are one. */
const hostOf = ({ address }: Peer): string => address?.replace(/:\d+$/, "") ?? "unix";
