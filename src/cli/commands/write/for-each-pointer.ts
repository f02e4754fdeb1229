import type { Pointer } from "../../../resource/index.ts";
import type { WriteContext } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";
import { exitCodeOf, reportFailure } from "../../failure.ts";

/**
 * Does the same to each resource, one after the other. What fails is reported, and the others get their turn; an endpoint
 * that cannot be reached ends the work.
 *
 * @returns the code of the first failure.
 */
export async function forEachPointer(
  { stderr, signal }: Pick<WriteContext, "stderr" | "signal">,
  pointers: readonly Pointer[],
  work: (pointer: Pointer) => Promise<void>,
): Promise<ExitCode> {
  let exitCode: ExitCode = ExitCode.ok;
  for (const pointer of pointers) {
    try {
      await work(pointer);
    } catch (error) {
      const code = exitCodeOf(error);
      if (signal.aborted || code === ExitCode.unavailable) throw error;
      exitCode ||= code;
      await reportFailure(stderr, error);
    }
  }
  if (pointers.length === 0) await stderr.write("homeostat: no resource is selected\n");
  return exitCode;
}
