import type { Clock } from "../clock/index.ts";
import type { AnyResourceType, Kind } from "../resource/index.ts";
import type { ControllerState } from "./controller-state.ts";
import type { Hint, HowToDeclare, HowToFinalize, HowToRead, HowToWrite, OutputHint } from "./hints.ts";
import type { Input } from "./input.ts";
import type { Logger } from "../log/index.ts";
import type { ReconcileResult } from "./outcome.ts";
import type { Output } from "./output.ts";

/** An input that a classic controller may declare. */
export type ClassicInput = Input<AnyResourceType, "weak" | "strong" | "destroyReady">;

/** The resource types of a list of inputs or outputs. */
export type ResourceIn<L extends readonly { readonly resource: AnyResourceType }[]> = L[number]["resource"];

/** The resource types of those inputs that give a right to finalizers. */
export type FinalizableIn<L extends readonly Input[]> = Extract<
  L[number],
  { readonly kind: "strong" | "primary" | "mapped" }
>["resource"];

/** What both forms of a classic controller get. */
interface ClassicContext<
  I extends readonly ClassicInput[],
  O extends readonly Output[],
  D extends readonly AnyResourceType[],
> {
  readonly state: ControllerState<
    ResourceIn<I> | ResourceIn<O> | D[number] | Hint<HowToRead>,
    ResourceIn<O> | Hint<HowToWrite>,
    FinalizableIn<I> | D[number] | Hint<HowToFinalize>
  >;
  readonly log: Logger;
  /** Aborts when the runtime stops. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Wakes this controller once more. */
  queueReconcile(this: void): void;
  /**
   * Replaces the inputs: all or nothing. New ones are watched when the promise resolves; it wakes no controller, so list a
   * new input in the same cycle.
   *
   * @throws {RegistrationError} `duplicate_input`; `invalid_input` for an input kind of queue controllers, or a type that
   * neither the declared inputs nor `dynamicInputs` name.
   */
  updateInputs(
    this: void,
    inputs: readonly Input<D[number] | ResourceIn<I>, "weak" | "strong" | "destroyReady">[],
  ): Promise<void>;
}

/** What a classic `reconcile` gets: state, log, signal, clock, and the tracking of its outputs. */
export interface ReconcileContext<
  I extends readonly ClassicInput[] = readonly ClassicInput[],
  O extends readonly Output[] = readonly Output[],
  D extends readonly AnyResourceType[] = readonly AnyResourceType[],
> extends ClassicContext<I, O, D> {
  /**
   * From now on every resource that this reconcile creates, updates or modifies counts as wanted. When it returns, unless
   * that is a skip, resources of `kinds` that this controller owns and that were not wanted are destroyed. Those that others
   * hold by a finalizer are torn down; the controller wakes when they are released, and the next clean-up destroys them.
   */
  trackOutputs(this: void, ...kinds: readonly Kind[]): void;
}

/** What a classic `run` gets: as {@link ReconcileContext}, and the wake-ups to loop over. */
export interface RunContext<
  I extends readonly ClassicInput[] = readonly ClassicInput[],
  O extends readonly Output[] = readonly Output[],
  D extends readonly AnyResourceType[] = readonly AnyResourceType[],
> extends ClassicContext<I, O, D> {
  /** Yields once for any number of changes since the last time; ends when the runtime stops. Leaving the loop loses nothing. */
  readonly wakeups: AsyncIterable<void>;
  /** The next failure starts the backoff from its first interval again: call it after a good cycle. */
  resetRestartBackoff(this: void): void;
  /** Starts to note what is created, updated or modified. @throws {Error} when it does already. */
  startTrackingOutputs(this: void): void;
  /** Destroys the resources of `kinds` that this controller owns and did not touch since tracking began; ends tracking. */
  cleanupOutputs(this: void, ...kinds: readonly Kind[]): Promise<void>;
}

/**
 * A classic controller: one loop that sees all its inputs. Give either `reconcile`, called once per wake-up, or `run`,
 * a loop of your own. What either throws restarts it with backoff; `run` returning ends the controller for good.
 *
 * A {@link SkipError} is no failure: the controller goes on with its next wake-up. A {@link RequeueError} wakes it after
 * its time; with a cause it is a failure that takes this time in place of the backoff.
 */
export interface Controller<
  I extends readonly ClassicInput[] = readonly ClassicInput[],
  O extends readonly Output[] = readonly Output[],
  D extends readonly AnyResourceType[] = readonly AnyResourceType[],
> {
  /** Unique in one runtime; also the owner of what the controller writes. */
  readonly name: string;
  /** What it reads from the start. Default: nothing. */
  readonly inputs?: I | undefined;
  /** What it writes. Default: nothing. */
  readonly outputs?: O | undefined;
  /** Types that `updateInputs` may add later. Default: none. */
  readonly dynamicInputs?: D | undefined;
  reconcile?(context: ReconcileContext<I, O, D>): Promise<ReconcileResult> | ReconcileResult;
  run?(context: RunContext<I, O, D>): Promise<void>;
}

/** Types a {@link Controller} from its declarations; does nothing else. */
export function controller<
  const I extends readonly ClassicInput[] = readonly [],
  const O extends readonly (Output | OutputHint<HowToDeclare>)[] = readonly [],
  const D extends readonly AnyResourceType[] = readonly [],
>(definition: Controller<I, O, D>): Controller<I, O, D> {
  return definition;
}
