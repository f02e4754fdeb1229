import { onOneLine } from "../../internal/visible-text.ts";
import type { State } from "../../state/index.ts";
import type { Endpoint } from "../host.ts";
import type { Output } from "../output.ts";

/** However long an answer may take, an attempt to connect takes no longer. */
const LONGEST_CONNECT_MS = 20_000;

/** A State behind a wire; notes about its watches go to `stderr`. */
export async function openState({ address, node, timeoutMs, tls, token }: Endpoint, stderr: Output): Promise<State> {
  const { connect } = await import("../../grpc/index.ts");
  const note = (text: string): void => {
    // A note that nobody reads is no reason to stop.
    void stderr.write(`homeostat: ${onOneLine(text)}\n`).catch(() => undefined);
  };
  return connect(address, {
    skipDecoding: true,
    timeoutMs: timeoutMs ?? Infinity,
    tls,
    token,
    ...(timeoutMs !== undefined && { connectTimeoutMs: Math.min(timeoutMs, LONGEST_CONNECT_MS) }),
    ...(node !== undefined && { metadata: { node } }),
    onWatchInterrupted: ({ error }) => note(`the watch is interrupted: ${error.message}; trying again`),
    onWatchResumed: () => note("the watch goes on"),
  });
}
