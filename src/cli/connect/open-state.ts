import { onOneLine } from "../../internal/visible-text.ts";
import type { ConnectOptions, ServerVersion } from "../../grpc/index.ts";
import type { State } from "../../state/index.ts";
import type { Endpoint } from "../host.ts";
import type { Output } from "../output.ts";

/** However long an answer may take, an attempt to connect takes no longer. */
const MAX_CONNECT_MS = 20_000;

/** A State behind a wire; notes about its watches go to `stderr`. */
export async function openState(endpoint: Endpoint, stderr: Output): Promise<State> {
  const { address } = endpoint;
  const { connect } = await import("../../grpc/index.ts");
  const note = (text: string): void => {
    // A note without a reader is no reason to stop.
    void stderr.write(`homeostat: ${onOneLine(text)}\n`).catch(() => undefined);
  };
  return connect(address, {
    ...connectOptions(endpoint),
    skipDecoding: true,
    onWatchInterrupted: ({ error }) => note(`the watch is interrupted: ${error.message}; trying again`),
    onWatchResumed: () => note("the watch goes on"),
  });
}

function connectOptions({ node, timeoutMs, tls, token }: Endpoint): ConnectOptions {
  return {
    timeoutMs: timeoutMs ?? Infinity,
    tls,
    token,
    ...(timeoutMs !== undefined && { connectTimeoutMs: Math.min(timeoutMs, MAX_CONNECT_MS) }),
    ...(node !== undefined && { metadata: { node } }),
  };
}

/** What the server at an endpoint is; undefined when it does not say. */
export async function askVersion(endpoint: Endpoint, signal: AbortSignal): Promise<ServerVersion | undefined> {
  const { askServerVersion } = await import("../../grpc/index.ts");
  return askServerVersion(endpoint.address, { ...connectOptions(endpoint), signal });
}
