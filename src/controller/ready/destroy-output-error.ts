import { findTagged } from "../outcome.ts";

/** Shared by all copies of the package, so that the tag is seen through package boundaries. */
const DESTROY_OUTPUT: symbol = Symbol.for("homeostat.destroyOutput");

/**
 * Thrown by the transform of a `queueTransform`: this input is to have no output. An existing one is torn down, and
 * destroyed when nothing holds it any more. No failure: it causes no backoff.
 */
export class DestroyOutputError extends Error {
  override readonly name: string = "DestroyOutputError";
  /** Tells the class apart from look-alikes, also across copies of the package. */
  readonly tag: symbol = DESTROY_OUTPUT;

  constructor(reason = "the input is to have no output", options?: ErrorOptions) {
    super(reason, options);
  }
}

/** The first {@link DestroyOutputError} in the `cause` chain. */
export const findDestroyOutput = (error: unknown): DestroyOutputError | undefined =>
  findTagged(error, DESTROY_OUTPUT) as DestroyOutputError | undefined;
