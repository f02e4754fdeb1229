/** Number of causes and parts that are looked at: more of them are a loop, or an attack. */
const MOST_ERRORS = 1000;

/** Status `CANCELLED` of gRPC. The number alone proves nothing: a child process that exited with 1 has it as well. */
const GRPC_CANCELLED = 1;

/** What the errors of this world carry, each of them some of it. */
type Parts = {
  readonly [Part in "name" | "code" | "details" | "metadata" | "cause" | "errors" | "error" | "suppressed"]?: unknown;
};

/**
 * True when `error` says "asked to stop" rather than "failed": an `AbortError`, a cancelled gRPC call, or the reason of
 * `signal` once that has aborted, all of them also as the `cause` of another error. An aggregate counts when each of
 * its parts does. A `TimeoutError` is a failure, unless it is the reason of `signal`.
 */
export function isCancellation(error: unknown, signal?: AbortSignal): boolean {
  return isCancelled(error, signal, { left: MOST_ERRORS });
}

function isCancelled(candidate: unknown, signal: AbortSignal | undefined, budget: { left: number }): boolean {
  if (signal?.aborted === true && candidate === signal.reason) return true;
  if (typeof candidate !== "object" || candidate === null || budget.left-- <= 0) return false;
  const { name, code, details, metadata, cause, errors, error, suppressed }: Parts = candidate;
  if (name === "AbortError") return true;
  if (name === "TimeoutError") return false;
  if (code === GRPC_CANCELLED && details !== undefined && metadata !== undefined) return true;
  const every = (parts: readonly unknown[]): boolean => parts.every((part) => isCancelled(part, signal, budget));
  if (Array.isArray(errors)) return errors.length > 0 && every(errors);
  if (name === "SuppressedError") return every([error, suppressed]);
  return cause !== undefined && isCancelled(cause, signal, budget);
}
