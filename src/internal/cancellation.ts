import { foreignList, MAX_ERRORS, readForeign } from "./foreign-value.ts";

/** Status `CANCELLED` of gRPC. The number alone proves nothing: a child process that exited with 1 has it as well. */
const GRPC_CANCELLED = 1;

/**
 * True when `error` says "asked to stop" rather than "failed": an `AbortError`, a cancelled gRPC call, or the reason of
 * `signal` once that has aborted, all of them also as the `cause` of another error. An aggregate counts when each of
 * its parts does. A `TimeoutError` is a failure, unless it is the reason of `signal`.
 */
export function isCancellation(error: unknown, signal?: AbortSignal): boolean {
  return isCancelled(error, signal, { left: MAX_ERRORS });
}

function isCancelled(candidate: unknown, signal: AbortSignal | undefined, budget: { left: number }): boolean {
  if (signal?.aborted === true && candidate === signal.reason) return true;
  if (typeof candidate !== "object" || candidate === null || budget.left-- <= 0) return false;
  const name = readForeign(candidate, "name");
  if (name === "AbortError") return true;
  if (name === "TimeoutError") return false;
  if (isCancelledCall(candidate)) return true;
  const every = (parts: readonly unknown[]): boolean => parts.every((part) => isCancelled(part, signal, budget));
  const errors = foreignList(readForeign(candidate, "errors"));
  if (errors !== undefined) return errors.length > 0 && every(errors);
  if (name === "SuppressedError") return every([readForeign(candidate, "error"), readForeign(candidate, "suppressed")]);
  const cause = readForeign(candidate, "cause");
  return cause !== undefined && isCancelled(cause, signal, budget);
}

function isCancelledCall(candidate: object): boolean {
  return (
    readForeign(candidate, "code") === GRPC_CANCELLED &&
    readForeign(candidate, "details") !== undefined &&
    readForeign(candidate, "metadata") !== undefined
  );
}
