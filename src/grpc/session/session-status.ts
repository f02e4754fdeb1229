import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { StatusSchema } from "../gen/google/rpc/status_pb.ts";
import { GrpcError, parseStatus, Status } from "../../rpc/index.ts";

/** An error as the status of one response of a session, with the details that a call of its own would have as trailers. */
export function encodeSessionStatus({ code, message, details }: GrpcError): Uint8Array {
  return details.length > 0 ? details : toBinary(StatusSchema, create(StatusSchema, { code, message }));
}

/** The error that {@link encodeSessionStatus} made the status of; INTERNAL for bytes that are none. */
export function decodeSessionStatus(bytes: Uint8Array): GrpcError {
  try {
    const { code, message, details } = fromBinary(StatusSchema, bytes);
    const known = parseStatus(String(code));
    return new GrpcError(known === Status.ok ? Status.unknown : known, message, {
      details: details.length > 0 ? bytes.slice() : undefined,
    });
  } catch (cause) {
    return new GrpcError(Status.internal, "the status of a response cannot be read", { cause });
  }
}
