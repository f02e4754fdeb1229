import type { ServerStream } from "../../http2/http2.ts";
import type { CallHost } from "../call-host.ts";
import { RequestMessage } from "./request-message.ts";
import { RequestMessages } from "./request-messages.ts";
import type { ServerMethod } from "../server-method.ts";

/**
 * Receives the request of a call: one message, or any number where it goes on while the call is handled.
 *
 * @throws {GrpcError} UNIMPLEMENTED for a `grpc-encoding` that is not supported.
 */
export function openRequest(
  { path }: { readonly path: string },
  method: ServerMethod,
  stream: ServerStream,
  host: CallHost,
): RequestMessage | RequestMessages {
  const encoding = stream.headers["grpc-encoding"]?.toString();
  if (method.kind === "duplex") return new RequestMessages(stream, encoding, host);
  return new RequestMessage(path, encoding, host);
}
