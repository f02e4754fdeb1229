import type { Logger } from "../../log/index.ts";
import { isCancellation } from "../../internal/cancellation.ts";
import { pathOf, type Rpc } from "../rpc.ts";
import { toGrpcError } from "../server-error.ts";
import {
  type GrpcError,
  Status,
  type OnShutdown,
  type ServerCall,
  type ServerMethod,
  type ServerStreamCall,
} from "../../rpc/index.ts";
import { withReason } from "./access-denied.ts";

/** A method of the service with its path. */
export type Method = readonly [path: string, method: ServerMethod];

/** A method with one answer. What its handler throws goes out as the status that a State's client expects. */
export function unaryMethod(
  rpc: Rpc,
  logger: Logger,
  handler: (call: ServerCall) => Promise<Uint8Array>,
  onShutdown?: OnShutdown,
): Method {
  const guarded = (call: ServerCall): Promise<Uint8Array> =>
    handler(call).catch((error: unknown) => {
      throw statusOf(error, rpc, call, logger);
    });
  return [pathOf(rpc), { kind: "unary", handler: guarded, onShutdown }];
}

/** A method with any number of answers, likewise. */
export function streamMethod(
  rpc: Rpc,
  logger: Logger,
  handler: (call: ServerStreamCall) => Promise<void>,
  onShutdown: OnShutdown,
): Method {
  const guarded = (call: ServerStreamCall): Promise<void> =>
    handler(call).catch((error: unknown) => {
      throw statusOf(error, rpc, call, logger);
    });
  return [pathOf(rpc), { kind: "serverStream", handler: guarded, onShutdown }];
}

function statusOf(error: unknown, rpc: Rpc, call: ServerCall, logger: Logger): GrpcError {
  const status = withReason(toGrpcError(error, rpc));
  // What has no category and no status is no refusal: it is a fault of the store, of a rule, or of this program.
  if (status.code === Status.unknown && status.details.length === 0 && !isCancellation(error, call.signal)) {
    logger.error("A call to a State failed", { method: call.path, error });
  }
  return status;
}
