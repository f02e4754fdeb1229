import { wrapState, type State } from "../../state/index.ts";
import { isLoopback, GrpcChannel, type MetadataInit, parseAddress } from "../../rpc/index.ts";
import { type ConnectOptions, resolveClientOptions } from "./client-options.ts";
import { RemoteState } from "./remote-state.ts";

const MIB = 1024 * 1024;

/**
 * A State that is served somewhere else. It connects when it is first used, and again whenever the connection was lost:
 *
 * - A call whose connection breaks fails with `unavailable`; a write may have been carried out then. Nothing but watches
 *   is tried again.
 * - A watch goes on behind its last event when the connection is back, without loss or repetition, and without a sign. If
 *   the server's history does not reach back that far, it delivers `Resynced` and the present contents, unless it was
 *   opened with `overrun: "error"`. It fails when its initial contents were not complete, when the server refuses it, and
 *   when the server cannot be reached for too long.
 *
 * Disposing it ends its watches, fails its calls and closes the connection.
 *
 * @param endpoint - `unix:PATH`, `tcp:HOST:PORT` or `HOST:PORT`.
 * @throws {TypeError | RangeError} When the endpoint or an option is not what it should be.
 */
export function connect(endpoint: string, options: ConnectOptions = {}): State {
  const resolved = resolveClientOptions(options);
  checkToken(endpoint, options);
  let core: RemoteState | undefined;
  const { tls, authority, connectTimeoutMs, keepaliveMs, keepaliveTimeoutMs, maxMessageBytes, onConnectionChange } =
    options;
  const channel = new GrpcChannel(endpoint, {
    tls,
    authority,
    connectTimeoutMs,
    keepaliveTimeoutMs,
    keepaliveMs: keepaliveMs ?? 30_000,
    maxReceivedMessageBytes: maxMessageBytes ?? 32 * MIB,
    metadata: metadataOf(options),
    clock: resolved.clock,
    random: resolved.random,
    onStateChange: (state, reason) => {
      if (state === "ready") core?.reconnected();
      else core?.disconnected();
      onConnectionChange?.(state, reason);
    },
  });
  core = new RemoteState(channel, resolved);
  return wrapState(core, { clock: resolved.clock });
}

/** What every call to the endpoint brings along. */
export function metadataOf({ token, metadata }: ConnectOptions): MetadataInit | (() => MetadataInit) | undefined {
  if (token === undefined) return metadata;
  return () => {
    const authorization = `Bearer ${typeof token === "function" ? token() : token}`;
    return { ...(typeof metadata === "function" ? metadata() : metadata), authorization };
  };
}

/** A token is as good as a password: it must not go over a network where others can read it. */
export function checkToken(endpoint: string, { token, tls }: ConnectOptions): void {
  if (token === undefined || tls !== undefined) return;
  const address = parseAddress(endpoint);
  if (address.kind === "unix" || address.host === "localhost" || isLoopback(address.host)) return;
  throw new TypeError(
    `a token is only sent over TLS, or within one machine: give the option tls to connect to ${endpoint}`,
  );
}
