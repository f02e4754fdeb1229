import type { Metadata, Pointer } from "../../resource/index.ts";
import type { ControllerExplanation } from "../adapter.ts";

/** Why a resource is, or is not, as it should be: what stands in the way, and what each controller concerned does. */
export interface Explanation {
  readonly pointer: Pointer;
  /** Undefined when the resource does not exist. */
  readonly metadata: Metadata | undefined;
  /** Controllers that may write the type. */
  readonly writers: readonly string[];
  /** Controllers that depend on the resource, in order of registration, then its other writers. */
  readonly controllers: readonly ControllerExplanation[];
  /** What is in the way, as sentences. Empty when nothing is, as far as is known. */
  readonly reasons: readonly string[];
  /** From the resource to what holds it up in the end: each step is held up by the next. */
  readonly steps: readonly ExplanationStep[];
  /** What a person may do about it, the best first; safe unless it says otherwise. */
  readonly actions: readonly string[];
}

/** One link of the chain behind {@link Explanation.steps}. */
export interface ExplanationStep {
  /** A sentence. */
  readonly what: string;
  /** The resource that it is about. */
  readonly pointer: Pointer;
  /** The controller that it is about. */
  readonly controller?: string | undefined;
  /** The finalizer that holds the resource. */
  readonly finalizer?: string | undefined;
  /** Since when, in milliseconds since the epoch, where that is known. */
  readonly sinceMs?: number | undefined;
  /** Milliseconds until the controller tries again, where that is known. */
  readonly dueInMs?: number | undefined;
}
