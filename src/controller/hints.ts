import type { ResourceType } from "../resource/index.ts";
import type { Output } from "./output.ts";

/**
 * A type that no resource has. It stands beside the declared ones, so that the compiler prints its name, which says what to
 * do, when one is used that was not declared.
 */
export type Hint<Text extends string> = ResourceType<never, Text, never>;

// Texts and not whole hints have names: the compiler prints the name of a type in place of what it is, but texts as they are.
export type HowToWrite = "to write a type, add exclusive(Type) or shared(Type) to the controller's outputs";
export type HowToRead = "to read a type, add it to the controller's inputs or outputs";
export type HowToFinalize = "to put finalizers on a type, make it a strong, primary or mapped input";
export type HowToDeclare = "write exclusive(Type) or shared(Type), not the type itself";

declare const HINT: unique symbol;

/** An output that nothing is, for the same reason. */
export interface OutputHint<Text extends string> extends Output {
  readonly [HINT]: Text;
}
