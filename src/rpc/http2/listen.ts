import { lookup } from "node:dns/promises";
import { type Address, isLoopback } from "../address.ts";
import { ListenError } from "../listen-error.ts";
import { type Http2Listener, type Http2ListenOptions, listenHttp2 } from "./node-http2-server.ts";
import { takeUnixSocket } from "./unix-socket.ts";

/** Who may connect to an address. */
export interface ListenAccess {
  readonly socketMode: number;
  readonly allowInsecurePublic: boolean;
}

/** A server that listens, and where. */
export interface Listening {
  readonly address: Address;
  readonly listener: Http2Listener;
  /** Removes what listening left in the file system. */
  cleanUp(): Promise<void>;
}

/**
 * Listens at `address`.
 *
 * @throws {ListenError} When it is another machine's to reach and there is no TLS; when something is there already.
 * @throws {Error} When the system refuses.
 */
export async function listenAt(
  address: Address,
  options: Http2ListenOptions,
  access: ListenAccess,
): Promise<Listening> {
  if (address.kind === "tcp") {
    // The name is looked up here, so that what was checked is what is bound.
    const { address: ip } = await lookup(address.host);
    if (options.tls === undefined && !access.allowInsecurePublic && !isLoopback(ip)) {
      throw new ListenError(
        "public",
        `refusing to listen on ${address.host}:${address.port} without TLS, as other machines reach it: ` +
          "give `tls`, or `allowInsecurePublic: true` where the network itself is trusted",
      );
    }
    const listener = await listenHttp2({ host: ip, port: address.port }, options);
    return { address: { kind: "tcp", host: ip, port: listener.port }, listener, cleanUp: async () => {} };
  }
  const place = await takeUnixSocket(address.path, access.socketMode);
  let listener: Http2Listener;
  try {
    listener = await listenHttp2({ path: place.bindPath }, options);
  } catch (error) {
    await place.abandon();
    throw error;
  }
  try {
    const published = await place.publish();
    return { address, listener, cleanUp: () => published.remove() };
  } catch (error) {
    listener.destroy();
    await listener.close();
    throw error;
  }
}
