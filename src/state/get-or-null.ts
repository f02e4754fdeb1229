import { hasCode, type Pointer, type Resource } from "../resource/index.ts";
import type { CoreState } from "./core-state.ts";
import type { GetOptions } from "./options.ts";

/**
 * The resource, or undefined when it does not exist. A store that can say so without an error spares its cost, most of
 * which is the stack trace: several times that of a whole read from memory.
 */
export function getOrNull(
  core: Pick<CoreState, "get" | "getOrNull">,
  pointer: Pointer,
  options?: GetOptions,
): Promise<Resource | undefined> {
  if (core.getOrNull !== undefined) return core.getOrNull(pointer, options);
  return core.get(pointer, options).catch((error: unknown) => {
    if (hasCode(error, "not_found")) return undefined;
    throw error;
  });
}
