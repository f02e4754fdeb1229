import { GrpcError, Status, type Peer } from "../../rpc/index.ts";

/** Counts the watches of each connection, which has one peer object, and bounds them. */
export class WatchSlots {
  readonly #limit: number;
  readonly #taken = new Map<Peer, number>();
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Watches on all connections. */
  get count(): number {
    return this.#count;
  }

  /** Watches on the connection of `peer`. */
  countOf(peer: Peer): number {
    return this.#taken.get(peer) ?? 0;
  }

  /** @throws {GrpcError} RESOURCE_EXHAUSTED when the connection has as many watches as it may. */
  take(peer: Peer): void {
    const taken = this.countOf(peer);
    if (taken >= this.#limit) {
      throw new GrpcError(Status.resourceExhausted, `this connection has ${taken} watches, and may not have more`);
    }
    this.#taken.set(peer, taken + 1);
    this.#count++;
  }

  /** Gives back what {@link take} took, once. */
  release(peer: Peer): void {
    const left = (this.#taken.get(peer) ?? 1) - 1;
    if (left === 0) this.#taken.delete(peer);
    else this.#taken.set(peer, left);
    this.#count--;
  }
}
