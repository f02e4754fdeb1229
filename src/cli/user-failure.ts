import { relative } from "node:path";
import { toError } from "../internal/to-error.ts";
import { CliError } from "./cli-error.ts";
import { exitCodeOf } from "./failure.ts";
import { framesOf, OWN_CODE, stackOf } from "./own-code.ts";

/**
 * A failure in code that the user wrote: what was thrown, and where in their files. The stack, most of which would be
 * this program's and Node's, is left out.
 *
 * @param doing - What could not be done: `the configuration x cannot be loaded`. Empty for nothing to say of it.
 */
export function userFailure(doing: string, thrown: unknown, cwd: string): CliError {
  if (thrown instanceof CliError) return thrown;
  const error = toError(thrown, "the configuration");
  const parts = [doing, userPlace(stackOf(error), cwd) ?? "", error.message || "it failed without a message"];
  return new CliError(exitCodeOf(error), parts.filter((part) => part !== "").join(": "), { cause: error });
}

/** `file:line`, the first that is neither ours, nor a package's, nor Node's; undefined when the stack names none. */
function userPlace(stack: string, cwd: string): string | undefined {
  const frame = framesOf(stack).find(({ path }) => !path.startsWith(OWN_CODE) && !path.includes("/node_modules/"));
  if (frame === undefined) return undefined;
  const short = relative(cwd, frame.path);
  return `${short.startsWith("..") ? frame.path : short}:${frame.line}`;
}
