import type { AnyResourceType } from "../../resource/index.ts";
import type { Query } from "../../state/index.ts";
import type { ClassicInput, FinalizableIn, ResourceIn } from "../controller.ts";
import type { ControllerState } from "../controller-state.ts";
import type { Hint, HowToFinalize, HowToRead, HowToWrite } from "../hints.ts";
import type { Output, OutputKind } from "../output.ts";
import type {
  FinalizeContext,
  ReadyContext,
  ResourceOf,
  TransformContext,
  TransformResult,
} from "./transform-context.ts";

/** The state in the functions of a {@link transform}. */
export type TransformState<
  In extends AnyResourceType,
  Out extends AnyResourceType,
  I extends readonly ClassicInput[],
  O extends readonly Output[],
> = ControllerState<
  In | Out | ResourceIn<I> | ResourceIn<O> | Hint<HowToRead>,
  ResourceIn<O> | Hint<HowToWrite>,
  FinalizableIn<I> | Hint<HowToFinalize>
>;

/** What a {@link transform} is made of. */
export interface TransformDefinition<
  In extends AnyResourceType = AnyResourceType,
  Out extends AnyResourceType = AnyResourceType,
  I extends readonly ClassicInput[] = readonly ClassicInput[],
  O extends readonly Output[] = readonly Output[],
> {
  /** Unique in one runtime; the owner of the outputs, and the finalizer on the inputs. */
  readonly name: string;
  readonly input: In;
  readonly output: Out;
  /**
   * The id of an input's output, from what never changes: two inputs must not have the same. Undefined: the input has no
   * output, and is left alone. Default: the input's own id.
   */
  readonly map?: ((input: ResourceOf<In>) => string | undefined) | undefined;
  /**
   * Makes the output of an input: returns its spec, or changes `draft`. It runs in each cycle for each input, more than
   * once when somebody else writes the output meanwhile, and nothing is written when nothing differs. A {@link SkipError}
   * leaves the output as it is; whatever else it throws does so too, and the controller starts again with backoff.
   */
  transform(context: TransformContext<In, Out, TransformState<In, Out, I, O>>): TransformResult<Out>;
  /**
   * Undoes what `transform` did outside the state, while the input is torn down. With it each input is held by a
   * finalizer until this has succeeded and the output is gone. It may run more than once for an input, and holds up the
   * other inputs meanwhile. A {@link SkipError}: not yet, ask again when something changes.
   */
  finalize?(context: FinalizeContext<In, TransformState<In, Out, I, O>>): Promise<void> | void;
  /** Before each cycle over all inputs. What it throws ends the cycle. */
  beforeCycle?(context: ReadyContext<TransformState<In, Out, I, O>>): Promise<void> | void;
  /** After each cycle over all inputs. */
  afterCycle?(context: ReadyContext<TransformState<In, Out, I, O>>): Promise<void> | void;
  /** Each time that the loop ends: when the runtime stops (nothing can be written any more), and after each failure. */
  onExit?(context: ReadyContext<TransformState<In, Out, I, O>>): Promise<void> | void;
  /** Which inputs; the others are as if they were not there. Default: all of the kind. */
  readonly query?: Pick<Query, "labels" | "ids"> | undefined;
  /** Inputs that are torn down keep their outputs until they are gone. Not together with `finalize`. Default: false. */
  readonly ignoreTeardown?: boolean | undefined;
  /** What else it reads and wakes for. Default: nothing. */
  readonly inputs?: I | undefined;
  /** What else it writes. Default: nothing. */
  readonly outputs?: O | undefined;
  /** `shared` when other controllers write the output's type as well. Default: `exclusive`. */
  readonly outputKind?: OutputKind | undefined;
  /**
   * Something outside the state that wakes it: each value is one more cycle, and the next is asked for when that begins.
   * Called whenever the loop starts; `signal` aborts when it ends. `(signal) => on(emitter, "change", { signal })`.
   */
  readonly wakeups?: ((signal: AbortSignal) => AsyncIterable<unknown>) | undefined;
}

/** True when each input has a finalizer of the controller. */
export const holdsInputs = (definition: Pick<TransformDefinition, "finalize">): boolean =>
  typeof definition.finalize === "function";
