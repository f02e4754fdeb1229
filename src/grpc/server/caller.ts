import type { Metadata, Peer } from "../../rpc/index.ts";

/** Who makes a call. */
export interface Caller {
  /** The other end of the connection, with its certificate if it showed one that was verified. */
  readonly peer: Peer;
  /** Name of the bearer token that came with the call; undefined on a server without tokens. */
  readonly token: string | undefined;
  /** What the client sent along, unverified: believe it only from peers that are trusted to say so. */
  readonly metadata: Metadata;
}
