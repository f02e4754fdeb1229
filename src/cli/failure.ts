import { onOneLine, stackFrames } from "../internal/visible-text.ts";
import { toError } from "../internal/to-error.ts";
import { hasCode, StateError } from "../resource/index.ts";
import { CliError } from "./cli-error.ts";
import { ExitCode } from "./exit-code.ts";
import type { Output } from "./output.ts";
import { isInOwnCode } from "./own-code.ts";

/** The code for a failure of any kind. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  if (hasCode(error, "not_found")) return ExitCode.notFound;
  if (hasCode(error, "already_exists", "version_conflict", "owner_conflict", "phase_conflict", "pending_finalizers"))
    return ExitCode.conflict;
  if (hasCode(error, "unavailable") || isWithoutAnswer(error)) return ExitCode.unavailable;
  return ExitCode.failed;
}

/** Statuses `DEADLINE_EXCEEDED` and `UNAVAILABLE` of gRPC. */
const NO_ANSWER: ReadonlySet<number> = new Set([4, 14]);

/** The time was up, here or on the other side, or there was no connection. */
function isWithoutAnswer(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "TimeoutError" || (isCallError(error) && NO_ANSWER.has(error.code));
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

/** The message of an error of any shape, on one line, without anything that a terminal could take for a command. */
export function describeFailure(error: unknown): string {
  const thrown = typeof error === "string" ? error : toError(error, "something").message;
  const message = thrown.replaceAll(/@undefined(?=\))/g, "");
  return onOneLine(`${message || "failed without a message"}${hintFor(error)}`);
}

/** Errors that say all there is to say by their message. Those of rooms that are loaded on demand are known by name. */
const EXPECTED: ReadonlySet<string> = new Set(["ListenError", "GrpcError", "YamlError", "TimeoutError", "AbortError"]);

const isExpected = (error: Error): boolean =>
  error instanceof CliError || error instanceof StateError || EXPECTED.has(error.name) || hasSystemCode(error);

/** Writes an error to standard error; one that is a bug of this program with its stack, for the report that it deserves. */
export async function reportFailure(stderr: Output, error: unknown): Promise<void> {
  const isBug = error instanceof Error && !isExpected(error) && isInOwnCode(error);
  const stack = isBug ? stackFrames(error) : "";
  const report = stack === "" ? "" : ` (a bug in homeostat: please report it with these lines)\n${stack}`;
  await stderr.write(`homeostat: ${describeFailure(error)}${report}\n`);
}

const hasSystemCode = (error: Error): boolean =>
  "code" in error && "syscall" in error && typeof error.code === "string";
