import { messageOf } from "../../internal/foreign-value.ts";
import { describeValue } from "../describe-value.ts";
import { StateError } from "../state-error.ts";

/** A compiled pattern that ids are searched with. */
export interface IdQuery {
  readonly pattern: string;
  /** True when the pattern is found anywhere in `id`; anchor it for less. */
  matches(id: string): boolean;
}

/** Longer patterns are refused. Unit: UTF-16 units. */
const MAX_PATTERN_LENGTH = 1000;

/**
 * Compiles a pattern in RE2's dialect: no look-around, no back-references, and matching takes time linear in the id,
 * so a foreign pattern cannot stall the process. The library behind it is loaded on first use.
 *
 * @throws {StateError} `invalid` when the pattern does not compile.
 */
export async function compileIdQuery(pattern: string): Promise<IdQuery> {
  if (typeof pattern !== "string" || pattern.length > MAX_PATTERN_LENGTH) {
    throw new StateError("invalid", `an id pattern must be a string of at most ${MAX_PATTERN_LENGTH} characters`);
  }
  const { RE2JS } = await import("re2js");
  try {
    const compiled = RE2JS.compile(pattern);
    // Not `test`: its automaton may keep tens of megabytes for a malicious pattern, and ids are short.
    return Object.freeze({ pattern, matches: (id: string) => compiled.matcher(id).find() });
  } catch (cause) {
    const reason = messageOf(cause);
    throw new StateError(
      "invalid",
      `id pattern ${describeValue(pattern)} does not compile: ${describeReason(reason)}`,
      {
        cause,
      },
    );
  }
}

/** The library repeats the pattern, whatever its length. */
function describeReason(reason: string): string {
  return reason.length > 200 ? `${reason.slice(0, 200)}…` : reason;
}
