import type { Clock } from "../clock/index.ts";
import type { AnyResourceType, Ref, SpecOf } from "../resource/index.ts";
import type { Hint, HowToDeclare, HowToFinalize, HowToRead, HowToWrite, OutputHint } from "./hints.ts";
import type { FinalizableIn, ResourceIn } from "./controller.ts";
import type { ControllerState } from "./controller-state.ts";
import type { MappedInput, ReducedMetadata } from "./input.ts";
import type { Logger } from "../log/index.ts";
import type { ReconcileResult } from "./outcome.ts";
import type { Output } from "./output.ts";

/** The state as a queue controller sees it: primaries, inputs and outputs readable, outputs writable. */
export type QueueState<
  P extends AnyResourceType,
  I extends readonly MappedInput[],
  O extends readonly Output[],
> = ControllerState<
  P | ResourceIn<I> | ResourceIn<O> | Hint<HowToRead>,
  ResourceIn<O> | Hint<HowToWrite>,
  P | FinalizableIn<I> | Hint<HowToFinalize>
>;

/** What every handler and hook of a queue controller gets. */
export interface QueueContext<
  P extends AnyResourceType = AnyResourceType,
  I extends readonly MappedInput[] = readonly MappedInput[],
  O extends readonly Output[] = readonly Output[],
> {
  readonly state: QueueState<P, I, O>;
  readonly log: Logger;
  /** Aborts when the runtime stops. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** What a queue `reconcile` gets: the address to look at, and state, log, signal, clock. */
export interface QueueReconcileContext<
  P extends AnyResourceType = AnyResourceType,
  I extends readonly MappedInput[] = readonly MappedInput[],
  O extends readonly Output[] = readonly Output[],
> extends QueueContext<P, I, O> {
  /** The resource to look at. It may be gone. */
  readonly ref: P extends AnyResourceType ? Ref<SpecOf<P>, P["type"]> : never;
}

/** What `mapInput` gets besides the change. */
export interface MapInputContext<
  P extends AnyResourceType = AnyResourceType,
  I extends readonly MappedInput[] = readonly MappedInput[],
  O extends readonly Output[] = readonly Output[],
> extends QueueContext<P, I, O> {
  readonly input: ReducedMetadata;
}

/**
 * A queue controller: one key at a time, many keys at once. A key that changes while it is worked on runs once more
 * afterwards; a key that fails is retried with a backoff of its own.
 */
export interface QueueController<
  P extends AnyResourceType = AnyResourceType,
  I extends readonly MappedInput[] = readonly MappedInput[],
  O extends readonly Output[] = readonly Output[],
> {
  /** Unique in one runtime; also the owner of what the controller writes. */
  readonly name: string;
  /** The kinds whose resources are the keys. Their existing resources are queued at start. */
  readonly primary: P | readonly P[];
  /** Other kinds whose changes concern primaries. Default: none. */
  readonly inputs?: I | undefined;
  /** What it writes. Default: nothing. */
  readonly outputs?: O | undefined;
  /** Keys worked on at once. Unit: workers. Default: 1. */
  readonly concurrency?: number | undefined;
  reconcile(context: QueueReconcileContext<P, I, O>): Promise<ReconcileResult> | ReconcileResult;
  /** Maps changes of those inputs that have no mapper of their own. Not called for others. */
  mapInput?(
    context: MapInputContext<P, I, O>,
  ): Iterable<Ref<unknown, P["type"]>> | Promise<Iterable<Ref<unknown, P["type"]>>>;
  /** Runs beside the workers; done when it returns, started again with backoff when it throws. */
  runHook?(context: QueueContext<P, I, O>): Promise<void>;
  /**
   * Called once, when all else of this controller has ended. Unlike the rest, which can write nothing once it was asked to
   * stop, it can still read and write, until its signal aborts: at the end of the runtime's `shutdownGraceMs`.
   */
  shutdownHook?(context: QueueContext<P, I, O>): Promise<void> | void;
}

/** Types a {@link QueueController} from its declarations; does nothing else. */
export function queueController<
  const P extends AnyResourceType,
  const I extends readonly MappedInput<AnyResourceType, "mapped" | "mappedDestroyReady", P["type"]>[] = readonly [],
  const O extends readonly (Output | OutputHint<HowToDeclare>)[] = readonly [],
>(definition: QueueController<P, I, O>): QueueController<P, I, O> {
  return definition;
}

/** True for a {@link QueueController}, false for a classic one. */
export const isQueueController = (candidate: object): candidate is QueueController => "primary" in candidate;
