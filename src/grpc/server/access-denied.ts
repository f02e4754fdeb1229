import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { ErrorInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../gen/google/rpc/status_pb.ts";
import { GrpcError, Status } from "../../rpc/index.ts";

/** The error of an access rule that denies: PERMISSION_DENIED. */
export function accessDenied(message: string): GrpcError {
  return new GrpcError(Status.permissionDenied, message);
}

/** Statuses that clients, on a write, take for a conflict of owners or phases unless details say otherwise. */
const AMBIGUOUS: ReadonlyMap<Status, string> = new Map([
  [Status.permissionDenied, "ACCESS_DENIED"],
  [Status.invalidArgument, "INVALID_REQUEST"],
]);

/** The error, with details that keep it from being mistaken for a State's; itself where it cannot be or has some. */
export function withReason(error: GrpcError): GrpcError {
  const reason = AMBIGUOUS.get(error.code);
  if (reason === undefined || error.details.length > 0) return error;
  const { code, message, cause, metadata } = error;
  const info = create(ErrorInfoSchema, { reason, domain: "homeostat" });
  const status = create(StatusSchema, { code, message, details: [anyPack(ErrorInfoSchema, info)] });
  return new GrpcError(code, message, { cause, metadata, details: toBinary(StatusSchema, status) });
}
