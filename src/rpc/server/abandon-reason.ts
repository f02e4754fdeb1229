import { GrpcError } from "../grpc-error.ts";
import { ResetCode, type StreamEnd } from "../http2/http2.ts";
import { describeHttp2Code } from "../http2/http2-codes.ts";
import { Status } from "../status.ts";

/** Why no client waits for a call whose stream has ended. */
export function abandonReason(end: StreamEnd): GrpcError {
  if (end.kind === "lost") return new GrpcError(Status.unavailable, end.reason);
  if (end.kind === "finished") return new GrpcError(Status.cancelled, "the call is over");
  const isPlain = end.code === ResetCode.cancel || end.code === ResetCode.noError;
  const how = isPlain ? "cancelled the call" : `reset the call: ${describeHttp2Code(end.code)}`;
  return new GrpcError(Status.cancelled, `the client ${how}`);
}
