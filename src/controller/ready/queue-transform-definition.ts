import type { AnyResourceType } from "../../resource/index.ts";
import type { FinalizableIn, ResourceIn } from "../controller.ts";
import type { ControllerState } from "../controller-state.ts";
import type { Hint, HowToFinalize, HowToRead, HowToWrite } from "../hints.ts";
import type { MappedInput } from "../input.ts";
import type { Output, OutputKind } from "../output.ts";
import type { MapInputContext, QueueController } from "../queue-controller.ts";
import type { FinalizeContext, ResourceOf, TransformContext, TransformResult } from "./transform-context.ts";

/** The state in the functions of a {@link queueTransform}. */
export type QueueTransformState<
  In extends AnyResourceType,
  Out extends AnyResourceType,
  I extends readonly MappedInput[],
  O extends readonly Output[],
> = ControllerState<
  In | Out | ResourceIn<I> | ResourceIn<O> | Hint<HowToRead>,
  ResourceIn<O> | Hint<HowToWrite>,
  FinalizableIn<I> | Hint<HowToFinalize>
>;

/** What a {@link queueTransform} is made of. */
export interface QueueTransformDefinition<
  In extends AnyResourceType = AnyResourceType,
  Out extends AnyResourceType = AnyResourceType,
  I extends readonly MappedInput[] = readonly MappedInput[],
  O extends readonly Output[] = readonly Output[],
> {
  /** Unique in one runtime; the owner of the outputs, and the finalizer on the inputs. */
  readonly name: string;
  readonly input: In;
  readonly output: Out;
  /**
   * The id of an input's output, from what never changes: two inputs must not have the same. Undefined: the input has no
   * output, and is left alone, with the finalizer that it may have. Default: the input's own id.
   */
  readonly map?: ((input: ResourceOf<In>) => string | undefined) | undefined;
  /** The way back from an output to the id of its input. Needed when there is a `map`. */
  readonly unmap?: ((output: ResourceOf<Out>) => string) | undefined;
  /**
   * Makes the output of an input: returns its spec, or changes `draft`. It runs for each change of the input and of the
   * extra inputs, more than once when somebody else writes the output meanwhile, and nothing is written when nothing
   * differs. What it may throw:
   *
   * - {@link RequeueError} without a cause: what the draft holds by then is written, and the input is looked at again after
   *   that time. With a cause nothing is written.
   * - {@link SkipError}: nothing is written, and nothing happens until something changes.
   * - {@link DestroyOutputError}: the output is removed.
   * - anything else: nothing is written, and the input is tried again with backoff.
   */
  transform(context: TransformContext<In, Out, QueueTransformState<In, Out, I, O>>): TransformResult<Out>;
  /**
   * Undoes what `transform` did outside the state, while the input is torn down and before its output is removed. It may run
   * more than once for an input. What it throws keeps the input: {@link SkipError} until something changes,
   * {@link RequeueError} for its time, anything else with backoff. Default: nothing.
   */
  finalize?(context: FinalizeContext<In, QueueTransformState<In, Out, I, O>>): Promise<void> | void;
  /**
   * An input that is torn down keeps its output while it has a finalizer other than these and this controller's own: so
   * this controller lets go after all others. Empty: it lets go last of all. Default: it lets go at once.
   */
  readonly ignoreTeardownUntil?: readonly string[] | undefined;
  /** An input that is torn down keeps its output while it has any of these finalizers. Default: none. */
  readonly ignoreTeardownWhile?: readonly string[] | undefined;
  /** What else it reads, and which inputs its changes concern: `mapped(Config, sameId(Service))`. Default: nothing. */
  readonly inputs?: I | undefined;
  /** Maps changes of those extra inputs that have no mapper of their own. */
  mapInput?(context: MapInputContext<In, I, O>): ReturnType<NonNullable<QueueController<In, I, O>["mapInput"]>>;
  /** What else it writes. Default: nothing. */
  readonly outputs?: O | undefined;
  /** `shared` when other controllers write the output's type as well. Default: `exclusive`. */
  readonly outputKind?: OutputKind | undefined;
  /** Inputs worked on at once. Default: 1. */
  readonly concurrency?: number | undefined;
}
