import { toError } from "../../../internal/to-error.ts";
import { hasCode, StateError } from "../../../resource/index.ts";
import { fromGrpcError } from "../../client-error.ts";
import { Rpc } from "../../rpc.ts";
import { GrpcError, isGrpcError, Status } from "../../../rpc/index.ts";
import { describeTarget, type WatchTarget } from "./watch-target.ts";

/** True for the end of a stream, whatever the reason; false for messages that cannot be read. */
export const isStreamEnd = (thrown: unknown): boolean => thrown instanceof GrpcError;

/** True when asking once more would give the same answer. */
export const isFinal = (thrown: unknown): boolean =>
  isGrpcError(thrown, Status.invalidArgument, Status.permissionDenied, Status.unauthenticated, Status.unimplemented);

/** True for what also ends a stream whose next message is larger than is accepted. */
export const isTooLarge = (thrown: unknown): boolean => isGrpcError(thrown, Status.resourceExhausted);

/** True when the history does not reach back to the place of the watch. */
export const isLost = (error: Error): boolean => hasCode(error, "invalid_bookmark", "watch_overrun");

/** Why a watch could not be opened. */
export function explainOpen(thrown: unknown, { kind, id }: WatchTarget): Error {
  const pointer = id === undefined ? undefined : { ...kind, id };
  return toError(fromGrpcError(thrown, Rpc.watch, pointer), "the watch");
}

/** Why the stream of an open watch ended. Without details, only what stops its opening is about a bookmark. */
export function explainBreak(thrown: unknown, target: WatchTarget): Error {
  const isVague = thrown instanceof GrpcError && thrown.details.length === 0;
  return isVague && thrown.code === Status.failedPrecondition ? thrown : explainOpen(thrown, target);
}

/**
 * The error of an event with its category. Servers of ours send that beside the text; others have nothing but the text,
 * so that these words of Go's server are the one place where a text decides.
 */
export function categorized(error: Error): Error {
  if (error instanceof StateError) return error;
  const { message } = error;
  if (/buffer overrun/i.test(message)) return new StateError("watch_overrun", message, { cause: error });
  if (/invalid (?:watch )?bookmark/i.test(message))
    return new StateError("invalid_bookmark", message, { cause: error });
  return error;
}

/** The error of a watch's last event. */
export function watchFailure(error: Error, target: WatchTarget): Error {
  const message = `${describeTarget(target)} failed: ${error.message}`;
  if (!(error instanceof StateError)) return new Error(message, { cause: error });
  return new StateError(error.code, message, { cause: error, pointer: error.pointer });
}
