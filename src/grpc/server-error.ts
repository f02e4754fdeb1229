import { causeChain, messageOf, readForeign } from "../internal/foreign-value.ts";
import { isCancellation } from "../internal/cancellation.ts";
import { StateError, type StateErrorCode } from "../resource/index.ts";
import { WireError } from "../wire/index.ts";
import { encodeErrorDetails } from "./error-details.ts";
import { isWrite, Rpc } from "./rpc.ts";
import { GrpcError, Status } from "../rpc/index.ts";

/** A status travels as a header, and headers are small. Unit: UTF-16 units. */
const MAX_MESSAGE_LENGTH = 2000;

/**
 * The status that a call ends with when a State refused it: that of an error which has one, else by category and
 * method as other COSI servers do it. The category itself goes along in the details, for clients that read them.
 */
export function toGrpcError(error: unknown, rpc: Rpc): GrpcError {
  for (const cause of causeChain(error)) {
    if (cause instanceof GrpcError) return withoutMetadata(cause);
    if (cause instanceof StateError) return withDetails(cause, statusOf(cause.code, rpc));
    if (cause instanceof WireError) return new GrpcError(Status.internal, cause.message, { cause: error });
    if (readForeign(cause, "name") === "TimeoutError") return plain(Status.deadlineExceeded, error);
  }
  return plain(isCancellation(error) ? Status.cancelled : Status.unknown, error);
}

/** What another server said besides is between it and us. */
function withoutMetadata(error: GrpcError): GrpcError {
  return new GrpcError(error.code, shortened(error.message), { cause: error, details: error.details });
}

function plain(status: Status, cause: unknown): GrpcError {
  return new GrpcError(status, shortened(messageOf(cause)), { cause });
}

function withDetails(error: StateError, status: Status): GrpcError {
  const message = shortened(error.message);
  const details = encodeErrorDetails(status, message, error.code, error.pointer);
  return new GrpcError(status, message, { cause: error, details });
}

function shortened(text: string): string {
  const whole = text.toWellFormed();
  return whole.length <= MAX_MESSAGE_LENGTH ? whole : `${whole.slice(0, MAX_MESSAGE_LENGTH).toWellFormed()}…`;
}

/** The status of each category, where it does not depend on the method, or how it does. */
const STATUSES: Readonly<Record<StateErrorCode, Status | ((rpc: Rpc) => Status)>> = {
  not_found: (rpc) => (rpc === Rpc.watch ? Status.unknown : Status.notFound),
  owner_conflict: (rpc) => (isWrite(rpc) ? Status.permissionDenied : Status.unknown),
  phase_conflict: (rpc) => (rpc === Rpc.update ? Status.invalidArgument : conflictStatus(rpc)),
  already_exists: conflictStatus,
  version_conflict: conflictStatus,
  pending_finalizers: conflictStatus,
  invalid_bookmark: (rpc) => (rpc === Rpc.watch ? Status.failedPrecondition : Status.unknown),
  // Of a Teardown, UNIMPLEMENTED says that the server does not have the method.
  unsupported: (rpc) => (rpc === Rpc.watch || rpc === Rpc.list ? Status.unimplemented : Status.unknown),
  invalid: invalidStatus,
  type_mismatch: invalidStatus,
  unavailable: Status.unavailable,
  watch_overrun: Status.unknown,
};

function statusOf(code: StateErrorCode, rpc: Rpc): Status {
  const status = STATUSES[code];
  return typeof status === "function" ? status(rpc) : status;
}

function conflictStatus(rpc: Rpc): Status {
  if (!isWrite(rpc)) return Status.unknown;
  return rpc === Rpc.create ? Status.alreadyExists : Status.failedPrecondition;
}

/** On an Update, clients take INVALID_ARGUMENT for a conflict of phases. */
function invalidStatus(rpc: Rpc): Status {
  return rpc === Rpc.update ? Status.unknown : Status.invalidArgument;
}
