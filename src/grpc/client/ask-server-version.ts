import { GrpcChannel, isGrpcError, Status } from "../../rpc/index.ts";
import { decodeServerVersion, SERVER_VERSION_PATH, type ServerVersion } from "../server-version.ts";
import type { ConnectOptions } from "./client-options.ts";
import { checkToken, metadataOf } from "./connect.ts";

/**
 * Asks a server which version of what it is; undefined when it does not say: the protocol has no word for it, and only
 * servers of this package answer.
 *
 * @throws {GrpcError} when the server cannot be reached, or refuses the caller.
 */
export async function askServerVersion(
  endpoint: string,
  options: ConnectOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<ServerVersion | undefined> {
  checkToken(endpoint, options);
  const { tls, authority, connectTimeoutMs, timeoutMs, clock, signal } = options;
  const channel = new GrpcChannel(endpoint, { tls, authority, connectTimeoutMs, clock, metadata: metadataOf(options) });
  try {
    return decodeServerVersion(
      await channel.unary(SERVER_VERSION_PATH, new Uint8Array(0), {
        signal,
        ...(timeoutMs !== undefined && Number.isFinite(timeoutMs) && { deadlineMs: timeoutMs }),
      }),
    );
  } catch (error) {
    if (isGrpcError(error, Status.unimplemented)) return undefined;
    throw error;
  } finally {
    await channel.close();
  }
}
