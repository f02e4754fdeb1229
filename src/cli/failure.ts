import { onOneLine, stackFrames } from "../internal/visible-text.ts";
import { hasCode, StateError } from "../resource/index.ts";
import { CliError } from "./cli-error.ts";
import { ExitCode } from "./exit-code.ts";
import type { Output } from "./output.ts";

/** The code for a failure of any kind. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  if (hasCode(error, "not_found")) return ExitCode.notFound;
  if (hasCode(error, "already_exists", "version_conflict", "owner_conflict", "phase_conflict", "pending_finalizers"))
    return ExitCode.conflict;
  if (hasCode(error, "unavailable") || isTimeout(error)) return ExitCode.unavailable;
  return ExitCode.failed;
}

/** Status `DEADLINE_EXCEEDED` of gRPC. */
const DEADLINE_EXCEEDED = 4;

/** The time was up, here or on the other side. */
function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "TimeoutError" || (isCallError(error) && error.code === DEADLINE_EXCEEDED);
}

/** A refused call that means nothing to a State: access denied, for example. */
const isCallError = (error: Error): error is Error & { readonly code: number } =>
  error.name === "GrpcError" && "code" in error && typeof error.code === "number";

/** What to tell the user besides the error's own message. */
function hintFor(error: unknown): string {
  if (hasCode(error, "owner_conflict")) return "; --owner NAME writes in the name of its owner";
  return "";
}

/** An error with the node that it came from, if several were asked. */
export function forNode({ node }: { readonly node: string | undefined }, error: unknown): unknown {
  if (node === undefined || !(error instanceof Error)) return error;
  return new CliError(exitCodeOf(error), `node ${node}: ${error.message}`, { cause: error });
}

/** The message of an error, on one line, without anything that a terminal could take for a command. */
export function describeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return onOneLine(`${message || "failed without a message"}${hintFor(error)}`);
}

/** Writes an error to standard error; one that nobody expected with its stack, for the report that it deserves. */
export async function reportFailure(stderr: Output, error: unknown): Promise<void> {
  const isExpected =
    error instanceof CliError ||
    error instanceof StateError ||
    hasSystemCode(error) ||
    isListenError(error) ||
    isTimeout(error) ||
    (error instanceof Error && isCallError(error));
  const stack = !isExpected && error instanceof Error ? stackFrames(error) : "";
  await stderr.write(`homeostat: ${describeFailure(error)}\n${stack === "" ? "" : `${stack}\n`}`);
}

/** Known by its name: what speaks gRPC is loaded only where it is needed. */
const isListenError = (error: unknown): boolean => error instanceof Error && error.name === "ListenError";

const hasSystemCode = (error: unknown): boolean =>
  error instanceof Error && "code" in error && "syscall" in error && typeof error.code === "string";
