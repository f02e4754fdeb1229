import { describeValue } from "../describe-value.ts";
import { StateError } from "../state-error.ts";

/** A resource is `running` until somebody asks for its teardown; then its finalizers decide when it may go. */
export const Phase = { running: "running", tearingDown: "tearingDown" } as const;
export type Phase = (typeof Phase)[keyof typeof Phase];

/** @throws {StateError} `invalid` for any text but the two phases. */
export function parsePhase(text: string): Phase {
  if (text === Phase.running || text === Phase.tearingDown) return text;
  throw new StateError("invalid", `phase must be "running" or "tearingDown", got ${describeValue(text)}`);
}
