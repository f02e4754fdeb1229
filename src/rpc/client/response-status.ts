import { STATUS_CODES } from "node:http";
import { onOneLine } from "../../internal/visible-text.ts";
import { GrpcError } from "../grpc-error.ts";
import { describeHttp2Code } from "../http2/http2-codes.ts";
import { ResetCode, type StreamEnd } from "../http2/http2.ts";
import { decodeBytes, type HeaderFields, Metadata } from "../metadata.ts";
import { decodeMessage } from "../percent-encoding.ts";
import { parseStatus, Status, statusName, statusOfHttp } from "../status.ts";

/** How a call ended, by its trailers: an error, "ok", or undefined when they hold no status. */
export function statusOf(headers: HeaderFields): GrpcError | "ok" | undefined {
  const text = headers["grpc-status"];
  if (text === undefined) return undefined;
  const code = parseStatus(String(text));
  if (code === Status.ok) return "ok";
  const details = headers["grpc-status-details-bin"];
  // A peer's text goes into errors and logs of ours, of which it must not fake a line.
  const message = onOneLine(decodeMessage(String(headers["grpc-message"] ?? "")).trim());
  return new GrpcError(code, message === "" ? describeStatus(code, String(text)) : message, {
    details: decodeBytes(details === undefined ? undefined : String(details))[0],
    metadata: new Metadata(headers),
  });
}

/** Stands in for the text of a status that came without one. */
function describeStatus(code: Status, text: string): string {
  const number = text === String(code) ? "" : ` (${text.slice(0, 20)}, which gRPC does not define)`;
  return `the server gave the status ${statusName(code)}${number} without a message`;
}

/** What is wrong with the headers of an answer; undefined when they are those of gRPC. */
export function objectionTo(headers: HeaderFields): GrpcError | undefined {
  const httpStatus = Number(headers[":status"]);
  if (httpStatus !== 200) {
    const words = STATUS_CODES[httpStatus];
    const status = words === undefined ? `${httpStatus}` : `${httpStatus} (${words})`;
    return new GrpcError(statusOfHttp(httpStatus), `the server answered with HTTP status ${status}`);
  }
  const contentType = headers["content-type"]?.toString() ?? "no content type";
  if (/^application\/grpc\s*(?:[+;]|$)/i.test(contentType)) return undefined;
  return new GrpcError(
    Status.unknown,
    `the server answered with ${onOneLine(contentType.slice(0, 100))}, which is not gRPC`,
  );
}

/** The error of a call whose stream ended without a status. */
export function errorOfEnd(end: StreamEnd): GrpcError {
  switch (end.kind) {
    case "finished":
      return new GrpcError(Status.internal, "the server ended the call without a status");
    case "lost":
      return new GrpcError(Status.unavailable, end.reason);
    case "reset":
      return new GrpcError(statusOfReset(end.code), `the server reset the call: ${describeHttp2Code(end.code)}`);
  }
}

function statusOfReset(code: number): Status {
  switch (code) {
    case ResetCode.refusedStream:
      return Status.unavailable;
    case ResetCode.cancel:
      return Status.cancelled;
    case ResetCode.enhanceYourCalm:
      return Status.resourceExhausted;
    case ResetCode.inadequateSecurity:
      return Status.permissionDenied;
    default:
      return Status.internal;
  }
}
