/**
 * What was thrown, as an error: itself if it is one, else a new one with the thrown value as its cause.
 *
 * @param thrower - Who threw it, for the message.
 */
export function toError(thrown: unknown, thrower: string): Error {
  return thrown instanceof Error ? thrown : new Error(`${thrower} threw ${describe(thrown)}`, { cause: thrown });
}

/** Text for a value of any shape: one without a prototype, or with a `toString` that throws, included. */
function describe(value: unknown): string {
  try {
    return typeof value === "string" ? JSON.stringify(value) : String(value);
  } catch {
    return `a value of type ${typeof value}`;
  }
}
