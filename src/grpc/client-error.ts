import { StateError, type Pointer, type StateErrorCode } from "../resource/index.ts";
import { decodeErrorDetails } from "./error-details.ts";
import { isWrite, Rpc } from "./rpc.ts";
import { GrpcError, Status } from "../rpc/index.ts";

/**
 * What a failed call means for a State: its category from the details, or, from servers that send none, by status and
 * method. An error without category is returned as it is, with its status.
 *
 * @param pointer - The resource that the call was about, for calls about one.
 */
export function fromGrpcError(error: unknown, rpc: Rpc, pointer: Pointer | undefined): unknown {
  if (!(error instanceof GrpcError)) return error;
  const details = error.details.length === 0 ? undefined : decodeErrorDetails(error.details);
  const code = details?.code ?? codeOf(error, rpc);
  if (code === undefined) return error;
  return new StateError(code, error.message, { cause: error, pointer: pointer ?? details?.pointer });
}

function codeOf({ code, details }: GrpcError, rpc: Rpc): StateErrorCode | undefined {
  // Details that are not a State's come from something before it, which means what it says by these two.
  if (details.length > 0 && (code === Status.permissionDenied || code === Status.invalidArgument)) return undefined;
  if (code === Status.notFound) return rpc === Rpc.watch ? undefined : "not_found";
  if (code === Status.permissionDenied) return isWrite(rpc) ? "owner_conflict" : undefined;
  if (code === Status.invalidArgument) return rpc === Rpc.update ? "phase_conflict" : undefined;
  if (code === Status.alreadyExists) return rpc === Rpc.create ? "already_exists" : undefined;
  if (code === Status.failedPrecondition) return PRECONDITIONS[rpc];
  return code === Status.unavailable ? "unavailable" : undefined;
}

/** What was not as it had to be. */
const PRECONDITIONS: Readonly<Partial<Record<Rpc, StateErrorCode>>> = {
  Update: "version_conflict",
  Destroy: "pending_finalizers",
  Teardown: "version_conflict",
  TeardownAndDestroy: "pending_finalizers",
  Watch: "invalid_bookmark",
};
