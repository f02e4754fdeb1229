import { messageOf } from "../../internal/foreign-value.ts";
import { formatPointer, type Pointer } from "../../resource/index.ts";
import { findSkip } from "../outcome.ts";

/** Failures that a message names; the error holds all of them. */
const MAX_NAMED = 10;

/** What went wrong in one cycle over many resources: one that fails does not hold up the others. */
export class Failures {
  readonly #errors: Error[] = [];

  /** Notes a failure; a skip is none. */
  add(resource: Pointer, error: unknown): void {
    if (findSkip(error) !== undefined) return;
    this.#errors.push(new Error(`${formatPointer(resource)}: ${messageOf(error)}`, { cause: error }));
  }

  /** @throws {Error} the one failure; {@link AggregateError} all of them; nothing when there is none. */
  throwIfAny(): void {
    const [first] = this.#errors;
    if (first === undefined) return;
    if (this.#errors.length === 1) throw first;
    const named = this.#errors.slice(0, MAX_NAMED).map((error) => error.message);
    if (named.length < this.#errors.length) named.push("…");
    throw new AggregateError(this.#errors, `${this.#errors.length} resources failed: ${named.join("; ")}`);
  }
}
